"""What is known of one request: stamps, what each arrival carried, how it ended. Nothing here is rounded or averaged.

All times are ``time.perf_counter()`` of the client, in seconds: monotonic, so that a clock step of the machine cannot
become a latency, and comparable only within one process.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, StrEnum, auto


class Status(StrEnum):
    """How a request ended.

    ``ok``: HTTP 200, a finish reason for each choice, no error object. ``[DONE]`` proves nothing.
    ``failed``: refused or broken: connection, HTTP status, error object, a finish reason that says error.
    ``incomplete``: began to answer and stopped before each choice had a finish reason.
    ``cancelled``: ended by this client (deadline, interrupt); says nothing about the server.
    """

    OK = "ok"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class Carries(Flag):
    """What one event carried. Role-only and empty deltas carry ``NOTHING``: they are no token."""

    NOTHING = 0
    REASONING = auto()
    ANSWER = auto()
    TOOL_CALL = auto()
    FINISH = auto()
    USAGE = auto()
    ERROR = auto()
    DONE = auto()


TOKEN = Carries.REASONING | Carries.ANSWER | Carries.TOOL_CALL
"""Text that the model produced: reasoning, answer, and the name or arguments of a tool call."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One event of an answer.

    Attributes:
        at: arrival of the bytes that completed it, s.
        carries: what was in it.
        tokens_so_far: ``usage.completion_tokens`` of this event, where the server counts along (it is asked to by
            ``stream_options.continuous_usage_stats``); None where it does not.
    """

    at: float
    carries: Carries
    tokens_so_far: int | None = None

    @property
    def has_token(self) -> bool:
        """True if it carried text of the model."""
        return bool(self.carries & TOKEN)


@dataclass(frozen=True, slots=True)
class Usage:
    """The server's own count, the only one that is right whatever the chunks look like. Unit: tokens."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request, from the moment it was due to the moment nothing more came.

    Attributes:
        index: position in the workload.
        scheduled: when it was due: in a closed loop when its user became free, s.
        sent: when its first byte was handed to the connection, s; None if it never got that far.
        connection_reused: False where opening a connection came before ``sent``.
        headers: arrival of the response headers, s.
        first_byte: arrival of the first byte of the body, s.
        ended: when nothing more came: end of the body, error or cancellation, s.
        http_status: None where no response began.
        status: see `Status`.
        why: for people: what made it fail; empty if it did not.
        arrivals: every event, in order.
        finish_reasons: one per choice, by index of the choice.
        usage: the last one the server sent.
    """

    index: int
    scheduled: float
    sent: float | None
    connection_reused: bool
    headers: float | None
    first_byte: float | None
    ended: float
    http_status: int | None
    status: Status
    why: str
    arrivals: tuple[Arrival, ...]
    finish_reasons: tuple[str, ...]
    usage: Usage | None

    @property
    def tokens(self) -> tuple[Arrival, ...]:
        """The arrivals that carried text of the model."""
        return tuple(arrival for arrival in self.arrivals if arrival.has_token)

    def first(self, kind: Carries) -> float | None:
        """Arrival of the first event that carried any of ``kind``, s; None if none did."""
        return next((arrival.at for arrival in self.arrivals if arrival.carries & kind), None)

    @property
    def finish(self) -> float | None:
        """Arrival of the last event that carried a token or a finish reason, s: a late usage event is no decoding."""
        stamps = [arrival.at for arrival in self.arrivals if arrival.carries & (TOKEN | Carries.FINISH)]
        return stamps[-1] if stamps else None
