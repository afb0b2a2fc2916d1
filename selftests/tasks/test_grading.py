"""Grading: what counts as right, and which class every miss gets."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shakedown.serving.tasks import Answer, Item, MaxTokens, Miss, ToolCall, grade

ANY = MaxTokens(100, 100)


def item(family: str, key: object) -> Item:
    return Item(family, "any", 0, 0, (), key, ANY)  # type: ignore[arg-type]


SUM = item("arithmetic", "803")
MINUS = item("arithmetic", "-12")
WORD = item("exact-word", "Lemon")
REVERSED = item("reverse", "jwmbpf")
LARGE_SUM = item("arithmetic", "1347")
NONCE = item("nonce", "aB3dE6gH9kLm")
NEEDLE = item("needle", "aB3dE6gH9kLm")
OBJECT = item("extraction", {"name": "Clara", "age": 41})
CALL = item("tool-call", {"name": "set_timer", "arguments": {"minutes": 5}})
COUNT = item("counting", "3, 4, 5")
SORTED = item("ordering", "basil, oasis, river")
ASCENDING = item("ordering", "7, 12, 41")
PICKED = item("ordering", "tiger")
PRINTED = item("code-trace", "-6")
REPEATED = item("repeats", "a" * 24)
RESULT = item("tool-result", "aB3dE6gH9kLm")


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        (SUM, "803"),
        (SUM, "\n\n803"),
        (SUM, "417 + 386 = 803."),
        (SUM, "**803**"),
        (MINUS, "-12"),
        (MINUS, "The result is \u221212."),
        (WORD, "Lemon"),
        (WORD, '"Lemon".'),
        (WORD, '**"Lemon."**'),
        (WORD, '"**Lemon**"'),
        (LARGE_SUM, "989 + 358 = **1,347**"),
        (LARGE_SUM, "The sum is $1347$."),
        (REVERSED, "jwmbpf"),
        (REVERSED, "The reversed string is **jwmbpf**."),
        (REVERSED, "`fpbmwj` reversed is `jwmbpf`."),
        (REVERSED, "**jwmbpf** is fpbmwj spelled backwards."),
        (REVERSED, 'Sure! The reverse of fpbmwj is: "jwmbpf"'),
        (REVERSED, "j-w-m-b-p-f"),
        (REVERSED, "J W M B P F"),
        (REVERSED, "Spelled backwards: **j, w, m, b, p, f**"),
        (REVERSED, "```\njwmbpf\n```"),
        (NONCE, "\naB3dE6gH9kLm\n"),
        (NONCE, "`aB3dE6gH9kLm`"),
        (NEEDLE, "The password is aB3dE6gH9kLm."),
        (NEEDLE, "More specifically, the password is **aB3dE6gH9kLm** (aB3dE6gH9kLm)."),
        (OBJECT, 'Here you are: {"name": "Clara", "age": 41}'),
        (OBJECT, '{"age": 41, "name": "Clara"}'),
        (OBJECT, 'Here:\n```json\n{"name": "Clara", "age": 41}\n```'),
        (COUNT, "3\n4\n5"),
        (COUNT, "3, 4, 5"),
        (COUNT, "Here are the numbers from 3 to 5: 3, 4, 5"),
        (SORTED, "Basil, oasis, river."),
        (SORTED, "In alphabetical order:\n\n1. basil\n2. oasis\n3. river"),
        (SORTED, "The sorted list is **basil**, **oasis**, and **river**."),
        (SORTED, "- basil\n- oasis\n- river"),
        (ASCENDING, "7 12 41"),
        (ASCENDING, "[7, 12, 41]"),
        (ASCENDING, "1. 7\n2. 12\n3. 41"),
        (PICKED, "tiger"),
        (PICKED, "The third word is **tiger**."),
        (PICKED, "1. river\n2. basil\n3. tiger\n\nThe third word is tiger."),
        (PRINTED, "```\n-6\n```"),
        (PRINTED, "y is 6 at first, and then the code prints **-6**."),
        (LARGE_SUM, "$989 + 358 = 1{,}347$"),
        (REPEATED, "a" * 24),
        (RESULT, "The result is aB3dE6gH9kLm."),
    ],
)
def test_right(asked: Item, content: str) -> None:
    verdict = grade(asked, Answer(content=content))
    assert verdict.right, verdict
    assert verdict.miss is None


def test_a_right_call() -> None:
    assert grade(CALL, Answer(tool_calls=(ToolCall("set_timer", '{"minutes":5}'),))).right


@pytest.mark.parametrize(
    ("asked", "answer", "miss"),
    [
        (SUM, Answer(content="804"), Miss.WRONG),
        (SUM, Answer(content="803 or 804"), Miss.WRONG),
        (SUM, Answer(content="eight hundred and three"), Miss.UNPARSABLE),
        (SUM, Answer(content="8", finish_reason="length"), Miss.TRUNCATED),
        (SUM, Answer(thinking="4+", finish_reason="length"), Miss.TRUNCATED),
        (SUM, Answer(content=" \n"), Miss.EMPTY),
        (SUM, Answer(content="I'm sorry, I cannot do that."), Miss.REFUSED),
        (SUM, Answer(content="!" * 40, finish_reason="length"), Miss.DEGENERATE),
        (SUM, Answer(content="1", thinking="wait, " * 30), Miss.DEGENERATE),
        (SUM, Answer(status=500), Miss.HTTP_ERROR),
        (SUM, Answer(content="803", status=0), Miss.HTTP_ERROR),
        (WORD, Answer(content="lemon"), Miss.WRONG),
        (WORD, Answer(content="The word is Lemon"), Miss.WRONG),
        (REVERSED, Answer(content="The reversed string is **jwmbpg**."), Miss.WRONG),
        (REVERSED, Answer(content="j-w-m-b-f-p"), Miss.WRONG),
        (REVERSED, Answer(content="I think that it is " + "well, " * 5 + "and so on " * 6 + "jwmbpf"), Miss.UNPARSABLE),
        (LARGE_SUM, Answer(content="1,348"), Miss.WRONG),
        (NONCE, Answer(content="aB3dE6gH9kLM"), Miss.WRONG),
        (NONCE, Answer(content="Sure: aB3dE6gH9kLm"), Miss.WRONG),
        (OBJECT, Answer(content='{"name": "Clara", "age": "41"}'), Miss.WRONG),
        (OBJECT, Answer(content='{"name": "Clara", "age": 41, "x": 1}'), Miss.WRONG),
        (OBJECT, Answer(content="[1]"), Miss.UNPARSABLE),
        (OBJECT, Answer(content="name: Clara"), Miss.UNPARSABLE),
        (CALL, Answer(content='<tool_call>{"name": "set_timer"}</tool_call>'), Miss.UNPARSABLE),
        (CALL, Answer(tool_calls=(ToolCall("set_timer", '"minutes": 5}'),)), Miss.UNPARSABLE),
        (CALL, Answer(tool_calls=(ToolCall("set_timer", '{"minutes": "5"}'),)), Miss.WRONG),
        (CALL, Answer(tool_calls=(ToolCall("get_time", '{"minutes": 5}'),)), Miss.WRONG),
        (CALL, Answer(tool_calls=(ToolCall("set_timer", '{"minutes": 5}'),) * 2), Miss.UNPARSABLE),
        (COUNT, Answer(content="3, 5"), Miss.WRONG),
        (COUNT, Answer(content="3, 4, 4, 5"), Miss.WRONG),
        (SORTED, Answer(content="basil, river, oasis"), Miss.WRONG),
        (SORTED, Answer(content="basil, oasis"), Miss.WRONG),
        (ASCENDING, Answer(content="7, 41, 12"), Miss.WRONG),
        (PICKED, Answer(content="The third word is basil."), Miss.WRONG),
        (PRINTED, Answer(content="6"), Miss.WRONG),
        (REPEATED, Answer(content="a" * 25), Miss.DEGENERATE),
        (RESULT, Answer(content="It worked."), Miss.UNPARSABLE),
    ],
)
def test_misses_are_told_apart(asked: Item, answer: Answer, miss: Miss) -> None:
    verdict = grade(asked, answer)
    assert not verdict.right
    assert verdict.miss is miss, verdict
    assert verdict.expected == (asked.key if isinstance(asked.key, str) else json.dumps(asked.key))


def test_a_right_answer_is_right_even_if_it_was_cut_off_afterwards() -> None:
    assert grade(SUM, Answer(content="803", finish_reason="length")).right


def test_one_is_not_true() -> None:
    asked = replace(OBJECT, key={"age": 1})
    assert grade(asked, Answer(content='{"age": true}')).miss is Miss.WRONG
