"""A follower: tells what a node writes, counts and runs, until nobody listens any more."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol

from shakedown.launch.scripts.channel import Channel, Gone
from shakedown.launch.scripts.docker import Container
from shakedown.launch.scripts.files import Files
from shakedown.launch.scripts.kernel import Kernel
from shakedown.launch.scripts.link import Link
from shakedown.launch.scripts.printed import Printed
from shakedown.launch.scripts.processes import Processes
from shakedown.launch.scripts.samples import Samples
from shakedown.launch.scripts.sieve import Sieve

EVERY_S = 0.1
"""Between two looks: a crash must be known within a second."""


class Source(Protocol):
    """Anything that is looked at again and again."""

    def poll(self, now: float) -> bool:
        """Send what is new; whether there is more at once."""


def main() -> None:
    """Say that this side is there, answer pings, and follow what the first order says."""
    channel = Channel()
    with contextlib.suppress(Gone), contextlib.ExitStack() as ends:
        channel.send("ready", zone=time.localtime().tm_gmtoff, python=sys.version.split()[0], pid=os.getpid())
        sources: list[Source] = []
        busy = False
        while True:
            until = time.monotonic() + (0.0 if busy else EVERY_S)
            for message in channel.serve(until):
                if "ping" in message:
                    channel.send("pong", ping=message["ping"], at=time.time())
                else:
                    sources = sources_of(channel, message, ends)
            busy = False
            for source in sources:
                busy |= not channel.full and source.poll(time.monotonic())


def sources_of(channel: Channel, order: Mapping[str, Any], ends: contextlib.ExitStack) -> list[Source]:
    """What the order names.

    Args:
        channel: where everything goes.
        order: ``words`` of the sieve, ``positions`` by key as they were sent, ``files`` as pairs of stream and path,
            ``processes`` (whether), ``port`` or null, ``interface`` or null, ``hcas``, ``kernel`` (whether),
            ``container`` as name and stream of what it prints, or null.
        ends: what must be closed at the end.
    """
    sieve = Sieve.of_node(order["words"])
    positions = dict(order["positions"])
    own = {key: positions.pop(key, None) for key in ("kernel", "container", "printed", "link")}
    processes = Processes(channel, order["port"]) if order["processes"] else None
    sources: list[Source] = [Samples(channel, order["interface"], order["hcas"], processes)]
    if order["interface"]:
        sources.append(Link(channel, order["interface"]))
    if order["container"]:
        name, stream = order["container"]
        container = Container(channel, name, own["container"])
        printed = Printed(channel, sieve, stream, container, own["printed"])
        ends.callback(container.close)
        ends.callback(printed.close)
        sources += [container, printed]
    if order["kernel"]:
        kernel = Kernel(channel, sieve, own["kernel"])
        ends.callback(kernel.close)
        sources.append(kernel)
    return [*sources, Files(channel, sieve, order["files"], positions)]
