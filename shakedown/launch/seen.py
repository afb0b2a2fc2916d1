"""One node, as far as a watch knows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from shakedown.inventory.model import Node
from shakedown.launch.events import Contact, Counter, Opened, Stream
from shakedown.launch.limits import Limits
from shakedown.launch.lives import Lives
from shakedown.launch.signs import Signs

_RATES = (
    (Counter.READ, "reads {:.2g} GB/s", 1e9, 0.01),
    (Counter.FABRIC, "fabric {:.2g} GB/s", 1e9, 0.01),
    (Counter.RDMA, "RDMA {:.2g} GB/s", 1e9, 0.01),
    (Counter.CPU, "{:.1f} processors", 1.0, 0.1),
)
"""Counter, words, unit, and the least that is told."""


@dataclass(slots=True)
class Seen:
    """What is known.

    Attributes:
        signs: its counters.
        lives: its processes.
        contact: the last word about the connection; None before the first.
        missing: logs that cannot be read, by kind and source, with why.
    """

    signs: Signs
    lives: Lives
    contact: Contact | None = None
    missing: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, node: Node, limits: Limits) -> Seen:
        """A node of which nothing is known."""
        return cls(Signs(limits), Lives(node.name))

    @property
    def reached(self) -> bool:
        """Whether it answers."""
        return self.contact is not None and self.contact.reached

    @property
    def activity(self) -> str:
        """What its counters show now, in words; empty where nothing moves or nothing is known."""
        rates = self.signs.rates
        shown = [
            words.format(rates[counter] / unit)
            for counter, words, unit, least in _RATES
            if rates.get(counter, 0.0) / unit >= least
        ]
        return ", ".join(shown) if self.reached else ""

    def opened(self, event: Opened) -> None:
        """Take in that a log can be read, or cannot; before there are workers, they have no logs."""
        if event.stream is Stream.WORKER:
            return
        key = (event.stream.value, event.source)
        if event.there:
            self.missing.pop(key, None)
        else:
            self.missing[key] = event.why
