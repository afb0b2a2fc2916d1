"""A TCP forwarder: what arrives at a socket of one network namespace goes out in another.

A socket stays in the namespace it was made in. So a listening socket made on the machine's loopback and handed to a
process of the deployment gives clients on the machine an address, while connections leave inside the deployment.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with 0 s: close sends RST


class _End(asyncio.Protocol):
    """One side of a connection: gives what it gets to the other side at once."""

    def __init__(self, other: _End | None = None) -> None:
        self.other = other
        self.transport: asyncio.Transport | None = None
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        if self.other and self.other.transport:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        self.ended = True
        if self.other is None or self.other.transport is None:
            return False
        if self.other.ended:
            self.other.transport.close()
            return False
        self.other.transport.write_eof()
        return True  # half-closed: the other direction may still carry data

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other and self.other.transport:
            if isinstance(exc, ConnectionResetError):
                reset(self.other.transport)
            self.other.transport.close()


class _Client(_End):
    """The client's side: opens the other one, and refuses the client when nobody listens there."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__()
        self._target = (host, port)
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        self.transport.pause_reading()
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        assert self.transport is not None
        try:
            _, server = await asyncio.get_running_loop().create_connection(lambda: _End(self), *self._target)
        except OSError:
            reset(self.transport)
            self.transport.abort()
            return
        self.other = server
        if self.transport.is_closing():
            assert server.transport is not None
            server.transport.close()
        else:
            self.transport.resume_reading()


def reset(transport: asyncio.Transport) -> None:
    """Let the coming close of a connection reach the peer as a reset, as a dead server's would."""
    with contextlib.suppress(OSError):
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


async def forward(listener: socket.socket, host: str, port: int) -> asyncio.Server:
    """Forward every connection accepted by ``listener`` to ``host:port``, as seen from this process."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: _Client(host, port), sock=listener, backlog=512)
