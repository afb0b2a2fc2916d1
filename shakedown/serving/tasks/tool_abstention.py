"""Tools are offered and no call is due: the request needs none of them, or none of them fits."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from shakedown.serving.tasks.arithmetic import Arithmetic
from shakedown.serving.tasks.calls import no_call
from shakedown.serving.tasks.copying import NonceCopy
from shakedown.serving.tasks.exact_word import ExactWord
from shakedown.serving.tasks.item import (
    Answer,
    Family,
    Key,
    MaxTokens,
    Message,
    Question,
    Tool,
    Unparsable,
    ask,
    last_turn,
)
from shakedown.serving.tasks.kinds import KINDS, known, some_tools
from shakedown.serving.tasks.reading import bare_text, concluding_word, last_integer
from shakedown.serving.tasks.reverse import Reverse
from shakedown.serving.tasks.tool_use import ToolUse, requested

_INNER: tuple[Family, ...] = (Arithmetic(), ExactWord(), NonceCopy(), Reverse())
_BY_TEMPLATE = {f"{family.name}-{name}": (family, name) for family in _INNER for name in family.templates}
_POSSIBLE_ANYWAY = ("translation", "currency", "search")
"""Services that a model can render to a degree without any tool; it need not decline them."""

_DECLINED = "I cannot do that with the tools I have."
_DECLINING = re.compile(
    r"\b(?:cannot|can not|can['’]t|unable|not able|don['’]t have|do not have|doesn['’]t|does not|isn['’]t|is not"
    r"|aren['’]t|are not|no (?:tool|function|way|access|direct|such)|none of"
    r"|not (?:available|possible|something|supported)|sorry|unfortunately|apologi[sz]e|lack|beyond)\b",
    re.IGNORECASE,
)


class ToolAbstention:
    """Functions are offered and none is needed: a call would be an invention."""

    name = "tool-abstention"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_BY_TEMPLATE)

    def make(self, template: str, rng: random.Random) -> Question:
        """An item of another family with one to four tools beside it."""
        family, name = _BY_TEMPLATE[template]
        question = family.make(name, rng)
        return Question(template, question.messages, question.key, tools=some_tools([], rng))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The answer of the other family, and the thought that no tool is needed."""
        if not tools:
            return None
        for family in _INNER:
            answer = family.solve(messages, ())
            if answer is not None:
                return Answer(thinking=f"No tool is needed.\n{answer.thinking}", content=answer.content)
        return None

    def read(self, answer: Answer) -> Key:
        """The last number, or without one the word that the answer comes down to; a call leaves nothing to read."""
        no_call(answer)
        try:
            return last_integer(answer)
        except Unparsable:
            return concluding_word(answer)


class NoFittingTool:
    """A service is asked for that none of the offered functions renders; the key is ``no call``."""

    name = "no-fitting-tool"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(
        name for name in ToolUse.templates if not name.startswith(tuple(f"{topic}-" for topic in _POSSIBLE_ANYWAY))
    )

    def make(self, template: str, rng: random.Random) -> Question:
        """A request for one function and one to four others."""
        request = requested(template, rng)
        tools = some_tools([], rng, without=request.kind)
        return Question(template, ask(request.text), "no call", tools=tools)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The plain statement, if the request is for a known service that is not offered."""
        turn = last_turn(messages)
        if turn is None or not tools:
            return None
        functions = known(tools)
        for kind in KINDS:
            if kind.topic not in functions and kind.understand(turn) is not None:
                return Answer(thinking=f"This is about {kind.topic}. There is no tool for it.", content=_DECLINED)
        return None

    def read(self, answer: Answer) -> Key:
        """``no call`` for words that decline, in whatever way."""
        no_call(answer)
        if not _DECLINING.search(bare_text(answer)):
            raise Unparsable("words that do not decline")
        return "no call"
