"""Server-sent events come out by the WHATWG rules, however the bytes were split."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.load.stream import Chunk, EventParser, events


def data_of(stream: bytes, size: int | None = None) -> list[bytes]:
    step = size or max(1, len(stream))
    chunks = [Chunk(float(at), stream[at : at + step]) for at in range(0, len(stream), step)]
    return [event.data for event in events(chunks)]


CASES = [
    pytest.param(b"data: a\n\ndata: b\n\n", [b"a", b"b"], id="lf"),
    pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"], id="crlf"),
    pytest.param(b"data: a\r\rdata: b\r\r", [b"a", b"b"], id="cr"),
    pytest.param(b"data: a\r\n\ndata: b\n\r\n", [b"a", b"b"], id="mixed-endings"),
    pytest.param(b"data:a\n\n", [b"a"], id="no-space-after-colon"),
    pytest.param(b"data:  a\n\n", [b" a"], id="only-one-space-is-dropped"),
    pytest.param(b"data: a\ndata: b\n\n", [b"a\nb"], id="several-data-lines"),
    pytest.param(b": ping\n\ndata: a\n\n: ping\n\n", [b"a"], id="comments"),
    pytest.param(b"id: 4\nretry: 9\nfoo: x\nbar\ndata: a\n\n", [b"a"], id="other-fields"),
    pytest.param(b"data\n\n", [b""], id="field-without-colon"),
    pytest.param(b"event: x\n\ndata: a\n\n", [b"a"], id="event-without-data-is-none"),
    pytest.param(b"data: a\n\ndata: cut off", [b"a"], id="cut-off-event-is-discarded"),
    pytest.param(b"data: a\n\ndata: cut off\n", [b"a"], id="event-without-blank-line-is-discarded"),
    pytest.param(b"\xef\xbb\xbfdata: a\n\n", [b"a"], id="byte-order-mark"),
    pytest.param("data: 中\u2028\n\n".encode(), ["中\u2028".encode()], id="unicode-line-separator-ends-no-line"),
    pytest.param(b"", [], id="empty"),
]


@pytest.mark.parametrize("size", [None, 1, 2, 3])
@pytest.mark.parametrize(("stream", "expected"), CASES)
def test_events_follow_the_rules(stream: bytes, expected: list[bytes], size: int | None) -> None:
    assert data_of(stream, size) == expected


def test_type_of_event_is_kept_and_reset() -> None:
    stream = b"event: error\ndata: a\n\ndata: b\n\n"
    assert [event.type for event in events([Chunk(0.0, stream)])] == ["error", "message"]


def test_event_is_stamped_by_the_bytes_that_complete_it() -> None:
    parser = EventParser()
    assert list(parser.feed(Chunk(1.0, b"data: a\n"))) == []
    (event,) = parser.feed(Chunk(2.0, b"\ndata: b"))
    assert (event.at, event.data) == (2.0, b"a")


PIECES = st.sampled_from([b"data", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"event", b"x", "中".encode(), b"\xef"])


@given(st.lists(PIECES, max_size=30).map(b"".join), st.data())
def test_any_split_of_the_bytes_gives_the_same_events(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    edges = [0, *cuts, len(stream)]
    parts = [stream[start:end] for start, end in itertools.pairwise(edges)]
    split = [(event.type, event.data) for event in events(Chunk(0.0, part) for part in parts)]
    whole = [(event.type, event.data) for event in events([Chunk(0.0, stream)])]
    assert split == whole
