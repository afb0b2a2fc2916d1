"""Reply with one given word: the smallest instruction that can be followed or not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import letters, syllables
from shakedown.serving.tasks.reading import single_word
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import WORDS

_TEMPLATES = templates(
    {"word": r"[A-Za-z]+"},
    exactly="Reply with exactly the word {word}.",
    exactly_colon="Reply with exactly the word: {word}",
    exactly_quoted='Reply with exactly the word "{word}".',
    nothing_else="Reply with exactly the word '{word}' and nothing else.",
    one_word="Reply with exactly one word: {word}",
    only="Reply with only the word {word}.",
    single="Respond with the single word {word}.",
    answer="Answer with the word {word} only.",
    whole_answer="Your whole answer must be the word {word}.",
    say='Say "{word}" and nothing else.',
    please="Please say just the word {word}.",
    can="Can you reply with the word {word} and nothing else?",
    write="Write the word {word}, nothing more.",
    output="Output only this word: {word}",
)
_WORDS: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: rng.choice(WORDS),
    lambda rng: syllables(rng, 2, 4),
    lambda rng: letters(rng, 3, 10),
)
_CASES = (str.lower, str.capitalize, str.upper)


class ExactWord:
    """One word back."""

    name = "exact-word"
    max_tokens = MaxTokens(thinking=1024, plain=64)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A word, a made-up word or letters, in lower, title or upper case; nothing that the phrasing itself holds."""
        word = ""
        while not word or word in _TEMPLATES[template].text:
            word = rng.choice(_CASES)(rng.choice(_WORDS)(rng))
        return Question(template, ask(_TEMPLATES[template].render({"word": word})), word)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The word."""
        text = last_turn(messages)
        found = first_match(_TEMPLATES.values(), text) if text else None
        if found is None:
            return None
        return Answer(thinking="One word, as it stands.", content=found[1]["word"])

    def read(self, answer: Answer) -> str:
        """The content; case counts."""
        return single_word(answer)
