"""Rules that keep the nodes' packets out, as far as the user may read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View

_RULES = Command(
    """\
if command -v nft >/dev/null; then nft list ruleset
elif command -v iptables >/dev/null; then iptables -S
fi""",
    key="rules of the firewall",
)
_REFUSED = re.compile(r"not permitted|Permission denied|you must be root", re.IGNORECASE)

_CLOSED = re.compile(r"hook input\b[^}]*?policy drop|^-P INPUT DROP$", re.MULTILINE)
_VERDICT = re.compile(r"\b(?P<drop>drop|reject)\b|-j (?P<target>DROP|REJECT)\b|\baccept\b|-j ACCEPT\b")
_NETWORK = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?\b")


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
                f"{AS_ROOT}, or look there with `sudo nft list ruleset`",
            )
        return self._text(_RULES)


def keeps_out(rules: str, peers: Iterable[IPv4Address], nics: Iterable[str]) -> tuple[str, ...]:
    """The rules by which packets of the peers would be dropped, in the firewall's words; empty where none is seen.

    A chain of input that drops by default does so unless a rule accepts all that comes by a fabric NIC or from the
    peers, whatever its port. A rule that drops does so if it names a fabric NIC or a peer.

    Args:
        rules: of ``nft list ruleset`` or ``iptables -S``.
        peers: addresses from which everything must be let in.
        nics: the NICs by which it comes.
    """
    wanted, names = tuple(peers), tuple(nics)
    concerned = [line.strip() for line in rules.splitlines() if _names(line, wanted, names)]
    dropping = [line for line in concerned if _drops(line)]
    closed = [" ".join(found.group().split()) for found in _CLOSED.finditer(rules)]
    let_in = [line for line in concerned if _accepts(line) and not re.search(r"dport|--dports?\b", line)]
    return (*dropping, *(closed if not let_in else ()))


def _names(line: str, peers: tuple[IPv4Address, ...], nics: tuple[str, ...]) -> bool:
    by_nic = re.search(r'(?:iifname|iif|-i) "?([\w.-]+)', line)
    if by_nic:
        return by_nic.group(1) in nics
    source = re.search(r"(?:\bsaddr|-s) (.*)", line)
    networks = [IPv4Network(text, strict=False) for text in _NETWORK.findall(source.group(1))] if source else []
    return any(peer in network for peer in peers for network in networks)


def _drops(line: str) -> bool:
    found = _VERDICT.search(line)
    return bool(found and (found["drop"] or found["target"]))


def _accepts(line: str) -> bool:
    return bool(_VERDICT.search(line)) and not _drops(line)
