"""Verbatim copies: of a nonce, which no other request can know, of repetitions, and of a line outside ASCII."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import nonce, syllables
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.template import Template, first_match, templates
from shakedown.serving.tasks.words import ACCENTED, ALPHANUMERIC, CJK, EMOJI, HANGUL, KANA, WORDS

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
    please="Please repeat the string {text}.",
    can="Can you repeat the code {text} without any change?",
    output="Output only this code: {text}",
    write="Write the token {text} once, nothing else.",
)
_REPEATS = templates(
    {"text": r"[^\n]+"},
    characters="Repeat these characters exactly: {text}",
    sequence="Copy this sequence: {text}",
    pattern="Repeat the following pattern verbatim:\n{text}",
    pattern_only="Reply with this pattern and nothing else: {text}",
    echo="Echo the characters below.\n{text}",
    please="Please copy this text exactly: {text}",
    can="Can you write this text again, unchanged?\n{text}",
    output="Output exactly this text: {text}",
    letter="Copy this letter for letter:\n{text}",
    given="Here is a sequence:\n{text}\nRepeat it, nothing else.",
)
_LINE = templates(
    {"text": r"[^\n]+"},
    verbatim="Repeat this line verbatim: {text}",
    following="Repeat the following line exactly:\n{text}",
    copy="Copy this line exactly:\n{text}",
    reply="Reply with exactly this line:\n{text}",
    unchanged="Return this line unchanged:\n{text}",
    please="Please repeat this line: {text}",
    echo="Echo this line: {text}",
    can="Can you copy the next line without any change?\n{text}",
    only="Output only the following line.\n{text}",
    given="Here is a line:\n{text}\nRepeat it exactly, nothing else.",
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
        return Answer(thinking="I copy it.", content=found[1]["text"])

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


class RepeatsCopy(_Copying):
    """Few different characters again and again: what comes next cannot be told from what came before alone."""

    def __init__(self) -> None:
        super().__init__("repeats", _REPEATS)

    def text(self, rng: random.Random) -> str:
        """Six to 32 characters of one of the kinds of repetition."""
        return rng.choice(_REPETITIONS)(rng)


class LineCopy(_Copying):
    """A line with emoji, CJK and accented letters: bytes that streams and tokenizers like to break."""

    def __init__(self) -> None:
        super().__init__("unicode-line", _LINE)

    def text(self, rng: random.Random) -> str:
        """Four to eight pieces: emoji, an Asian script and an accented word at least, a full stop now and then."""
        pieces = [rng.choice(EMOJI), _script(rng, CJK if rng.random() < 0.5 else KANA + HANGUL), rng.choice(ACCENTED)]
        pieces += [rng.choice(_PIECES)(rng) for _ in range(rng.randint(1, 5))]
        rng.shuffle(pieces)
        return " ".join(pieces) + rng.choice(("", "", "", ".", "!", "?"))


def _script(rng: random.Random, characters: str) -> str:
    return "".join(rng.choices(characters, k=rng.randint(1, 4)))


_PIECES: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: rng.choice(WORDS),
    lambda rng: rng.choice(WORDS).capitalize() + rng.choice(("", ",", ":", ";")),
    lambda rng: rng.choice(EMOJI),
    lambda rng: "".join(rng.choices(EMOJI, k=2)),
    lambda rng: rng.choice(ACCENTED),
    lambda rng: _script(rng, CJK),
    lambda rng: _script(rng, KANA),
    lambda rng: _script(rng, HANGUL),
    lambda rng: str(rng.randint(0, 9999)),
)


def _one_character(rng: random.Random) -> str:
    return rng.choice(ALPHANUMERIC) * rng.randint(6, 32)


def _one_unit(rng: random.Random) -> str:
    """``abababab``, ``xyxyx``: two to four characters in turns, cut off anywhere."""
    unit = "".join(rng.choices(ALPHANUMERIC, k=rng.randint(2, 4)))
    return (unit * 16)[: rng.randint(6, 32)]


def _few_characters(rng: random.Random) -> str:
    alphabet = rng.sample(ALPHANUMERIC, rng.randint(2, 3))
    return "".join(rng.choices(alphabet, k=rng.randint(6, 32)))


def _groups(rng: random.Random) -> str:
    """``0000 1111 0000``: groups of one character each, of two characters in all."""
    a, b = rng.sample(ALPHANUMERIC, 2)
    size = rng.randint(2, 5)
    return " ".join(rng.choice((a, b)) * size for _ in range(rng.randint(3, 5)))


def _syllables(rng: random.Random) -> str:
    return rng.choice(("", " ", "-")).join([syllables(rng, 1, 1)] * rng.randint(3, 8))


def _words(rng: random.Random) -> str:
    return " ".join([rng.choice(WORDS)] * rng.randint(2, 3))


def _emoji(rng: random.Random) -> str:
    few = rng.sample(EMOJI, rng.randint(1, 2))
    return "".join(rng.choices(few, k=rng.randint(6, 12)))


_REPETITIONS: tuple[Callable[[random.Random], str], ...] = (
    _one_character,
    _one_unit,
    _few_characters,
    _groups,
    _syllables,
    _words,
    _emoji,
)
