"""Order among a few things: words by the alphabet, numbers by size, and the one at a given place."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import concluding_list, concluding_word
from shakedown.serving.tasks.template import Template, first_match, templates
from shakedown.serving.tasks.words import WORDS

_WORDS = {"words": r"[a-z]+(?:, [a-z]+)+"}
_NUMBERS = {"numbers": r"\d{1,2}(?:, \d{1,2})+"}
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")
_PLACE_OF = {name: place for names in (_PLACES, _ORDINALS) for place, name in enumerate(names)} | {"last": -1}
_NTH = {"nth": "|".join(_PLACE_OF), "words": r"[a-z]+(?:, [a-z]+)+", "sentence": r"[a-z]+(?: [a-z]+)+"}

_ALPHABETICAL = templates(
    _WORDS,
    words_sort="Sort these words alphabetically: {words}",
    words_put="Put these words in alphabetical order: {words}",
    words_arrange="Arrange the following words alphabetically, separated by commas: {words}",
    words_what="What is the alphabetical order of these words: {words}?",
    words_please="Please sort alphabetically: {words}",
    words_a_to_z="Order these words from A to Z: {words}",
    words_only="Sort the words {words} alphabetically. Reply with only the sorted list.",
    words_below="Here are some words: {words}\nList them in alphabetical order, nothing else.",
    words_dictionary="In which order does a dictionary list these words? {words}",
)
_ASCENDING = templates(
    _NUMBERS,
    ascending="Sort these numbers in ascending order: {numbers}",
    ascending_smallest="Sort these numbers from smallest to largest: {numbers}",
    ascending_put="Put these numbers in increasing order: {numbers}",
    ascending_please="Please order these numbers from low to high: {numbers}",
    ascending_only="List {numbers} from the smallest to the largest, separated by commas, nothing else.",
)
_DESCENDING = templates(
    _NUMBERS,
    descending="Sort these numbers in descending order: {numbers}",
    descending_largest="Sort these numbers from largest to smallest: {numbers}",
    descending_put="Put these numbers in decreasing order: {numbers}",
    descending_please="Please order these numbers from high to low: {numbers}",
    descending_only="List {numbers} from the largest to the smallest, separated by commas, nothing else.",
)
_PICKED = templates(
    _NTH,
    nth_what="What is the {nth} word in this list: {words}?",
    nth_which="Which word is {nth} in this list: {words}?",
    nth_give="Give me the {nth} word of: {words}",
    nth_only="Name the {nth} word in the list {words}. Reply with only the word.",
    nth_comes="Take this list: {words}\nWhich word comes {nth}?",
    nth_sentence='What is the {nth} word of the sentence "{sentence}"?',
    nth_sentence_one='Which word is the {nth} word of "{sentence}"? Answer with one word only.',
    nth_sentence_its="Sentence: {sentence}\nWhat is its {nth} word?",
    nth_sentence_please="Please tell me the {nth} word of this sentence: {sentence}",
    nth_sentence_reply="Reply with the {nth} word of this text and nothing else: {sentence}",
)
_ALL: Mapping[str, Template] = _ALPHABETICAL | _ASCENDING | _DESCENDING | _PICKED
_SENTENCES = tuple(
    sentence.split()
    for sentence in (
        "the * saw a *",
        "my * fell into the *",
        "we found a * under the *",
        "every * needs a * and a *",
        "they put the * near the * yesterday",
        "a * is not a *",
        "who took my *",
        "she never saw the * again",
    )
)


class Ordering:
    """Three to five things to be sorted, or one of four to eight words to be picked."""

    name = "ordering"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_ALL)

    def make(self, template: str, rng: random.Random) -> Question:
        """Words to be sorted differ in their first two letters; numbers are all different."""
        if template in _ALPHABETICAL:
            words = _distinct(rng)
            return _question(template, {"words": ", ".join(words)}, ", ".join(sorted(words)))
        if template in _PICKED:
            return _pick(template, rng)
        numbers = rng.sample(range(100), rng.randint(3, 5))
        ordered = sorted(numbers, reverse=template in _DESCENDING)
        return _question(template, {"numbers": ", ".join(map(str, numbers))}, ", ".join(map(str, ordered)))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """Sorted by the first letters or the tens before the whole; or numbered up to the place that is asked for."""
        turn = last_turn(messages)
        found = first_match(_ALL.values(), turn) if turn else None
        if found is None:
            return None
        template, values = found
        if template.name in _PICKED:
            return _picked(re.split(", | ", values.get("words") or values["sentence"]), values["nth"])
        if template.name in _ALPHABETICAL:
            words = values["words"].split(", ")
            keys = _initials(words)
            return _sorted(keys, sorted(keys), sorted(words))
        numbers = [int(number) for number in values["numbers"].split(", ")]
        tens, down = [number // 10 for number in numbers], template.name in _DESCENDING
        return _sorted(tens, sorted(tens, reverse=down), sorted(numbers, reverse=down))

    def read(self, answer: Answer) -> str:
        """The list that the answer comes down to, or else the word, in lower case."""
        listed = concluding_list(answer) or [concluding_word(answer)]
        return ", ".join(listed).lower()


def _question(template: str, values: Mapping[str, str], key: str) -> Question:
    return Question(template, ask(_ALL[template].render(values)), key)


def _distinct(rng: random.Random) -> list[str]:
    """Words whose first two letters settle their order."""
    words: dict[str, str] = {}
    count = rng.randint(3, 5)
    while len(words) < count:
        word = rng.choice(WORDS)
        words.setdefault(word[:2], word)
    return list(words.values())


def _pick(template: str, rng: random.Random) -> Question:
    if "{sentence}" in _ALL[template].text:
        words = [rng.choice(WORDS) if word == "*" else word for word in rng.choice(_SENTENCES)]
    else:
        words = rng.sample(WORDS, rng.randint(4, 8))
    place = rng.randrange(len(words))
    names = [_PLACES[place], _ORDINALS[place]] + (["last"] if place == len(words) - 1 else [])
    values = {"nth": rng.choice(names), "words": ", ".join(words), "sentence": " ".join(words)}
    return _question(template, values, words[place])


def _picked(words: list[str], nth: str) -> Answer | None:
    place = _PLACE_OF[nth] % len(words) if nth == "last" else _PLACE_OF[nth]
    if place >= len(words):
        return None
    thinking = " ".join(f"{number} {word}" for number, word in enumerate(words[: place + 1], start=1))
    return Answer(thinking=thinking, content=words[place])


def _initials(words: list[str]) -> list[str]:
    """Of each word as many first letters as tell it from the others: one, if no other begins with it."""
    return [
        next((word[:n] for n in range(1, len(word)) if sum(w.startswith(word[:n]) for w in words) == 1), word)
        for word in words
    ]


def _sorted(keys: Sequence[object], ordered_keys: Sequence[object], ordered: Sequence[object]) -> Answer:
    thinking = f"{' '.join(map(str, keys))}\n{' '.join(map(str, ordered_keys))}"
    return Answer(thinking=thinking, content=", ".join(map(str, ordered)))
