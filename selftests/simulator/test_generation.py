"""Below the routes: what ends an output, and how its tokens are told apart, whatever the text and the chunks."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.simulator.model import Model
from shakedown.simulator.output import Limits, decide
from shakedown.simulator.parsing import Call, OutputParser, parse_whole
from shakedown.simulator.pattern import example
from shakedown.simulator.settings import MODEL_FOLDER

MODEL = Model(MODEL_FOLDER)
TEXT = st.text(st.characters(codec="utf-8"), max_size=40).filter(lambda text: "<" not in text)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXT, VALUES, max_size=4)


@given(TEXT)
@settings(max_examples=80, deadline=None)
def test_pieces_join_to_the_text_and_the_end_is_silent(text: str) -> None:
    output = decide(MODEL, text, Limits(max_tokens=4096))
    assert "".join(output.pieces) == text
    assert output.ids[-1] == MODEL.end_of_turn
    assert output.finish_reason == "stop"


@given(TEXT, st.integers(1, 30))
@settings(max_examples=80, deadline=None)
def test_a_limit_keeps_whole_characters_in_front(text: str, limit: int) -> None:
    output = decide(MODEL, text, Limits(max_tokens=limit))
    assert len(output.ids) <= limit
    said = "".join(output.pieces).rstrip("\N{REPLACEMENT CHARACTER}")
    assert text.startswith(said) or text.rstrip("\N{REPLACEMENT CHARACTER}").startswith(said)
    assert (output.finish_reason == "length") == (MODEL.end_of_turn not in output.ids)


@given(st.text("abc ", max_size=60), st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_a_stop_text_ends_at_its_first_place(text: str, stops: list[str]) -> None:
    output = decide(MODEL, text, Limits(max_tokens=4096, stop=tuple(stops)))
    said = "".join(output.pieces)
    if output.stop_reason is None:
        assert said == text
        assert not any(stop in text for stop in stops)
    else:
        assert isinstance(output.stop_reason, str)
        assert text.startswith(said + output.stop_reason)
        assert not any(stop in said for stop in stops)


@given(st.text("abc ", max_size=30), st.integers(1, 60), st.integers(0, 60))
@settings(max_examples=80, deadline=None)
def test_lengths_that_are_asked_for_are_exact(text: str, limit: int, least: int) -> None:
    forced = decide(MODEL, text, Limits(max_tokens=limit, ignore_eos=True))
    assert len(forced.ids) == limit
    assert forced.finish_reason == "length"
    if least <= limit:
        output = decide(MODEL, text, Limits(max_tokens=limit, min_tokens=least))
        assert least <= len(output.ids) <= limit


@given(TEXT, TEXT, ARGUMENTS, st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_tokens_are_told_apart_in_any_chunks(
    reasoning: str, content: str, arguments: dict[str, object], step: int
) -> None:
    spelled = json.dumps(arguments, ensure_ascii=False)
    call = f'<tool_call>\n{{"name": "f", "arguments": {spelled}}}\n</tool_call>'
    output = decide(MODEL, f"<think>{reasoning}</think>{content}{call}{call}", Limits(max_tokens=4096))
    whole = parse_whole(OutputParser(MODEL, thinking=True, tools=True), output.ids, output.pieces)
    assert (whole.reasoning, whole.content) == (reasoning, content)
    assert whole.calls == [Call("f", spelled), Call("f", spelled)]
    assert whole.reasoning_tokens == len(MODEL.encode(reasoning))

    parser = OutputParser(MODEL, thinking=True, tools=True)
    deltas = [
        parser.feed(output.ids[start : start + step], output.pieces[start : start + step])
        for start in range(0, len(output.ids), step)
    ]
    assert "".join(delta.reasoning for delta in deltas) == reasoning
    assert "".join(delta.content for delta in deltas) == content
    pieces = [piece for delta in deltas for piece in delta.calls]
    for index in (0, 1):
        mine = [piece for piece in pieces if piece.index == index]
        assert [piece.name for piece in mine if piece.name] == ["f"]
        assert "".join(piece.arguments for piece in mine) == spelled


@given(st.sampled_from([r"\d{3}-\d{2}", r"(yes|no)!", r"[A-F]+x?", r"a.c", r"^\w+@\w+\.(com|org)$", r"(ab){2,4}\s"]))
def test_an_example_matches_its_pattern(pattern: str) -> None:
    assert re.fullmatch(pattern, example(pattern))
