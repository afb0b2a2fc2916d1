"""Chains of rules, and what becomes of one packet in them, as far as that can be told without being the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Fits = bool | None
"""Whether a packet fits; None where that cannot be told."""

Verdict = Literal["accept", "drop", "return", "jump", "goto"]

DEEPEST = 16
"""Jumps within jumps that the kernel allows: NFT_JUMP_STACK_SIZE of include/net/netfilter/nf_tables.h."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, as it concerns the packet.

    Attributes:
        text: in the firewall's words.
        fits: whether the packet fits all that it asks for.
        verdict: what then becomes of it; None where it goes on.
        target: the chain of ``jump`` and ``goto``.
    """

    text: str
    fits: Fits
    verdict: Verdict | None
    target: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    """A list of rules.

    Attributes:
        rules: in their order.
        entered: packets that come in for this machine enter it by themselves; other chains are jumped to.
        policy: what becomes of a packet at the end of a chain that was entered, in the firewall's words.
        drops: whether that is to drop it.
    """

    rules: Sequence[Rule]
    entered: bool = False
    policy: str = ""
    drops: bool = False


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of the packet.

    Attributes:
        dropped: by which rules, if it surely is.
        doubtful: by which rules it is or is not, which cannot be told.
    """

    dropped: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    def __add__(self, other: Fate) -> Fate:
        return Fate(self.dropped + other.dropped, self.doubtful + other.doubtful)


def fate(chains: Mapping[str, Chain]) -> Fate:
    """What one table does with the packet."""
    found = Fate()
    for chain in chains.values():
        if chain.entered:
            outcomes, rules = _walk(chain, chains, 0)
            if "return" in outcomes:
                outcomes = (outcomes - {"return"}) | {"drop" if chain.drops else "accept"}
                rules = (*rules, chain.policy) if chain.drops else rules
            if outcomes == {"drop"}:
                found += Fate(dropped=rules)
            elif "drop" in outcomes:
                found += Fate(doubtful=rules)
    return found


# Outcomes are ``accept``, ``drop``, ``return`` (the packet comes to the chain's end) and ``on`` (it goes on).


def _walk(chain: Chain, chains: Mapping[str, Chain], depth: int) -> tuple[frozenset[str], tuple[str, ...]]:
    """What may become of the packet in a chain, and the rules that may drop it."""
    outcomes: set[str] = set()
    dropping: list[str] = []
    for rule in chain.rules:
        if rule.fits is False:
            continue
        results, rules = _result(rule, chains, depth)
        outcomes |= results - {"on"}
        dropping += rules
        if rule.fits and "on" not in results:
            return frozenset(outcomes), tuple(dropping)
    return frozenset({*outcomes, "return"}), tuple(dropping)


def _result(rule: Rule, chains: Mapping[str, Chain], depth: int) -> tuple[frozenset[str], tuple[str, ...]]:
    if rule.verdict is None:
        return frozenset({"on"}), ()
    if rule.verdict in ("jump", "goto"):
        if rule.target not in chains or depth == DEEPEST:
            return frozenset({"accept", "drop", "on"}), (rule.text,)
        outcomes, rules = _walk(chains[rule.target], chains, depth + 1)
        after = "on" if rule.verdict == "jump" else "return"
        return frozenset(after if one == "return" else one for one in outcomes), rules
    return frozenset({rule.verdict}), (rule.text,) if rule.verdict == "drop" else ()


def every(fits: Iterator[Fits] | Sequence[Fits]) -> Fits:
    """Whether all hold: one that does not decides, one that is unknown leaves it open."""
    known = list(fits)
    return False if False in known else None if None in known else True


def some(fits: Iterator[Fits] | Sequence[Fits]) -> Fits:
    """Whether one holds at least."""
    known = list(fits)
    return True if True in known else None if None in known else False


def negated(fits: Fits) -> Fits:
    """The contrary."""
    return None if fits is None else not fits
