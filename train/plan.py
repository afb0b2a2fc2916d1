"""What a training run is told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plan:
    """A run, which may be cut into several commands (parts) that each go on where the last one stopped.

    Attributes:
        out: folder for the weights, ``log.jsonl`` and ``run.json``: less than nine files below 16 MB.
        checkpoint: folder for what the next part needs; three times the size of the weights.
        tokenizer: ``tokenizer.json``.
        start: folder with weights to begin with instead of random ones.
        resume: whether to go on from the checkpoint.
        seed: of weights and exercises.
        budget_s: time of learning over all parts, seconds: set-up and validation do not count.
        part_s: time of this command, seconds, everything included.
        most_steps: of the whole run; for trials.
        rows: of a batch.
        row_tokens: length of a row.
        workers: processes that make exercises.
        learning_rate: highest one.
        warmup_s: until it is reached.
        weight_decay: of the matrices.
        balance: weight of the routers' loss of balance.
        clip: greatest norm of a gradient.
        validate_every_s: time of learning between validations.
        validation_items: exercises of each family and mode at a validation; twice as many at the end.
        compiled: whether the step is compiled, which takes a minute and makes it several times as fast.
    """

    out: Path
    checkpoint: Path
    tokenizer: Path
    start: Path | None = None
    resume: bool = False
    seed: int = 1
    budget_s: float = 1500.0
    part_s: float = 560.0
    most_steps: int | None = None
    rows: int = 4
    row_tokens: int = 16_384
    workers: int = 14
    learning_rate: float = 2e-3
    warmup_s: float = 20.0
    weight_decay: float = 0.02
    balance: float = 0.01
    clip: float = 1.0
    validate_every_s: float = 60.0
    validation_items: int = 192
    compiled: bool = True

    @property
    def step_tokens(self) -> int:
        """Tokens of a batch."""
        return self.rows * self.row_tokens

    def rate(self, learned_s: float) -> float:
        """The learning rate: a linear rise, then half a cosine over the budget down to a hundredth."""
        rise = min(1.0, (learned_s + 0.5) / self.warmup_s)
        fall = 0.5 * (1 + math.cos(math.pi * min(1.0, learned_s / self.budget_s)))
        return self.learning_rate * rise * (0.01 + 0.99 * fall)
