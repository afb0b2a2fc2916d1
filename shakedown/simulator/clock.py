"""Waiting to the tenth of a millisecond."""

from __future__ import annotations

import asyncio
import select
import selectors


class PreciseSelector(selectors.EpollSelector):
    """An epoll selector whose time-outs are not rounded up to whole milliseconds.

    ``epoll_wait`` takes milliseconds, so asyncio wakes up to one millisecond late; ``select`` takes microseconds, and
    an epoll descriptor can itself be waited for.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """The ready descriptors, after at most ``timeout`` seconds."""
        if timeout is not None and timeout > 0:
            select.select([self.fileno()], [], [], timeout)
            timeout = 0
        return super().select(timeout)


def precise_loop() -> asyncio.AbstractEventLoop:
    """An event loop on that selector."""
    return asyncio.SelectorEventLoop(PreciseSelector())


async def sleep_until(due: float) -> None:
    """Until the loop's clock shows ``due``; at once if it already does, after one turn of the loop."""
    await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
