"""Rules that keep the nodes' packets out, as far as the user may read them."""

from __future__ import annotations

import re
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command
from shakedown.nodes.firewall import iptables, nft
from shakedown.nodes.firewall.chains import Fate, fate
from shakedown.nodes.firewall.packet import Packet
from shakedown.nodes.views.base import View

_RULES = Command(
    """\
if command -v nft >/dev/null; then
    nft list ruleset || exit
    grep -qs filter /proc/net/ip_tables_names || exit 0
fi
if command -v iptables >/dev/null; then iptables -S; fi""",
    key="rules of the firewall",
)
"""Both where both are in use: the older kind of iptables has rules that nft does not list."""

_REFUSED = re.compile(r"not permitted|Permission denied|you must be root", re.IGNORECASE)


class FirewallView(View):
    """The firewall of one machine."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One listing; a machine without either tool has no rules that anybody made."""
        return (_RULES,)

    @cached_property
    def rules(self) -> str:
        """All rules, in the words of ``nft`` or ``iptables``.

        Raises:
            EvidenceError: only root may read them.
        """
        result = self._result(_RULES)
        if result.rc != 0 and _REFUSED.search(result.stderr):
            raise EvidenceError(
                f"the firewall's rules on {self._node.name} may only be read by root",
                AS_ROOT,
            )
        return self._text(_RULES)


def keeps_out(rules: str, packet: Packet) -> Fate:
    """What becomes of the first packet of a connection to a port that nobody chose.

    Args:
        rules: of ``nft list ruleset`` or ``iptables -S``, or both.
        packet: from a peer.
    """
    tables = (*nft.parse(rules, packet), iptables.parse(rules, packet))
    return sum((fate(table) for table in tables), Fate())
