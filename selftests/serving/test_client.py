"""The client against a socket that behaves and misbehaves: what came is kept, what went wrong is data."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from shakedown.errors import EvidenceError
from shakedown.serving.client import Client
from shakedown.serving.corpus import Corpus
from shakedown.serving.exchange import Exchange, Request

Reply = Callable[[asyncio.StreamWriter, bytes], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nset-cookie: a=b\r\nconnection: close\r\n"


@contextlib.asynccontextmanager
async def serving(reply: Reply) -> AsyncIterator[str]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        await reply(writer, request)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def ask(reply: Reply, *, key: str | None = None, deadline_s: float = 5.0) -> Exchange:
    async with serving(reply) as url, Client(url, key) as client:
        return await client.send("group/one", Request("GET", "/x", deadline_s=deadline_s))


async def test_every_read_is_kept_with_its_time() -> None:
    async def reply(writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(HEAD + b"content-length: 6\r\n\r\nabc")
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.write(b"def")

    exchange = await ask(reply)
    assert [arrival.data for arrival in exchange.arrivals] == [b"abc", b"def"]
    assert exchange.arrivals[1].at_s - exchange.arrivals[0].at_s >= 0.05
    assert exchange.problem is None
    assert exchange.headers["content-type"] == "application/json"


async def test_an_error_status_is_an_answer() -> None:
    async def reply(writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(b"HTTP/1.1 500 Oops\r\ncontent-length: 4\r\nconnection: close\r\n\r\nboom")

    exchange = await ask(reply)
    assert exchange.status == 500
    assert exchange.problem == "HTTP 500: boom"


async def test_a_body_that_is_cut_off_is_told_with_what_came() -> None:
    async def reply(writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(HEAD + b"content-length: 60\r\n\r\nabc")

    exchange = await ask(reply)
    assert exchange.failure is not None
    assert exchange.failure.kind == "cut off"
    assert exchange.body == b"abc"


async def test_silence_ends_at_the_deadline() -> None:
    async def reply(_writer: asyncio.StreamWriter, _: bytes) -> None:
        await asyncio.sleep(1)

    exchange = await ask(reply, deadline_s=0.2)
    assert exchange.failure is not None
    assert exchange.failure.kind == "timeout"
    assert exchange.elapsed_s < 0.9


async def test_nobody_there() -> None:
    async with Client("http://127.0.0.1:9") as client:
        exchange = await client.send("group/one", Request("GET", "/x"))
    assert exchange.failure is not None
    assert exchange.failure.kind == "no connection"
    assert exchange.status is None


async def test_the_key_is_sent_and_never_kept() -> None:
    seen = b""

    async def reply(writer: asyncio.StreamWriter, request: bytes) -> None:
        nonlocal seen
        seen = request
        writer.write(HEAD + b"x-echo: Bearer s3cret\r\ncontent-length: 14\r\n\r\nkey=s3c")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(b"ret end")

    exchange = await ask(reply, key="s3cret")
    assert b"authorization: bearer s3cret" in seen.lower()
    assert "s3cret" not in exchange.to_json()
    assert exchange.body == b"key=[redacted] end"
    assert exchange.headers["x-echo"] == "[redacted]"
    assert exchange.headers["set-cookie"] == "[redacted]"


async def test_no_more_in_flight_than_asked() -> None:
    now, most = 0, 0

    async def reply(writer: asyncio.StreamWriter, _: bytes) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.03)
        now -= 1
        writer.write(HEAD + b"content-length: 2\r\n\r\n{}")

    plan = {f"group/{number}": Request("GET", f"/{number}") for number in range(12)}
    async with serving(reply) as url, Client(url) as client:
        exchanges = await client.send_all(plan, at_once=4)
    assert [exchange.name for exchange in exchanges] == list(plan)
    assert most == 4


async def test_a_corpus_sends_once_and_survives_its_file(tmp_path: Path) -> None:
    sent = 0

    async def reply(writer: asyncio.StreamWriter, _: bytes) -> None:
        nonlocal sent
        sent += 1
        writer.write(HEAD + b"content-length: 4\r\n\r\n\xff\xe6\x9d\n")

    file = tmp_path / "corpus.jsonl.gz"
    corpus = Corpus(file)
    async with serving(reply) as url, Client(url) as client:
        await corpus.send(client, {"a/1": Request("GET", "/1", about={"key": "é"})})
        await corpus.send(client, {"a/1": Request("GET", "/1"), "b/1": Request("GET", "/2")})
    assert sent == 2
    assert Corpus.load(file).exchanges == corpus.exchanges
    assert Corpus.load(file).group("b")[0].body == b"\xff\xe6\x9d\n"
    with pytest.raises(ValueError, match="already"):
        corpus.add(corpus.group("a"))


async def test_an_exchange_is_on_disk_when_it_ends_and_not_when_its_batch_does(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl.gz"
    kept: list[str] = []

    async def reply(writer: asyncio.StreamWriter, request: bytes) -> None:
        if b"/last" in request:
            while not file.exists():  # noqa: ASYNC110 - a file has no event; the request's deadline bounds it
                await asyncio.sleep(0.01)
            kept.extend(exchange.name for exchange in Corpus.load(file).exchanges)
        writer.write(HEAD + b"content-length: 2\r\n\r\n{}")

    corpus = Corpus(file)
    async with serving(reply) as url, Client(url) as client:
        plan = {"a/last": Request("GET", "/last", deadline_s=5.0), "a/first": Request("GET", "/first")}
        sent = await corpus.send(client, plan)
    assert kept == ["a/first"]
    assert [exchange.problem for exchange in sent] == [None, None]
    assert [exchange.name for exchange in corpus.exchanges] == ["a/last", "a/first"]
    assert {exchange.name for exchange in Corpus.load(file).exchanges} == {"a/last", "a/first"}


@pytest.mark.parametrize("content", [b"", b"not gzip", b"\x1f\x8b\x08"], ids=["empty", "text", "cut"])
def test_a_file_that_is_no_corpus_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "corpus.jsonl.gz"
    file.write_bytes(content)
    if not content:
        assert Corpus.load(file).exchanges == ()
        return
    with pytest.raises(EvidenceError, match=r"corpus\.jsonl\.gz"):
        Corpus.load(file)
