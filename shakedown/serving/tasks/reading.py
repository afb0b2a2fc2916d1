"""How answers are read: what counts as the same text, the same number, the same object."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from shakedown.serving.tasks.item import Answer, Unparsable

_WRAPPERS = (("```", "```"), ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"))
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w]|\.\d)")
_THOUSANDS = re.compile(r"(?<![\d,])(\d{1,3})(?:,|\{,\})(\d{3})(?![\d,]*\d)")
_MARKED_UP = re.compile(r"\*\*(.+?)\*\*|`(.+?)`")
_PUNCTUATION = ".,:;!?*_`\"'“”‘’()[]"
_SPELLED = re.compile(r"(?:[A-Za-z][\s,\-–—·.]+){2,}[A-Za-z]")
_VERB = re.compile(r"^.*\b(?:is|are|as)\s+", re.DOTALL)
_REMARK = re.compile(r"\s*\([^()]*\)?$")
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\d+[.)]\s+)")
_BETWEEN = re.compile(r"[,;→]|\band\b")
_NUMBERS = re.compile(r"\d+(?:\s+\d+)+")
SHORT_WORDS = 24
"""An answer of more words is an essay, and what it ends with is no answer."""


def bare_text(answer: Answer) -> str:
    """The content without outer white space and without quotes or mark-up around the whole of it.

    Raises:
        Unparsable: nothing is left.
    """
    return _unwrapped(answer.content.strip())


def single_word(answer: Answer) -> str:
    """As `bare_text`, and a full stop at the end does not count, inside or outside the quotes.

    Raises:
        Unparsable: nothing is left.
    """
    return _unwrapped(_unwrapped(answer.content.strip().removesuffix(".")).removesuffix("."))


def concluding_word(answer: Answer) -> str:
    """The word that a short answer comes down to: the last one in mark-up, or else the last one.

    A word that is spelled out (``n-o-m-e-l``, ``n o m e l``) is put together.

    Raises:
        Unparsable: nothing is left, or the answer is no short one.
    """
    text = bare_text(answer)
    if spelled := _SPELLED.fullmatch(text.strip(_PUNCTUATION)):
        return _letters(spelled[0])
    conclusion = _conclusion(text)
    if _SPELLED.fullmatch(conclusion):
        return _letters(conclusion)
    words = conclusion.split()
    if not words:
        raise Unparsable("no word")
    last = words[-1].strip(_PUNCTUATION)
    return _letters(last) if _SPELLED.fullmatch(last) else last


def concluding_phrase(answer: Answer) -> str:
    """The words that a short answer comes down to: those in mark-up, or after a colon or "is", or else all of it.

    A remark in brackets at the end does not count.

    Raises:
        Unparsable: nothing is left, or the answer is no short one.
    """
    phrase = _REMARK.sub("", _conclusion(bare_text(answer)))
    phrase = _VERB.sub("", phrase).strip().strip(_PUNCTUATION)
    if not phrase:
        raise Unparsable("no words")
    return phrase


def concluding_list(answer: Answer) -> list[str]:
    """The single words or numbers that an answer lists, one a line or with commas between; empty if it is no list.

    Bullets, numbering, mark-up and an introduction that ends in a colon or "is" do not count.

    Raises:
        Unparsable: nothing is left.
    """
    first, *others = bare_text(answer).rpartition(":")[2].strip().splitlines()
    lines = [_BULLET.sub("", line) for line in (_VERB.sub("", first), *others)]
    pieces = [piece.strip().strip(_PUNCTUATION).strip() for line in lines for piece in _BETWEEN.split(line)]
    if len(pieces) == 1 and _NUMBERS.fullmatch(pieces[0]):
        pieces = pieces[0].split()
    listed = [piece for piece in pieces if piece]
    return listed if len(listed) > 1 and not any(len(piece.split()) > 1 for piece in listed) else []


def _conclusion(text: str) -> str:
    """What stands in mark-up last, or else after the last colon.

    Raises:
        Unparsable: the text is no short one.
    """
    if len(text.split()) > SHORT_WORDS:
        raise Unparsable(f"{len(text.split())} words where one is asked for")
    marked = [bold or code for bold, code in _MARKED_UP.findall(text)]
    return (marked[-1] if marked else text.rpartition(":")[2]).strip().strip(_PUNCTUATION)


def _letters(spelled: str) -> str:
    return "".join(filter(str.isalpha, spelled)).lower()


def _unwrapped(text: str) -> str:
    while True:
        bare = _unwrapped_once(text)
        if bare == text:
            break
        text = bare
    if not text:
        raise Unparsable("no text")
    return text


def _unwrapped_once(text: str) -> str:
    for left, right in _WRAPPERS:
        if len(text) > len(left) + len(right) and text.startswith(left) and text.endswith(right):
            return text[len(left) : -len(right)].strip()
    return text


def integers(answer: Answer) -> list[int]:
    """Every whole number in the content, in order; a typographic minus counts as one.

    Raises:
        Unparsable: there is none.
    """
    found = [int(number) for number in _NUMBER.findall(answer.content.replace("\u2212", "-"))]
    if not found:
        raise Unparsable("no number")
    return found


def last_integer(answer: Answer) -> str:
    """The last whole number: a model that shows its work ends with the result; it may group thousands by a comma."""
    return str(integers(replace(answer, content=_THOUSANDS.sub(r"\1\2", answer.content)))[-1])


def json_object(answer: Answer) -> dict[str, Any]:
    """The content as a JSON object, out of a code fence or a sentence if it stands in one.

    Raises:
        Unparsable: the content is not JSON, or not an object.
    """
    text = answer.content
    if fenced := _FENCE.search(text):
        text = fenced[1]
    elif not text.lstrip().startswith("[") and (inside := _OBJECT.search(text)):
        text = inside[0]
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unparsable(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Unparsable(f"JSON, but a {type(value).__name__} and no object")
    return value
