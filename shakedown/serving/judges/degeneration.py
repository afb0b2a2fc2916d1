"""DN-02: text that no model in its right mind writes: runs, loops, a flood of exclamation marks, control characters.

Every limit is a starting value, set far above what healthy short answers reach; what the prompt itself holds (an
answer may have to repeat it) never counts.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from shakedown.serving.answer import Answer
from shakedown.serving.exchange import shortened

RUN = re.compile(r"([^\s\-=_*#.~|+─═])\1{19,}")
"""Lines that are drawn with one character are no run."""
LOOP = re.compile(r"(\S+\s+\S+\s+\S+\s+)\1{7,}")
ENOUGH_WORDS = 30
WORD_SHARE = 0.6
ENOUGH_BYTES = 256
ZIP_RATIO = 8.0
ENOUGH_MARKS = 8
MARK_SHARE = 0.3


def healthy(answer: Answer) -> Iterator[str]:
    """What marks the text of an answer as degenerate."""
    prompt = _prompt(answer.exchange.request.body)
    for field, text in answer.texts.items():
        if field.startswith("tool_calls") or not text.strip():
            continue
        for sign in signs(text, prompt):
            yield f"{field}: {sign}: {shortened(text, 60)!r}"


def signs(text: str, prompt: str = "") -> Iterator[str]:
    """The signs of degeneration in a text."""
    for pattern, what in ((RUN, "one character 20 times or more"), (LOOP, "three words 8 times or more in a row")):
        found = pattern.search(text)
        if found and found.group() not in prompt:
            yield what
    words = text.split()
    if len(words) >= ENOUGH_WORDS and Counter(words).most_common(1)[0][1] > WORD_SHARE * len(words):
        yield f"one word is more than {WORD_SHARE:.0%} of it"
    raw = text.encode("utf-8", "replace")
    if len(raw) >= ENOUGH_BYTES and len(raw) > ZIP_RATIO * len(zlib.compress(raw)) and text.strip() not in prompt:
        yield f"it shrinks to less than 1/{ZIP_RATIO:.0f} when compressed"
    marks = text.count("!")
    if marks >= ENOUGH_MARKS and marks > MARK_SHARE * len(text):
        yield f"{marks} exclamation marks in {len(text)} characters"
    control = {character for character in text if unicodedata.category(character) == "Cc"} - set("\n\r\t")
    if control and not control <= set(prompt):
        yield f"control characters {sorted(map(ascii, control))}"


def _prompt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(map(_prompt, value.values()))
    return "\n".join(map(_prompt, value)) if isinstance(value, list | tuple) else ""
