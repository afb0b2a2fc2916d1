"""How long the phases of earlier launches took, kept beside the baselines of the deployment, on this machine.

One JSON object a line, appended by every launch that became ready and by no other. Launches are compared only where
model, image, flags and engine version are equal: another quantisation or another graph size is another launch.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeFloat, ValidationError

from shakedown.files import write_atomically
from shakedown.inventory.model import Deployment
from shakedown.launch.eta import Record

FILE = "launches.jsonl"
KEPT = 20
"""Newest launches of one kind that count; older ones tell of an older machine."""

MOST_LINES = 400
"""Length at which the file is cut to what still counts."""


class Kind(BaseModel):
    """What must be equal for two launches to be expected to take the same time.

    Attributes:
        model: folder of the checkpoint.
        image: of the container; "" without one.
        flags: options of the engine that decide how much is loaded, compiled and captured.
        engine: its name and version; "" where that is not known (yet), which is equal to any.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    image: str = ""
    flags: Mapping[str, str] = Field(default_factory=dict)
    engine: str = ""

    def equals(self, other: Kind) -> bool:
        """Whether both are launches of one kind, as far as is known."""
        same = (self.model, self.image, dict(self.flags)) == (other.model, other.image, dict(other.flags))
        return same and (self.engine == other.engine or not self.engine or not other.engine)


class Launched(BaseModel):
    """A launch that became ready.

    Attributes:
        ended: when it was ready, UTC.
        kind: what was launched.
        phases_s: seconds by name of the phase, as `PhaseName` spells it.
        total_s: from its first line to the proof that it generates, s.
        item_s: mean time of a shard, s; None where no bar was seen.
        first_request_s: time of the first request, s; None where it was not asked.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ended: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))
    kind: Kind
    phases_s: Mapping[str, NonNegativeFloat]
    total_s: NonNegativeFloat
    item_s: FiniteFloat | None = None
    first_request_s: NonNegativeFloat | None = None

    def overlaps(self, other: Launched) -> bool:
        """Whether both went on at the same time: one deployment has one start at a time, so they are the same."""
        ours, theirs = (one.ended - timedelta(seconds=one.total_s) for one in (self, other))
        return ours < other.ended and theirs < self.ended


def kind_of(deployment: Deployment, version: str = "") -> Kind:
    """The kind of launch that a deployment file describes, with the engine's version where it has said it."""
    serve, model = deployment.serve, deployment.model
    flags = {
        "tensor_parallel": serve.tensor_parallel,
        "pipeline_parallel": serve.pipeline_parallel,
        "executor": serve.executor,
        "max_model_len": model.max_model_len,
        "max_num_seqs": serve.max_num_seqs,
        "max_num_batched_tokens": serve.max_num_batched_tokens,
        "kv_cache_dtype": serve.kv_cache_dtype,
        "load_format": serve.load_format,
        "enforce_eager": serve.enforce_eager,
    }
    return Kind(
        model=str(model.path),
        image=(deployment.container.image or "") if deployment.container else "",
        flags={name: str(value) for name, value in flags.items() if value is not None},
        engine=f"{serve.engine} {version}" if version else "",
    )


class History:
    """The launches that one deployment has on record.

    Args:
        file: where they are; it need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of(cls, deployment: Deployment) -> History:
        """The one in the deployment's state folder."""
        return cls(deployment.state / FILE)

    def launches(self, kind: Kind) -> tuple[Launched, ...]:
        """Those of that kind, oldest first, the newest `KEPT` of them. A line that cannot be read is passed over."""
        return tuple(launched for launched in self._all() if launched.kind.equals(kind))[-KEPT:]

    def records(self, kind: Kind) -> dict[str, Record]:
        """How long each phase took, by its name."""
        return records_of(self.launches(kind))

    def add(self, launched: Launched) -> None:
        """Append a launch, once, however many have followed it.

        One that is killed at any moment leaves at most one line that is passed over.

        Raises:
            OSError: the folder cannot be written.
        """
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._alone():
            if any(launched.overlaps(other) for other in self._all()):
                return
            line = launched.model_dump_json() + "\n"
            with self._file.open("ab+") as file:
                if file.tell() and not _ends_a_line(file.fileno(), file.tell()):
                    line = "\n" + line
                file.write(line.encode())
            self._shorten()

    def _all(self) -> list[Launched]:
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        return list(_readable(lines))

    def _shorten(self) -> None:
        known = self._all()
        if len(known) <= MOST_LINES:
            return
        kept: list[Launched] = []
        for launched in reversed(known):
            if sum(other.kind == launched.kind for other in kept) < KEPT:
                kept.append(launched)
        text = "".join(launched.model_dump_json() + "\n" for launched in reversed(kept[:MOST_LINES]))
        write_atomically(self._file, text, durable=False)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The folder is locked, since the file itself may be exchanged."""
        descriptor = os.open(self._file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def records_of(launches: Iterable[Launched]) -> dict[str, Record]:
    """How long each phase took in these launches, by its name."""
    seconds: dict[str, list[float]] = {}
    for launched in launches:
        for name, took in launched.phases_s.items():
            seconds.setdefault(name, []).append(took)
    return {name: Record(tuple(values)) for name, values in seconds.items()}


def _readable(lines: Iterable[str]) -> Iterator[Launched]:
    for line in lines:
        try:
            yield Launched.model_validate_json(line)
        except ValidationError:
            continue


def _ends_a_line(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) == b"\n"
