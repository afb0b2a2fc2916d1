"""The forwarder gives every byte to the other side, and lets each side feel how the other ended."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from shakedown.embedded.forwarder import forward

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def forwarded(handler: Handler) -> AsyncIterator[tuple[str, int]]:
    """Address of a forwarder in front of a server with that handler."""
    target = await asyncio.start_server(handler, "127.0.0.1", 0)
    listener = socket.create_server(("127.0.0.1", 0))
    server = await forward(listener, *target.sockets[0].getsockname())
    try:
        yield server.sockets[0].getsockname()
    finally:
        server.close()
        target.close()


async def echo_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with everything that came, once the client has said that there is no more."""
    writer.write(await reader.read())
    writer.close()
    await writer.wait_closed()


async def test_every_byte_arrives_in_order_in_both_directions() -> None:
    sent = bytes(range(256)) * 40_000  # 10 MB, far more than all buffers on the way
    async with forwarded(echo_all) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        writer.write_eof()
        assert await reader.read() == sent
        writer.close()
        await writer.wait_closed()


async def test_a_slow_reader_slows_the_sender_down() -> None:
    progress = 0

    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal progress
        for _step in range(200):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
            progress += 1
        writer.close()

    async with forwarded(pour) as address:
        reader, writer = await asyncio.open_connection(*address, limit=1024)
        await asyncio.sleep(0.5)
        assert progress < 100, "200 MB went into buffers although nobody read"
        while await reader.read(1_000_000):
            pass
        assert progress == 200
        writer.close()
        await writer.wait_closed()


async def test_a_first_byte_does_not_wait_for_the_second() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"1")
        await reader.readexactly(1)
        writer.write(b"2")
        writer.close()
        await writer.wait_closed()

    async with forwarded(drip) as address, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection(*address)
        assert await reader.readexactly(1) == b"1"
        writer.write(b"?")
        assert await reader.read() == b"2"
        writer.close()
        await writer.wait_closed()


async def test_a_server_that_is_not_there_refuses_the_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        nowhere = unused.getsockname()
    server = await forward(socket.create_server(("127.0.0.1", 0)), *nowhere)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    server.close()


async def test_a_client_that_leaves_is_seen_by_the_server() -> None:
    left = asyncio.Event()

    async def notice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        await reader.read()
        left.set()
        writer.close()

    async with forwarded(notice) as address, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection(*address)
        await reader.readexactly(5)
        writer.close()
        await left.wait()


async def test_many_connections_do_not_mix() -> None:
    async def ask(address: tuple[str, int], number: int) -> bool:
        reader, writer = await asyncio.open_connection(*address)
        sent = f"{number} ".encode() * 1000
        writer.write(sent)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer == sent

    async with forwarded(echo_all) as address:
        assert all(await asyncio.gather(*(ask(address, number) for number in range(100))))
