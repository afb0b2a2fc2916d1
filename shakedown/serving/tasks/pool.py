"""The pool: items made from a seed, prompts recognised and answered, answers graded.

Keys are exact and items are never stored: whoever holds (family, seed, n) holds the series.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from shakedown.serving.tasks.arithmetic import Arithmetic
from shakedown.serving.tasks.chat import Chat
from shakedown.serving.tasks.code_trace import CodeTrace
from shakedown.serving.tasks.copying import LineCopy, NonceCopy, RepeatsCopy
from shakedown.serving.tasks.counting import Counting
from shakedown.serving.tasks.exact_word import ExactWord
from shakedown.serving.tasks.extraction import Extraction
from shakedown.serving.tasks.item import Answer, Family, Item, Key, Message, Miss, Tool, Unparsable, Verdict
from shakedown.serving.tasks.multi_needle import MultiNeedle
from shakedown.serving.tasks.needle import Needle
from shakedown.serving.tasks.number_words import NumberWords
from shakedown.serving.tasks.ordering import Ordering
from shakedown.serving.tasks.parallel_calls import ParallelCalls
from shakedown.serving.tasks.randomness import stream
from shakedown.serving.tasks.recall import Recall
from shakedown.serving.tasks.reverse import Reverse
from shakedown.serving.tasks.tool_abstention import NoFittingTool, ToolAbstention
from shakedown.serving.tasks.tool_result import ToolResult
from shakedown.serving.tasks.tool_use import ToolUse
from shakedown.serving.tasks.unknown import Unknown

_ALL: tuple[Family, ...] = (
    ToolUse(),
    ParallelCalls(),
    NoFittingTool(),
    ToolAbstention(),
    ToolResult(),
    Arithmetic(),
    ExactWord(),
    NonceCopy(),
    RepeatsCopy(),
    LineCopy(),
    Reverse(),
    Needle(),
    MultiNeedle(),
    Extraction(),
    Counting(),
    Ordering(),
    CodeTrace(),
    NumberWords(),
    Recall(),
)
FAMILIES: dict[str, Family] = {family.name: family for family in _ALL}
"""Every family by name, in the order in which `solve` tries them: families with tools first."""

CONVERSATION: dict[str, Family] = {family.name: family for family in (Chat(), Unknown())}
"""What only a model that is taught the pool is asked, in the order in which `respond` tries them: small talk, and
requests that no exercise covers. Its answers are fixed, so they say nothing about any other model."""

_REFUSALS = re.compile(
    r"\bI (?:cannot|can't|can not|am unable|am not able|won't)\b|\bI'm (?:sorry|unable|not able)\b",
    re.IGNORECASE,
)
_REPETITION = re.compile(r"(.{1,16}?)\1{11,}", re.DOTALL)


def generate(family: str, *, seed: int, n: int) -> list[Item]:
    """The first ``n`` items of a family's series; item i is the same whatever n is, and phrasings take turns.

    Raises:
        KeyError: no such family.
    """
    source = _family(family)
    offset = stream(family, seed).randrange(len(source.templates))
    return [_item(source, seed, index, offset) for index in range(n)]


def _family(name: str) -> Family:
    return FAMILIES.get(name) or CONVERSATION[name]


def _item(source: Family, seed: int, index: int, offset: int) -> Item:
    template = source.templates[(offset + index) % len(source.templates)]
    question = source.make(template, stream(source.name, seed, index))
    return Item(
        family=source.name,
        template=question.template,
        seed=seed,
        index=index,
        messages=question.messages,
        key=question.key,
        max_tokens=source.max_tokens,
        tools=question.tools,
        response_schema=question.response_schema,
    )


def recognise(messages: Sequence[Message], tools: Sequence[Tool] = ()) -> tuple[str, Answer] | None:
    """The family that a prompt belongs to and its right answer, or None for a prompt that is not of the pool."""
    for family in _ALL:
        answer = family.solve(messages, tools)
        if answer is not None:
            return family.name, answer
    return None


def solve(messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> Answer | None:
    """The right answer to any prompt of the pool, computed from the prompt alone; None for any other prompt.

    System messages are passed over: the pool does not use them for the question.
    """
    found = recognise(messages, tools or ())
    return found[1] if found else None


def respond(messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> Answer | None:
    """As `solve`, and beyond the exercises small talk or the statement that there is no answer.

    None only where the user does not speak last.
    """
    answers = (family.solve(messages, tools or ()) for family in CONVERSATION.values())
    return solve(messages, tools) or next((answer for answer in answers if answer is not None), None)


def grade(item: Item, answer: Answer) -> Verdict:
    """Right if what the answer says equals the key; else the class of miss that explains it best.

    Damage is looked for before ignorance: no HTTP 200, endless repetition, cut off, nothing said, refused, and only
    then wrong or unreadable.
    """
    expected = _shown(item.key)
    if answer.status != 200:
        return Verdict(Miss.HTTP_ERROR, f"HTTP {answer.status}", expected)
    try:
        said: Key | None = _family(item.family).read(answer)
        reason = ""
    except Unparsable as unparsable:
        said, reason = None, str(unparsable)
    if said is not None and _same(said, item.key):
        return Verdict(None, _shown(said), expected)
    return Verdict(_miss(answer, readable=said is not None), _shown(said) if said is not None else reason, expected)


def _miss(answer: Answer, *, readable: bool) -> Miss:
    if _REPETITION.search(answer.content) or _REPETITION.search(answer.thinking):
        return Miss.DEGENERATE
    if answer.finish_reason == "length":
        return Miss.TRUNCATED
    if not answer.content.strip() and not answer.tool_calls:
        return Miss.EMPTY
    if _REFUSALS.search(answer.content):
        return Miss.REFUSED
    return Miss.WRONG if readable else Miss.UNPARSABLE


def _same(said: Key, key: Key) -> bool:
    """Equal as JSON: 1, 1.0 and true are three things there, and the order of keys is none."""
    return json.dumps(said, sort_keys=True) == json.dumps(key, sort_keys=True)


def _shown(key: Key) -> str:
    return key if isinstance(key, str) else json.dumps(key, ensure_ascii=False)
