"""Drift: what a node says now and did not say when a golden bundle was recorded, without what changes by itself.

An answer is a set of facts: its lines, or where it is JSON, one ``path: value`` for each value in it. What is no drift
(counters, times, numbers of processes, memory in use) stands in ``volatile.toml``, each with its reason.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from shakedown.inventory.model import Node
from shakedown.nodes.answer import Answer, Command
from shakedown.nodes.evidence import Evidence

FILE = Path(__file__).with_name("volatile.toml")

NAMING = ("ifname", "local", "dst", "address", "hostname", "name")
"""The first of these keys that an element of a list in JSON has names it, so that its place in the list is no fact."""

BLOT = "..."
MOST_FACTS = 6
LONGEST_FACT = 160
LONGEST_KEY = 70
MOST_COMMANDS = 12


def _compiles(pattern: str) -> str:
    re.compile(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class Volatile(BaseModel):
    """What does not count in the answers to some commands.

    Attributes:
        key: start of the commands' keys.
        reason: why it changes without anybody changing it.
        all: nothing of the answer counts, but for its exit code.
        facts: facts in which this is found do not count.
        parts: this does not count within a fact.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    reason: str
    all: bool = False
    facts: Pattern | None = None
    parts: Pattern | None = None

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if not (self.all or self.facts or self.parts):
            raise ValueError(f"{self.key}: neither all, nor facts, nor parts")
        return self

    def left(self, facts: Sequence[str]) -> list[str]:
        """The facts that count, without the parts that do not."""
        if self.all:
            return []
        kept = [fact for fact in facts if not (self.facts and re.search(self.facts, fact))]
        return [re.sub(self.parts, BLOT, fact) for fact in kept] if self.parts else kept


@dataclass(frozen=True, slots=True)
class Difference:
    """One command that was answered otherwise.

    Attributes:
        key: of the command.
        facts: ``- FACT`` of what is no longer said, ``+ FACT`` of what was not said then; or that nothing was asked.
    """

    key: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        key = self.key.splitlines()[0]
        shown = [_cut(key, LONGEST_KEY), *(f"  {_cut(fact, LONGEST_FACT)}" for fact in self.facts[:MOST_FACTS])]
        more = len(self.facts) - MOST_FACTS
        return "\n".join([*shown, f"  and {more} more"] if more > 0 else shown)


def drift(then: Evidence, now: Evidence, node: Node, commands: Sequence[Command]) -> tuple[Difference, ...]:
    """The commands to which a node answers otherwise than then, in their order.

    Args:
        then: golden evidence.
        now: of the same stage.
        node: the node.
        commands: those that count, of those that either knows.
    """
    old, new = ({(a.place, a.key): a for a in evidence.answers(node.name)} for evidence in (then, now))
    asked = [(command.place, command.key) for command in commands]
    found = (Difference(key[1], _difference(old.get(key), new.get(key))) for key in asked if key in old or key in new)
    return tuple(difference for difference in found if difference.facts)


def listed(differences: Sequence[Difference]) -> str:
    """The differences as a finding tells them, the first ones where there are many."""
    more = len(differences) - MOST_COMMANDS
    shown = [str(difference) for difference in differences[:MOST_COMMANDS]]
    return "\n".join([*shown, f"and {more} more commands"] if more > 0 else shown)


def facts(answer: Answer) -> list[str]:
    """What an answer says and what counts of it."""
    said = list(_of_text(answer.text))
    for rule in volatile():
        if answer.key.startswith(rule.key):
            said = rule.left(said)
    return [*said, f"exit code: {answer.exit_code}"]


@cache
def volatile(file: Path = FILE) -> tuple[Volatile, ...]:
    """All rules, in their order."""
    return tuple(Volatile.model_validate(rule) for rule in tomllib.loads(file.read_text(encoding="utf-8"))["volatile"])


def _difference(then: Answer | None, now: Answer | None) -> tuple[str, ...]:
    if then is None or now is None:
        return ("not asked then",) if then is None else ("not asked now",)
    old, new = facts(then), facts(now)
    changed = [("- ", fact) for fact in dict.fromkeys(old) if fact not in set(new)]
    changed += [("+ ", fact) for fact in dict.fromkeys(new) if fact not in set(old)]
    changed.sort(key=lambda change: re.split(r"[:=]", change[1])[0])  # what was and what is stand together
    return tuple(sign + fact for sign, fact in changed)


def _of_text(text: str) -> Iterator[str]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict | list):
        yield from _of_json("", value)
    else:
        yield from (line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def _of_json(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _of_json(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _of_element(path, inner)
    else:
        yield f"{path}: {value if isinstance(value, str) else json.dumps(value)}"


def _of_element(path: str, element: Any) -> Iterator[str]:
    naming = next((key for key in NAMING if key in element), None) if isinstance(element, dict) else None
    if naming is None:
        yield from _of_json(path, element)
    else:
        rest = {key: value for key, value in element.items() if key != naming}
        yield from _of_json(f"{path}.{element[naming]}" if path else str(element[naming]), rest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."
