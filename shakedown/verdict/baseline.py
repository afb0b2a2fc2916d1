"""Recorded runs of one scenario on one deployment, as a file that is read, reviewed and committed.

It lies in the state folder of the deployment, by default ``reports/baselines/NAME``. It grows only when it is asked to,
one run at a time, and only by runs that are equal work on equal software.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from shakedown.errors import BaselineError
from shakedown.load.metrics import Metrics

FILE_VERSION = 1
DIGITS = 6


class RecordedRun(BaseModel):
    """One run.

    Attributes:
        recorded: when it was added, UTC.
        source: what tells it from every other run (its seed, the stamp of its start): a run counts once.
        values: metric name -> value; units stand in the names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    recorded: datetime
    source: str
    values: dict[str, FiniteFloat]


class Baseline(BaseModel):
    """All recorded runs of a scenario.

    Attributes:
        conditions: what must be equal for two runs to be compared: load, model, engine.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = FILE_VERSION
    deployment: str
    scenario: str
    conditions: dict[str, str]
    runs: tuple[RecordedRun, ...] = Field(min_length=1)

    def history(self, metric: str) -> list[float]:
        """The values of one metric, oldest first; runs that lack it are left out."""
        return [run.values[metric] for run in self.runs if metric in run.values]

    def differs_in(self, conditions: Mapping[str, str]) -> list[str]:
        """The conditions that are not equal, for people."""
        names = sorted(self.conditions.keys() | conditions.keys())
        return [
            f"{name} was {self.conditions.get(name, '(unset)')}, is {conditions.get(name, '(unset)')}"
            for name in names
            if self.conditions.get(name) != conditions.get(name)
        ]


def load_baseline(file: Path) -> Baseline | None:
    """The baseline in that file, None if there is none.

    Raises:
        BaselineError: there is one and it cannot be used.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{file} cannot be read: {error}") from error
    try:
        baseline = Baseline.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BaselineError(f"{file}: {where}: {first['msg']}; restore it from git, or move it away") from error
    if baseline.version != FILE_VERSION:
        raise BaselineError(f"{file}: version {baseline.version}; this suite reads version {FILE_VERSION}")
    return baseline


def recorded_run(metrics: Metrics, source: str) -> RecordedRun:
    """A run as it is recorded: every metric that has a value and a direction."""
    values = {
        name: float(f"{metric.value:.{DIGITS}g}")
        for name, metric in metrics.items()
        if metric.value is not None and metric.better != "none"
    }
    return RecordedRun(recorded=datetime.now(UTC).replace(microsecond=0), source=source, values=values)


def extend(file: Path, baseline: Baseline) -> Baseline:
    """Write the runs of ``baseline`` behind those that the file holds, if any; a run already there is not added.

    Raises:
        BaselineError: the file holds runs under other conditions, or of another deployment or scenario.
    """
    known = load_baseline(file)
    if known is not None:
        _refuse_stranger(file, known, baseline)
        old = {run.source for run in known.runs}
        baseline = known.model_copy(
            update={"runs": (*known.runs, *(run for run in baseline.runs if run.source not in old))}
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".json.new")
    draft.write_text(baseline.model_dump_json(indent=2) + "\n", encoding="utf-8")
    draft.replace(file)
    return baseline


def _refuse_stranger(file: Path, known: Baseline, new: Baseline) -> None:
    if (known.deployment, known.scenario) != (new.deployment, new.scenario):
        raise BaselineError(
            f"{file} belongs to {known.deployment}/{known.scenario}, not {new.deployment}/{new.scenario}"
        )
    differences = known.differs_in(new.conditions)
    if differences:
        raise BaselineError(
            f"{file} was recorded under other conditions: {'; '.join(differences)}. Move it away to begin a new record."
        )
