"""The listing of ``iptables -S``, which is of the table ``filter``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from shakedown.nodes.firewall.chains import Chain, Fits, Rule, Verdict, every, negated, some
from shakedown.nodes.firewall.packet import Packet

_VERDICTS: Mapping[str, Verdict] = {"ACCEPT": "accept", "DROP": "drop", "REJECT": "drop", "RETURN": "return"}
_SILENT = {"-m": 1, "--match": 1, "--comment": 1, "--reject-with": 1, "--log-prefix": 1, "--log-level": 1}
"""Options that ask nothing of the packet, with the number of their values."""


def parse(listing: str, packet: Packet) -> dict[str, Chain]:
    """The chains, as they concern a packet."""
    policies: dict[str, str] = {}
    rules: dict[str, list[Rule]] = {}
    for line in listing.splitlines():
        try:
            kind, chain, *words = shlex.split(line)
        except ValueError:
            continue
        if kind in ("-P", "-N"):
            rules.setdefault(chain, [])
            policies[chain] = " ".join(words)
        elif kind == "-A":
            rules.setdefault(chain, []).append(_rule(line.strip(), words, packet))
    return {
        name: Chain(
            rules=tuple(
                rule if rule.verdict != "jump" or rule.target in rules else Rule(rule.text, rule.fits, None)
                for rule in found  # another target than a chain, as LOG, lets the packet go on
            ),
            entered=name == "INPUT",
            policy=f"-P {name} {policies.get(name, '')}",
            drops=policies.get(name) == "DROP",
        )
        for name, found in rules.items()
    }


def _rule(text: str, words: list[str], packet: Packet) -> Rule:
    asked: Mapping[str, Callable[[str], Fits]] = {
        "-i": packet.by_nic,
        "-s": packet.from_address,
        "-d": packet.to_address,
        "--src-range": packet.from_address,
        "--dst-range": packet.to_address,
        "-p": packet.protocol,
        "--dport": packet.port,
        "--dports": packet.port,
        "--sport": packet.port,
        "--sports": packet.port,
        "--ports": packet.port,
        "--ctstate": packet.state,
        "--state": packet.state,
        "--length": packet.length,
        "--dst-type": lambda kind: kind == "LOCAL",
        "--src-type": lambda kind: kind == "UNICAST",
    }
    fits: list[Fits] = []
    verdict: Verdict | None = None
    target = ""
    rest = iter(words)
    contrary = False
    for word in rest:
        if word == "!":
            contrary = True
            continue
        if word in ("-j", "-g"):
            target = next(rest, "")
            verdict = _VERDICTS.get(target) or ("jump" if word == "-j" else "goto")
        elif word in asked:
            found = some([asked[word](value) for value in next(rest, "").split(",")])
            fits.append(negated(found) if contrary else found)
        elif word in _SILENT:
            next(rest, "")
        elif word.startswith("-") and not verdict:
            fits.append(None)
        contrary = False
    return Rule(text, every(fits), verdict, target)
