"""Numbers up to a hundred in words of six languages, and back."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.numerals import SPELLINGS, VALUES, parts
from shakedown.serving.tasks.reading import concluding_phrase
from shakedown.serving.tasks.template import first_match, templates

_SLOTS = {
    "n": r"\d{1,3}",
    "language": "|".join(SPELLINGS),
    "words": r"[a-zß-ÿ]+(?:[ -][a-zß-ÿ]+)*",
}
_TO_WORDS = templates(
    _SLOTS,
    words_write="Write the number {n} in {language} words.",
    words_as="Write {n} as a word in {language}.",
    words_how="How do you write {n} in {language}?",
    words_what="What is {n} in {language}?",
    words_word="What is the {language} word for {n}?",
    words_spell="Spell out the number {n} in {language}.",
    words_please="Please write {n} in words, in {language}.",
    words_say="How do you say {n} in {language}?",
    words_only="Give the {language} number word for {n}, nothing else.",
    words_translate="Translate the number {n} into {language}. Answer with the words only.",
)
_TO_DIGITS = templates(
    _SLOTS,
    digits_what="What number is {words}?",
    digits_which="Which number is {words} in {language}?",
    digits_write="Write {words} in digits.",
    digits_write_language="Write the {language} number {words} in digits.",
    digits_word="What is the {language} number word {words} in digits?",
    digits_only="Convert {words} to digits. Reply with only the number.",
    digits_give="Give me the {language} number {words} as digits, nothing else.",
    digits_please="Please turn the {language} number word {words} into digits.",
    digits_quoted='What does "{words}" mean in {language}? Answer with the number in digits.',
    digits_in="In {language}, {words} is which number?",
)
_ONLY_DIGITS = re.compile(r"\d+")
_OTHER_SPELLINGS = {"a hundred": "one hundred", "hundred": "one hundred", "einhundert": "hundert", "één": "een"}


class NumberWords:
    """0 to 100, half of it into words and half of it into digits."""

    name = "number-words"
    max_tokens = MaxTokens(thinking=1024, plain=128)
    templates = (*_TO_WORDS, *_TO_DIGITS)

    def make(self, template: str, rng: random.Random) -> Question:
        """Any number in any of the languages."""
        language, n = rng.choice(tuple(SPELLINGS)), rng.randint(0, 100)
        values = {"language": language, "n": n, "words": SPELLINGS[language][n]}
        if template in _TO_WORDS:
            return Question(template, ask(_TO_WORDS[template].render(values)), SPELLINGS[language][n])
        return Question(template, ask(_TO_DIGITS[template].render(values)), str(n))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The parts that the word is made of, and then the whole."""
        turn = last_turn(messages)
        if not turn:
            return None
        if found := first_match(_TO_WORDS.values(), turn):
            language, n = found[1]["language"], int(found[1]["n"])
            if n >= len(SPELLINGS[language]):
                return None
            thinking = _shown(language, n, lambda part, word: f"{part} {word}")
            return Answer(thinking=thinking, content=SPELLINGS[language][n])
        if found := first_match(_TO_DIGITS.values(), turn):
            known = VALUES.get(found[1]["words"])
            if known is None:
                return None
            language, n = known
            return Answer(thinking=_shown(language, n, lambda part, word: f"{word} {part}"), content=str(n))
        return None

    def read(self, answer: Answer) -> str:
        """The number, or the words in lower case; spellings that are right beside ours count as ours."""
        phrase = concluding_phrase(answer).lower()
        last = phrase.split()[-1]
        if _ONLY_DIGITS.fullmatch(last):
            return last
        phrase = phrase.replace("-et-", " et ")  # French since 1990: vingt-et-un
        return _OTHER_SPELLINGS.get(phrase, phrase)


def _shown(language: str, n: int, shape: Callable[[int, str], str]) -> str:
    return ", ".join(shape(part, SPELLINGS[language][part]) for part in parts(language, n))
