"""The listing of ``nft list ruleset``: tables of the families that see IPv4, rule by rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from shakedown.nodes.firewall.chains import Chain, Fits, Rule, Verdict, every, negated, some
from shakedown.nodes.firewall.packet import Packet

_TABLE = re.compile(r"^table (\w+) (\S+) \{$(.*?)^\}", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^\t(chain|set) (\S+) \{\n(.*?)^\t\}", re.MULTILINE | re.DOTALL)
_HOOK = re.compile(r"type (\w+) hook (\w+) [^;]*;(?: policy (\w+);)?")
_WORD = re.compile(r'"[^"]*"|\{[^}]*\}|[^\s]+')
_ELEMENTS = re.compile(r"elements = \{(.*?)\}", re.DOTALL)

_VERDICTS: Mapping[str, Verdict] = {"accept": "accept", "drop": "drop", "reject": "drop", "return": "return"}
_TARGETS: Mapping[str, Verdict] = {"ACCEPT": "accept", "DROP": "drop", "REJECT": "drop", "RETURN": "return"}
_OTHERS = ("ip6", "icmp", "icmpv6", "arp", "udp", "udplite", "sctp", "dccp", "esp", "ah", "igmp")
"""What a packet of TCP over IPv4 is none of."""

_TALK = {
    "counter": 0,
    "log": 0,
    "flags": 0,
    "all": 0,
    "comment": 1,
    "packets": 1,
    "burst": 2,
    "bytes": 1,
    "prefix": 1,
    "level": 1,
    "group": 1,
    "with": 2,
}
"""Words of statements that ask nothing of the packet, with the number of words that belong to each."""


def parse(listing: str, packet: Packet) -> Iterator[dict[str, Chain]]:
    """The chains of each table that sees the packet, as they concern it."""
    for family, _, body in _TABLE.findall(listing):
        if family in ("ip", "inet"):
            blocks = _BLOCK.findall(body)
            sets = {name: _elements(text) for kind, name, text in blocks if kind == "set"}
            yield {name: _chain(name, text, sets, packet) for kind, name, text in blocks if kind == "chain"}


def _elements(text: str) -> str:
    """What a named set holds, as an anonymous one is written; empty where it is filled elsewhere or takes time-outs."""
    found = _ELEMENTS.search(text)
    return f"{{{found[1]}}}" if found and "timeout" not in text else ""


def _chain(name: str, text: str, sets: Mapping[str, str], packet: Packet) -> Chain:
    hook = _HOOK.search(text)
    lines = _joined(text.replace(hook.group(), "") if hook else text)
    kind, where, policy = hook.groups() if hook else ("", "", "")
    return Chain(
        rules=tuple(rule for line in lines for rule in _Reader(line, sets, packet).rules()),
        entered=kind == "filter" and where in ("prerouting", "input"),
        policy=f"chain {name}: policy {policy or 'accept'}",
        drops=policy == "drop",
    )


def _joined(text: str) -> Iterator[str]:
    """Rules, each in one line: a long set goes over several."""
    line = ""
    for part in text.splitlines():
        line = f"{line} {part.strip()}".strip()
        if line.count("{") <= line.count("}"):
            if line and not line.startswith("#"):
                yield line
            line = ""


class _Reader:
    """Reads one rule from left to right: what it asks for, and what then becomes of the packet."""

    def __init__(self, text: str, sets: Mapping[str, str], packet: Packet) -> None:
        self._text = text
        self._words = [word.strip('"') for word in _WORD.findall(text)]
        self._sets = sets
        self._fits: list[Fits] = []
        self._lost = False
        self._asked: Mapping[str, Callable[[str], Fits]] = {
            **dict.fromkeys(("iifname", "iif", "meta iifname", "meta iif"), packet.by_nic),
            "ip saddr": packet.from_address,
            "ip daddr": packet.to_address,
            **dict.fromkeys(("ip protocol", "meta l4proto", "meta protocol", "meta nfproto"), packet.protocol),
            **dict.fromkeys(("tcp dport", "tcp sport", "th dport", "th sport"), packet.port),
            "ct state": packet.state,
            "ct status": lambda status: status == "confirmed" and None,
            **dict.fromkeys(("meta length", "ip length"), packet.length),
            "meta pkttype": lambda kind: kind == "host",
            "fib daddr type": lambda kind: kind == "local",
        }

    def rules(self) -> list[Rule]:
        """The rule, or one for each entry of its map of verdicts."""
        while self._words:
            word = self._words.pop(0)
            verdict, target = self._verdict(word)
            if verdict:
                return [self._rule(verdict, target)]
            name = self._name(word)
            if name in self._asked and self._words[:1] == ["vmap"]:
                return self._mapped(self._asked[name])
            self._read(name)
        return [self._rule(None)]

    def _verdict(self, word: str) -> tuple[Verdict | None, str]:
        """What the word makes of the packet, with the chain that it is sent to."""
        if word in ("jump", "goto"):
            return "jump" if word == "jump" else "goto", self._next()
        if word == "xt" and self._words[:1] == ["target"]:
            self._skip(1)
            return _TARGETS.get(self._next()), ""
        return _VERDICTS.get(word), ""

    def _read(self, name: str) -> None:
        """Take in what is asked about, or what is said beside."""
        if name in self._asked:
            found = self._holds(self._asked[name])
            self._fits.append(None if self._lost else found)
        elif name == "limit":
            self._fits.append(None)
            self._skip(3 if self._words[1:2] == ["over"] else 2)
        elif name in _OTHERS:
            self._fits.append(False)
            self._operand()
        elif name in _TALK:
            self._skip(_TALK[name])
        else:  # what follows may belong to it
            self._fits.append(None)
            self._lost = True

    def _rule(self, verdict: Verdict | None, target: str = "") -> Rule:
        return Rule(self._text, every(self._fits), verdict, target)

    def _name(self, word: str) -> str:
        """What is asked about: one word to three, which are then taken from the rest."""
        for count in (2, 1, 0):
            name = " ".join([word, *self._words[:count]])
            if name in self._asked:
                self._skip(count)
                return name
        return word

    def _holds(self, asked: Callable[[str], Fits]) -> Fits:
        """Whether what is asked for next holds of the packet."""
        comparison = self._next() if self._words[:1] and self._words[0] in ("!=", "==", "<", ">", "<=", ">=") else ""
        value = self._next()
        while self._words and value.endswith(","):
            value += self._next()
        if "." in self._words[:1]:  # several things at once
            self._words.clear()
            return None
        if comparison in ("<", ">", "<=", ">="):
            if not value.isdecimal():
                return None
            number = int(value) + {">": 1, "<": -1}.get(comparison, 0)
            return asked(f"{number}-65535" if ">" in comparison else f"0-{number}")
        found = self._among(value, asked)
        return negated(found) if comparison == "!=" else found

    def _among(self, value: str, asked: Callable[[str], Fits]) -> Fits:
        if value.startswith("@"):
            value = self._sets.get(value[1:], "")
            if not value:
                return None
        parts = [part.strip().strip('"') for part in value.strip("{} ").split(",")]
        return some([asked(part) for part in parts if part])

    def _mapped(self, asked: Callable[[str], Fits]) -> list[Rule]:
        """A rule for each entry, the first that fits before the others."""
        self._next()
        entries = self._next()
        if entries.startswith("@"):
            return [Rule(self._text, None, "drop")]
        found = []
        for entry in entries.strip("{} ").split(","):
            key, _, then = entry.partition(":")
            word, _, target = then.strip().partition(" ")
            verdict = _VERDICTS.get(word) or ("jump" if word == "jump" else "goto")
            fits = every([*self._fits, self._among(key.strip(), asked)])
            found.append(Rule(self._text, fits, verdict, target))
        return found

    def _operand(self) -> None:
        """Leave out what belongs to a question that is answered already; a verdict is none of it."""
        while self._words and self._words[0] not in (*_VERDICTS, "jump", "goto", "counter", "log", "comment", "xt"):
            self._next()

    def _next(self) -> str:
        return self._words.pop(0) if self._words else ""

    def _skip(self, count: int) -> None:
        del self._words[:count]
