"""The reader of event streams: however the bytes are cut, the same events come out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shakedown.serving.exchange import Arrival
from shakedown.serving.sse import Event, read_stream

LINE = st.text(st.characters(exclude_characters="\r\n\ufeff", exclude_categories=["Cs"]), max_size=20)
END = st.sampled_from(["\n", "\r\n", "\r"])


def read(*pieces: bytes) -> tuple[tuple[tuple[str, str], ...], bytes, tuple[str, ...]]:
    stream = read_stream(Arrival(float(at), piece) for at, piece in enumerate(pieces))
    return tuple((event.type, event.data) for event in stream.events), stream.rest, stream.stray


def test_events_with_their_types_and_times() -> None:
    stream = read_stream([Arrival(0.1, b"data: a\n\nevent: x\nda"), Arrival(0.4, b'ta: {"b": 1}\n\n')])
    assert stream.events == (Event("message", "a", 0.1), Event("x", '{"b": 1}', 0.4))
    assert stream.events[1].json == {"b": 1}
    assert stream.events[0].json is None
    assert not stream.rest
    assert not stream.stray


def test_lines_of_data_are_joined_and_one_space_is_taken_away() -> None:
    assert read(b"data:  two\ndata:three\n\n")[0] == (("message", " two\nthree"),)


def test_comments_and_known_fields_are_no_strays() -> None:
    assert read(b": ping\nid: 7\nretry: 10\ndata: a\n\n") == ((("message", "a"),), b"", ())


def test_a_line_outside_any_field_is_told() -> None:
    assert read(b"data: a\n\nInternal Server Error\n\n")[2] == ("Internal Server Error",)


def test_an_event_without_its_blank_line_is_left_over() -> None:
    assert read(b"data: a\n\ndata: b\n") == ((("message", "a"),), b"data: b\n", ())
    assert read(b"data: a\n\ndata: {") == ((("message", "a"),), b"data: {", ())


def test_a_byte_order_mark_is_dropped_at_the_start_alone() -> None:
    assert read(b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n") == (
        (("message", "a"), ("message", "\ufeffb")),
        b"",
        (),
    )
    assert read(b"\xef", b"\xbb", b"\xbfdata: a\n\n") == ((("message", "a"),), b"", ())


def test_a_line_end_that_is_cut_in_two_is_one_and_holds_nothing_back() -> None:
    stream = read_stream([Arrival(0.1, b"data: a\r\n\r"), Arrival(0.4, b"\ndata: b\r"), Arrival(0.5, b"\n\r\n")])
    assert stream.events == (Event("message", "a", 0.1), Event("message", "b", 0.5))
    assert not stream.rest


@given(st.lists(st.tuples(st.lists(LINE, min_size=1, max_size=3), END), max_size=6), st.data())
def test_any_cut_gives_the_same_events(written: list[tuple[list[str], str]], data: st.DataObject) -> None:
    raw = "".join("".join(f"data: {line}{end}" for line in texts) + end for texts, end in written).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    pieces = [raw[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    expected = tuple(("message", "\n".join(texts)) for texts, _ in written)
    assert read(raw) == (expected, b"", ())
    assert read(*pieces) == (expected, b"", ())


@given(st.binary(max_size=200), st.integers(0, 200))
def test_no_bytes_make_it_raise_and_no_cut_changes_them(raw: bytes, cut: int) -> None:
    assert read(raw[:cut], raw[cut:]) == read(raw)
