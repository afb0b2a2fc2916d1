"""One request in the engine, and the company that it finds there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from shakedown.simulator.output import Output


@dataclass(slots=True, eq=False)
class Job:
    """One request in the engine.

    Attributes:
        prompt_ids: the prompt.
        outputs: one for each choice, fixed before the first token.
        family: which task the prompt was recognised as, if any.
        thinking: whether the outputs begin with reasoning.
        arrived: loop time at which its request was seen first.
        scheduled: loop time from which its tokens are due: of its arrival, or of its place if it had to wait for one.
        last_step: loop time at which its last tokens were due.
        tokens_out: tokens of the longest choice that were due so far.
        marks: what a fault remembers about it.
    """

    prompt_ids: Sequence[int]
    outputs: list[Output]
    arrived: float
    family: str | None = None
    thinking: bool = False
    scheduled: float = 0.0
    last_step: float = 0.0
    tokens_out: int = 0
    marks: set[str] = field(default_factory=set)

    @property
    def length(self) -> int:
        """Tokens of the longest choice."""
        return max(len(output.ids) for output in self.outputs)


class Batch(Protocol):
    """What a fault may see of the engine, and the one thing that it may do to it.

    Attributes:
        running: jobs that have a place, in order of admission.
        dead: nothing is generated any more.
    """

    running: list[Job]
    dead: bool
