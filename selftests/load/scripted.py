"""A server that plays back bytes at given times, and remembers when it really wrote them.

It runs in a thread of this process: stamps of both sides are of one clock.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Script = Sequence[tuple[float, bytes]]
"""(s after the request was read, bytes to write); no bytes drop the connection."""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(slots=True)
class Served:
    """What one server saw.

    Attributes:
        writes: per request, in order of their coming: the stamps of its writes, s.
        read: per request: when it was read, s.
        connections: opened in all.
        most_at_once: requests in flight at the same time.
    """

    url: str = ""
    writes: list[list[float]] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    connections: int = 0
    in_flight: int = 0
    most_at_once: int = 0


def chunked(script: Script) -> Script:
    """An event stream as HTTP chunks, with its head and its end."""
    body = [(at, b"%x\r\n%s\r\n" % (len(data), data)) for at, data in script]
    last = body[-1][0] if body else 0.0
    return [(0.0, HEAD), *body, (last, b"0\r\n\r\n")]


@contextmanager
def scripted_server(answer: Callable[[int], Script]) -> Iterator[Served]:
    """Serve ``answer(n)`` to the n-th request, on a free port of the loopback."""
    served = Served()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def call(coroutine: Awaitable[Any]) -> Any:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(_awaited(coroutine), loop)
        return future.result(timeout=10)

    server = call(asyncio.start_server(lambda r, w: _connection(r, w, served, answer), "127.0.0.1", 0))
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        call(_stop(server))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()


async def _awaited(coroutine: Awaitable[Any]) -> Any:
    return await coroutine


async def _stop(server: asyncio.Server) -> None:
    server.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, served: Served, answer: Callable[[int], Script]
) -> None:
    served.connections += 1
    try:
        while await _exchange(reader, writer, served, answer):
            pass
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, served: Served, answer: Callable[[int], Script]
) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    served.bodies.append(json.loads(await reader.readexactly(length)))
    stamps: list[float] = []
    served.writes.append(stamps)
    began = time.perf_counter()
    served.read.append(began)
    served.in_flight += 1
    served.most_at_once = max(served.most_at_once, served.in_flight)
    try:
        for at, data in answer(len(served.writes) - 1):
            await asyncio.sleep(max(0.0, began + at - time.perf_counter()))
            if not data:
                return False
            stamps.append(time.perf_counter())
            writer.write(data)
            await writer.drain()
        return True
    finally:
        served.in_flight -= 1
