"""The process of a simulator: a socket, a loop, and an end in time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Awaitable, Callable

import uvicorn

from shakedown.simulator.clock import precise_loop
from shakedown.simulator.faults.registry import fault_named
from shakedown.simulator.http import Receive, Scope, Send, read_request, send_response, while_connected
from shakedown.simulator.routes import Routes
from shakedown.simulator.server import Server
from shakedown.simulator.settings import Settings

_BACKLOG = 1024

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def application(settings: Settings) -> Application:
    """The ASGI application of one simulated server."""
    routes = Routes(Server(settings, fault_named(settings.fault)))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = await read_request(scope, receive)

        async def work() -> None:
            await send_response(await routes.answer(request), send)

        await while_connected(work(), receive)

    return app


def serve(settings: Settings, *, host: str, port: int, owned: bool) -> None:
    """Serve until told to stop; says where on standard output, in one line of JSON, when it is ready.

    Args:
        settings: of the server.
        host: address to bind.
        port: 0 for any free one.
        owned: end when standard input does, so that the simulator cannot outlive the process that holds the pipe.
    """
    listener = socket.create_server((host, port), backlog=_BACKLOG)
    # Connections inherit it. asyncio sets it by itself only on sockets made with an explicit protocol; without it every
    # second small write waits for the client's delayed acknowledgement, 40 ms late.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        application(settings),
        lifespan="off",
        ws="none",
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    server = _Announced(config)
    if owned:
        threading.Thread(target=_end_with_owner, args=(server,), daemon=True).start()
    with asyncio.Runner(loop_factory=precise_loop) as runner:
        runner.run(server.serve(sockets=[listener]))


class _Announced(uvicorn.Server):
    """Says where it is as soon as it can be reached."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then speak."""
        await super().startup(sockets)
        host, port = sockets[0].getsockname()[:2] if sockets else ("", 0)
        said = {"port": port, "base_url": f"http://{host}:{port}", "pid": os.getpid()}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def _end_with_owner(server: uvicorn.Server) -> None:
    """Nothing is ever written to standard input: it ends when its other end is closed, by hand or by death."""
    sys.stdin.read()
    server.should_exit = True
    server.force_exit = True
