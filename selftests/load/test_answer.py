"""What counts as a token and what as success, on streams as servers really send them (and should not)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.load.wire import BODY, DONE, FINISH, ROLE, SENT, answered, delta, event, steady, usage
from shakedown.load.answer import RawAnswer, read_answer
from shakedown.load.records import TOKEN, Carries, Status, Usage
from shakedown.load.stream import Chunk

TOOL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
ARGUMENTS = {"index": 0, "function": {"arguments": "{"}}
EMPTY_CALL = {"index": 0, "function": {"arguments": ""}}


@pytest.mark.parametrize(
    ("content", "carries"),
    [
        pytest.param({"role": "assistant", "content": ""}, Carries.NOTHING, id="role-only"),
        pytest.param({"content": None}, Carries.NOTHING, id="null"),
        pytest.param({}, Carries.NOTHING, id="empty-delta"),
        pytest.param({"content": "", "reasoning": ""}, Carries.NOTHING, id="empty-strings"),
        pytest.param({"reasoning": "hm"}, Carries.REASONING, id="reasoning"),
        pytest.param({"reasoning_content": "hm"}, Carries.REASONING, id="reasoning-older-name"),
        pytest.param({"content": "4"}, Carries.ANSWER, id="answer"),
        pytest.param({"content": " "}, Carries.ANSWER, id="white-space-is-text"),
        pytest.param({"tool_calls": [TOOL]}, Carries.TOOL_CALL, id="tool-name"),
        pytest.param({"tool_calls": [ARGUMENTS]}, Carries.TOOL_CALL, id="tool-arguments"),
        pytest.param({"tool_calls": [EMPTY_CALL]}, Carries.NOTHING, id="empty-tool-call"),
        pytest.param({"tool_calls": []}, Carries.NOTHING, id="no-tool-call"),
        pytest.param({"reasoning": "so", "content": "4"}, Carries.REASONING | Carries.ANSWER, id="both"),
    ],
)
def test_only_text_of_the_model_is_a_token(content: dict[str, object], carries: Carries) -> None:
    (arrival,) = answered([(0.5, delta(content))]).arrivals
    assert arrival.carries == carries
    assert arrival.has_token == bool(carries)


def test_first_tokens_by_kind_are_told_apart() -> None:
    record = answered(
        [(0.0, ROLE), (0.2, delta({"reasoning": "a"})), (0.7, delta({"content": "b"})), (0.7, FINISH), (0.7, usage(2))]
    )
    assert record.first(TOKEN) == record.first(Carries.REASONING) == SENT + 0.2
    assert record.first(Carries.ANSWER) == SENT + 0.7


ERROR = event({"error": {"message": "engine died", "code": 500}})

OUTCOMES = [
    pytest.param([ROLE, BODY, FINISH, usage(1), DONE], Status.OK, "", id="healthy"),
    pytest.param([ROLE, BODY, FINISH], Status.OK, "", id="finish-reason-without-done"),
    pytest.param([ROLE, BODY, FINISH, DONE, b"data: more\n\n"], Status.FAILED, "no JSON", id="bytes-after-done"),
    pytest.param([ROLE, BODY, DONE], Status.INCOMPLETE, "without a finish_reason", id="done-proves-nothing"),
    pytest.param([ROLE, BODY], Status.INCOMPLETE, "after 1 arrivals", id="clean-early-close"),
    pytest.param([ROLE, BODY, ERROR], Status.FAILED, "engine died", id="error-in-stream"),
    pytest.param([ROLE, BODY, ERROR, DONE], Status.FAILED, "engine died", id="error-then-done"),
    pytest.param([ROLE, BODY, FINISH, ERROR, DONE], Status.FAILED, "engine died", id="error-after-finish"),
    pytest.param([b"event: error\ndata: {}\n\n"], Status.FAILED, "error in the stream", id="error-event"),
    pytest.param([event({"object": "error", "message": "old"})], Status.FAILED, "old", id="older-error-object"),
    pytest.param([BODY, delta({}, finish="abort"), DONE], Status.FAILED, "abort", id="aborted"),
    pytest.param([b"<html>gateway</html>"], Status.FAILED, "gateway", id="html-with-200"),
    pytest.param([], Status.FAILED, "(empty)", id="empty-body"),
    pytest.param([b"data: {broken\n\n"], Status.FAILED, "no JSON object", id="broken-json"),
    pytest.param([b"data: 4\n\n"], Status.FAILED, "no JSON object", id="json-but-no-object"),
    pytest.param([delta({"content": "x"}, finish="stop") + usage(1) + DONE], Status.OK, "", id="all-in-one-packet"),
    pytest.param([event({"error": None, "choices": []}), BODY, FINISH], Status.OK, "", id="error-null-is-none"),
]


@pytest.mark.parametrize(("parts", "status", "why"), OUTCOMES)
def test_success_needs_a_finish_reason_and_no_error(parts: list[bytes], status: Status, why: str) -> None:
    record = answered([(0.1, part) for part in parts])
    assert record.status is status
    assert why in record.why
    assert bool(record.why) == (status is not Status.OK)


def test_each_choice_needs_its_own_finish_reason() -> None:
    script = [(0.1, BODY), (0.1, delta({"content": "y"}, finish="stop", index=1))]
    assert answered(script, choices=2).status is Status.INCOMPLETE
    assert answered([*script, (0.2, FINISH)], choices=2).finish_reasons == ("length", "stop")


@pytest.mark.parametrize("code", [400, 429, 503])
def test_http_error_is_a_failure_with_its_text(code: int) -> None:
    record = answered([(0.1, b'{"error": "slow down"}')], http_status=code)
    assert record.status is Status.FAILED
    assert f"HTTP {code}" in record.why
    assert "slow down" in record.why
    assert record.arrivals == ()


def test_connection_lost_after_the_first_tokens_is_incomplete() -> None:
    record = answered([(0.1, BODY)], trouble="ReadError")
    assert record.status is Status.INCOMPLETE
    assert "ReadError" in record.why


def test_request_cut_off_by_the_client_says_nothing_about_the_server() -> None:
    record = read_answer(RawAnswer(0, SENT, sent=SENT, http_status=200, cancelled=True, trouble="deadline"))
    assert record.status is Status.CANCELLED


def test_running_usage_is_the_last_value_and_never_a_sum() -> None:
    script = [(0.1, delta({"content": "a"}, so_far=1)), (0.2, delta({"content": "b"}, so_far=3)), (0.2, FINISH)]
    assert answered([*script, (0.3, usage(3))]).usage == Usage(prompt_tokens=7, completion_tokens=3)


def test_late_usage_event_is_no_part_of_the_answer() -> None:
    record = answered([*steady(0.2, 0.01, 3)[:-2], (0.9, usage(3)), (0.9, DONE)])
    assert record.finish == pytest.approx(SENT + 0.22)


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    assert answered([(0.1, data), (0.2, b"data: " + data + b"\n\n")]).status is not Status.CANCELLED


@given(st.lists(st.integers(0, 2000), max_size=12))
def test_any_split_gives_the_same_record_but_for_the_stamps(cuts: list[int]) -> None:
    stream = b"".join(data for _, data in [*steady(0.1, 0.1, 5), (0.0, delta({"content": "中文"}))])
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    parts = [Chunk(SENT, stream[a:b]) for a, b in itertools.pairwise(edges)]
    split = read_answer(RawAnswer(0, SENT, sent=SENT, http_status=200, chunks=parts, ended=SENT))
    whole = read_answer(RawAnswer(0, SENT, sent=SENT, http_status=200, chunks=[Chunk(SENT, stream)], ended=SENT))
    assert split == whole
