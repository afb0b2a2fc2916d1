"""Verbatim copies: of a nonce, which no other request can know, and of a line outside ASCII."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.template import Template, first_match, templates
from shakedown.serving.tasks.words import ACCENTED, CJK, EMOJI, WORDS

_NONCE = templates(
    {"text": r"[A-Za-z0-9]+"},
    string="Repeat the following string verbatim: {text}",
    echo="Echo this string: {text}",
    code="Copy this code exactly: {text}",
    nonce="Repeat this nonce: {text}",
    nonce_only="Repeat the nonce {text} and nothing else.",
    nonce_stated="The nonce is {text}. Repeat it exactly.",
    reply="Reply with exactly this string: {text}",
    given="Here is a token: {text}\nRepeat it.",
)
_LINE = templates(
    {"text": r"[^\n]+"},
    verbatim="Repeat this line verbatim: {text}",
    following="Repeat the following line exactly:\n{text}",
    copy="Copy this line exactly:\n{text}",
    reply="Reply with exactly this line:\n{text}",
    unchanged="Return this line unchanged:\n{text}",
)


class _Copying:
    def __init__(self, name: str, phrasings: Mapping[str, Template]) -> None:
        self.name = name
        self.templates = tuple(phrasings)
        self.max_tokens = MaxTokens(thinking=1024, plain=128)
        self._phrasings = phrasings

    def make(self, template: str, rng: random.Random) -> Question:
        """A fresh text for every item."""
        text = self.text(rng)
        return Question(template, ask(self._phrasings[template].render({"text": text})), text)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The text, character for character."""
        turn = last_turn(messages)
        found = first_match(self._phrasings.values(), turn) if turn else None
        if found is None:
            return None
        return Answer(thinking="I copy the text character by character.", content=found[1]["text"])

    def read(self, answer: Answer) -> str:
        """The whole content: a copy with anything around it is no copy."""
        return bare_text(answer)

    def text(self, rng: random.Random) -> str:
        """What is to be copied."""
        raise NotImplementedError


class NonceCopy(_Copying):
    """Twelve random letters and digits."""

    def __init__(self) -> None:
        super().__init__("nonce", _NONCE)

    def text(self, rng: random.Random) -> str:
        """A nonce."""
        return nonce(rng)


class LineCopy(_Copying):
    """A line with emoji, CJK and accented letters: bytes that streams and tokenizers like to break."""

    def __init__(self) -> None:
        super().__init__("unicode-line", _LINE)

    def text(self, rng: random.Random) -> str:
        """Four to seven pieces, one of each script at least."""
        pieces = [rng.choice(EMOJI), "".join(rng.choices(CJK, k=rng.randint(2, 4))), rng.choice(ACCENTED)]
        pieces += [rng.choice((*WORDS, *EMOJI)) for _ in range(rng.randint(1, 4))]
        rng.shuffle(pieces)
        return " ".join(pieces)
