"""Number words against a list that was written by hand: what no rule would get right, and some that a rule does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import Answer, generate, grade, solve
from shakedown.serving.tasks.numerals import SPELLINGS, VALUES, parts

WRITTEN: dict[str, dict[int, str]] = {
    "English": {
        0: "zero",
        11: "eleven",
        12: "twelve",
        13: "thirteen",
        14: "fourteen",
        15: "fifteen",
        18: "eighteen",
        20: "twenty",
        21: "twenty-one",
        40: "forty",
        44: "forty-four",
        58: "fifty-eight",
        80: "eighty",
        90: "ninety",
        99: "ninety-nine",
        100: "one hundred",
    },
    "German": {
        0: "null",
        1: "eins",
        11: "elf",
        12: "zwölf",
        16: "sechzehn",
        17: "siebzehn",
        20: "zwanzig",
        21: "einundzwanzig",
        30: "dreißig",
        36: "sechsunddreißig",
        60: "sechzig",
        61: "einundsechzig",
        67: "siebenundsechzig",
        70: "siebzig",
        77: "siebenundsiebzig",
        85: "fünfundachtzig",
        100: "hundert",
    },
    "French": {
        0: "zéro",
        16: "seize",
        17: "dix-sept",
        20: "vingt",
        21: "vingt et un",
        22: "vingt-deux",
        31: "trente et un",
        61: "soixante et un",
        69: "soixante-neuf",
        70: "soixante-dix",
        71: "soixante et onze",
        72: "soixante-douze",
        77: "soixante-dix-sept",
        80: "quatre-vingts",
        81: "quatre-vingt-un",
        90: "quatre-vingt-dix",
        91: "quatre-vingt-onze",
        99: "quatre-vingt-dix-neuf",
        100: "cent",
    },
    "Spanish": {
        0: "cero",
        15: "quince",
        16: "dieciséis",
        20: "veinte",
        21: "veintiuno",
        22: "veintidós",
        23: "veintitrés",
        24: "veinticuatro",
        26: "veintiséis",
        30: "treinta",
        31: "treinta y uno",
        55: "cincuenta y cinco",
        67: "sesenta y siete",
        70: "setenta",
        99: "noventa y nueve",
        100: "cien",
    },
    "Italian": {
        0: "zero",
        3: "tre",
        11: "undici",
        14: "quattordici",
        17: "diciassette",
        18: "diciotto",
        19: "diciannove",
        20: "venti",
        21: "ventuno",
        22: "ventidue",
        23: "ventitré",
        28: "ventotto",
        31: "trentuno",
        33: "trentatré",
        48: "quarantotto",
        81: "ottantuno",
        88: "ottantotto",
        93: "novantatré",
        100: "cento",
    },
    "Dutch": {
        0: "nul",
        1: "een",
        8: "acht",
        13: "dertien",
        14: "veertien",
        18: "achttien",
        20: "twintig",
        21: "eenentwintig",
        22: "tweeëntwintig",
        23: "drieëntwintig",
        32: "tweeëndertig",
        44: "vierenveertig",
        80: "tachtig",
        88: "achtentachtig",
        93: "drieënnegentig",
        100: "honderd",
    },
}


@pytest.mark.parametrize("language", WRITTEN)
def test_spellings(language: str) -> None:
    assert {n: SPELLINGS[language][n] for n in WRITTEN[language]} == WRITTEN[language]
    assert len(SPELLINGS[language]) == len(set(SPELLINGS[language])) == 101


def test_a_word_means_the_same_in_every_language_that_has_it() -> None:
    for words in SPELLINGS.values():
        assert [VALUES[word][1] for word in words] == list(range(101))


@pytest.mark.parametrize("language", SPELLINGS)
def test_every_number_is_understood_both_ways(language: str) -> None:
    for n, word in enumerate(SPELLINGS[language]):
        assert _said(f"What is {n} in {language}?") == word
        assert _said(f"What number is {word}?") == str(n)


def test_parts_are_those_that_are_heard() -> None:
    assert parts("French", 99) == (80, 19)
    assert parts("French", 71) == (60, 11)
    assert parts("French", 80) == (80,)
    assert parts("German", 99) == (90, 9)
    assert [parts(language, 100) for language in SPELLINGS] == [(100,)] * 6
    for language in SPELLINGS:
        assert all(sum(parts(language, n)) == n for n in range(101))


@given(st.integers(min_value=0, max_value=2**40))
@settings(max_examples=60, deadline=None)
def test_keys(seed: int) -> None:
    for item in generate("number-words", seed=seed, n=20):
        asked, key = str(item.messages[-1]["content"]), str(item.key)
        if item.template.startswith("digits"):
            assert any(words[int(key)] in asked for words in SPELLINGS.values())
        else:
            language = next(language for language in SPELLINGS if language in asked)
            assert str(SPELLINGS[language].index(key)) in asked


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("vingt et un", "Vingt et un."),
        ("vingt et un", "21 in French is **vingt et un**."),
        ("vingt et un", "vingt-et-un"),
        ("fünfundvierzig", "45 in German is fünfundvierzig."),
        ("fünfundvierzig", '"Fünfundvierzig"'),
        ("fünfundvierzig", "fünfundvierzig (45)"),
        ("fünfundvierzig", 'In German, 45 is written as "fünfundvierzig".'),
        ("one hundred", "a hundred"),
        ("45", "45."),
        ("45", "The number is **45**."),
        ("45", "The German word fünfundvierzig means 45"),
    ],
)
def test_verbose_answers_are_read(key: str, content: str) -> None:
    item = generate("number-words", seed=1, n=1)[0]
    verdict = grade(replace(item, key=key), Answer(content=content))
    assert verdict.right, verdict


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("veintidós", "veintidos"),
        ("twenty-one", "twentyone"),
        ("vingt et un", "vingt-deux"),
        ("45", "46"),
        ("45", "fünfundvierzig"),
    ],
)
def test_another_spelling_is_wrong(key: str, content: str) -> None:
    item = generate("number-words", seed=1, n=1)[0]
    assert not grade(replace(item, key=key), Answer(content=content)).right


def _said(text: str) -> str | None:
    answer = solve([{"role": "user", "content": text}])
    return answer.content if answer else None
