"""Keys of sorting, picking and tracing are exact: computed a second time, by Python itself where it is Python."""

from __future__ import annotations

import contextlib
import io
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import Item, generate, solve
from shakedown.serving.tasks.code_trace import Run, Unsupported

SEEDS = st.integers(min_value=0, max_value=2**40)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
CODE = re.compile(r"(?:^|\n)([a-z]+ = .*\))(?:\n|$)", re.DOTALL)


def question(item: Item) -> str:
    return str(item.messages[-1]["content"])


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_sorted_lists(seed: int) -> None:
    for item in generate("ordering", seed=seed, n=30):
        listed = re.search(r"\w+(?:, \w+){2,}", question(item))
        if item.template.startswith("nth"):
            continue
        assert listed is not None
        things, key = re.findall(r"[a-z]+|\d+", listed[0]), str(item.key).split(", ")
        assert sorted(things) == sorted(key)
        assert 3 <= len(key) <= 5
        pairs = list(itertools.pairwise(key))
        if item.template.startswith("words"):
            assert all(a < b for a, b in pairs)
        else:
            down = item.template.startswith("descending")
            assert all((int(a) > int(b)) if down else (int(a) < int(b)) for a, b in pairs)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_the_word_at_a_place(seed: int) -> None:
    for item in generate("ordering", seed=seed, n=30):
        if not item.template.startswith("nth"):
            continue
        text = question(item)
        nth = re.search(rf"\b({'|'.join(ORDINALS)}|last|\dst|\dnd|\drd|\dth)\b", text)
        assert nth is not None
        asked = nth[0]
        listed = re.search(r"[a-z]+(?:, [a-z]+){3,}", text) or re.search(
            r'(?<="|:)\s*[a-z]+(?: [a-z]+){3,}(?="|\n|$)', text
        )
        assert listed is not None, text
        words = re.findall("[a-z]+", listed[0])
        place = -1 if asked == "last" else ORDINALS.index(asked) if asked in ORDINALS else int(asked[0]) - 1
        assert words[place] == item.key, text
        assert 4 <= len(words) <= 8


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_python_prints_what_the_key_says(seed: int) -> None:
    for item in generate("code-trace", seed=seed, n=12):
        code = CODE.search(question(item))
        assert code is not None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code[1], {})
        assert printed.getvalue().strip() == item.key
        assert 0 <= int(str(item.key)) <= 40


def test_a_trace_tells_every_line_that_ran() -> None:
    run = Run()
    run.program("x = 3\nif x > 5:\n    x += 1\nelse:\n    x *= 2\nfor _ in range(2):\n    x -= 1\nprint(x + 1)")
    assert run.trace == ["x=3", "x > 5 no", "x=6", "x=5", "x=4"]
    assert run.values[-1] == 5


@pytest.mark.parametrize(
    "code",
    [
        "import os\nprint(1)",
        "x = __import__('os')\nprint(x)",
        "x = 2 ** 9\nprint(x)",
        "for _ in range(999999):\n    x = 1\nprint(x)",
        "print(y)",
        "x = 1\nprint(x, x)",
        "x = True\nprint(x)",
        "while True:\n    x = 1\nprint(1)",
        "x = 1",
    ],
)
def test_other_python_is_not_run(code: str) -> None:
    with pytest.raises(Unsupported):
        Run().program(code)
    assert solve([{"role": "user", "content": f"What does this print?\n\n{code}"}]) is None


def test_what_is_no_python_is_no_task() -> None:
    assert solve([{"role": "user", "content": "What does this print?\n\nx = = 1\nprint(x)"}]) is None
