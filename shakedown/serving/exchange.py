"""One request and every byte that came back, with the time at which it came; also as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

FailureKind = Literal["no connection", "timeout", "cut off"]


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be sent.

    Attributes:
        method: ``GET`` or ``POST``.
        path: from the server's root, e.g. ``/v1/models``.
        body: what is sent as JSON; None sends no body.
        deadline_s: whole exchange, from connecting to the last byte, s.
        about: what a judge must know that the body does not say (expected answer, nonce); JSON, kept with the bytes.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    deadline_s: float = 10.0
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def streamed(self) -> bool:
        """Whether the answer is asked for as server-sent events."""
        return bool(self.body and self.body.get("stream"))


@dataclass(frozen=True, slots=True)
class Arrival:
    """Bytes as one read gave them.

    Attributes:
        at_s: since the request was sent, s, monotonic.
        data: the bytes.
    """

    at_s: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an exchange has no complete response."""

    kind: FailureKind
    detail: str


@dataclass(frozen=True)
class Exchange:
    """A request with whatever came back. Errors are part of it: nothing about an exchange is hidden or retried.

    Attributes:
        name: its name in the plan, unique in a corpus.
        request: what was sent, without credentials.
        sent_at: UTC, ISO 8601.
        status: None where no status line came.
        headers: of the response, names in lower case.
        arrivals: every read of the body, in order.
        elapsed_s: from sending to the last byte or the failure, s.
        failure: None where the response is complete.
    """

    name: str
    request: Request
    sent_at: str
    status: int | None
    headers: Mapping[str, str]
    arrivals: tuple[Arrival, ...]
    elapsed_s: float
    failure: Failure | None = None

    @cached_property
    def body(self) -> bytes:
        """All bytes of the body."""
        return b"".join(arrival.data for arrival in self.arrivals)

    @property
    def text(self) -> str:
        """The body as text; what is not UTF-8 is shown as a replacement character."""
        return self.body.decode("utf-8", "replace")

    @cached_property
    def json(self) -> Any:
        """The body as JSON; None where it is none. ``NaN`` and its kin are read as floats, as most clients do."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def problem(self) -> str | None:
        """What keeps this from being a complete answer with status 200; None where nothing does."""
        if self.failure:
            return f"{self.failure.kind} after {self.elapsed_s:.1f} s: {self.failure.detail}"
        if self.status != 200:
            return f"HTTP {self.status}: {shortened(self.text)}"
        return None

    def to_json(self) -> str:
        """One line of a corpus file; every byte survives the way there and back."""
        request = self.request
        return json.dumps(
            {
                "name": self.name,
                "request": {
                    "method": request.method,
                    "path": request.path,
                    "body": request.body,
                    "deadline_s": request.deadline_s,
                    "about": request.about,
                },
                "sent_at": self.sent_at,
                "status": self.status,
                "headers": dict(self.headers),
                "arrivals": [[arrival.at_s, _as_text(arrival.data)] for arrival in self.arrivals],
                "elapsed_s": self.elapsed_s,
                "failure": [self.failure.kind, self.failure.detail] if self.failure else None,
            }
        )

    @classmethod
    def from_json(cls, line: str) -> Exchange:
        """Read a line that :meth:`to_json` wrote."""
        record = json.loads(line)
        return cls(
            name=record["name"],
            request=Request(**record["request"]),
            sent_at=record["sent_at"],
            status=record["status"],
            headers=record["headers"],
            arrivals=tuple(Arrival(at_s, _as_bytes(text)) for at_s, text in record["arrivals"]),
            elapsed_s=record["elapsed_s"],
            failure=Failure(*record["failure"]) if record["failure"] else None,
        )


def shortened(text: str, limit: int = 160) -> str:
    """One line of at most ``limit`` characters, for a finding."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
