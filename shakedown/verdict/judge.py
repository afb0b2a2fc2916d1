"""What can be said of one measurement: whether it is valid, its limits, its record; and how the record grows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shakedown.errors import DeploymentFileError
from shakedown.inventory.model import Slo
from shakedown.load.cold_start import SCENARIO as START
from shakedown.load.metrics import Metrics
from shakedown.load.scenario import SHORT
from shakedown.verdict.baseline import Baseline, extend, load_baseline, recorded_run
from shakedown.verdict.gate import Judgement, Verdict, against_limit, against_record

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "PF-02": ("ttft_s", "first_answer_s"),
    "PF-03": ("tpot_s", "chunk_gap_s"),
    "PF-04": ("output_tokens_per_s", "requests_per_s", "e2e_s", "client_cpu_s_per_request", "loop_lag_s"),
    "PF-07": ("longest_gap_s",),
}
"""Check -> first parts of the names of the metrics that it shows and whose limits it holds. A limit in ``[[slo]]`` that
no check would hold is refused, not passed over."""

SCENARIOS = (*(scenario.name for scenario in SHORT), START)

WORST_FIRST = (Verdict.FAIL, Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.PASS)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of one scenario.

    Attributes:
        scenario: name.
        metrics: by name.
        source: what tells this run from every other.
        conditions: what must be equal for two runs to be compared.
        invalid: reasons for which nothing of it may be judged.
        gated: metrics that are held against the record.
        troubles: what went wrong with single requests, for people.
        variant: what keeps its record apart from that of other runs of its scenario; part of the file's name.
        unlike: why no record can be compared with it; limits hold all the same.
    """

    scenario: str
    metrics: Metrics
    source: str
    conditions: Mapping[str, str]
    invalid: tuple[str, ...]
    gated: tuple[str, ...]
    troubles: tuple[str, ...] = ()
    variant: str = ""
    unlike: str = ""

    @property
    def record(self) -> str:
        """Name of its record."""
        return "-".join(filter(None, (self.scenario, self.variant)))

    @property
    def limitable(self) -> list[str]:
        """The metrics on which ``[[slo]]`` may set a limit: those that some check holds."""
        held = {family for families in FAMILIES.values() for family in families}
        return [name for name in self.metrics if self.scenario == START or name.partition(".")[0] in held]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What was concluded about some metrics of a measurement.

    Attributes:
        judgements: one for each limit and each comparison.
        invalid: reasons for which there are none.
        unrecorded: why nothing was compared with a record; empty if it was.
    """

    judgements: tuple[Judgement, ...]
    invalid: tuple[str, ...] = ()
    unrecorded: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The worst of all; None where there was nothing to judge against."""
        if self.invalid:
            return Verdict.INVALID
        seen = {judgement.verdict for judgement in self.judgements}
        return next((verdict for verdict in WORST_FIRST if verdict in seen), None)

    def of(self, verdict: Verdict) -> tuple[Judgement, ...]:
        """The judgements with that verdict."""
        return tuple(judgement for judgement in self.judgements if judgement.verdict is verdict)


class Judge:
    """Holds measurements of one deployment against limits and records.

    Args:
        deployment: its name.
        slos: limits of its file.
        folder: where its baselines lie.
        record: add every valid run that is not slower than the record to it.
        suffix: of file names, where runs of another size are kept apart.

    Raises:
        DeploymentFileError: a limit on a scenario that is never run.
    """

    def __init__(self, deployment: str, slos: Sequence[Slo], folder: Path, *, record: bool, suffix: str = "") -> None:
        for slo in slos:
            if slo.scenario not in SCENARIOS:
                raise DeploymentFileError(
                    f"[[slo]]: there is no scenario {slo.scenario!r}; there are: {', '.join(SCENARIOS)}"
                )
        self._deployment = deployment
        self._slos = slos
        self._folder = folder
        self._record = record
        self._suffix = suffix
        self._records: dict[str, tuple[Baseline | None, str]] = {}

    def opinion(self, measured: Measurement, *, gated: Iterable[str], families: Iterable[str]) -> Opinion:
        """Judge some metrics of a measurement.

        Args:
            measured: the measurement.
            gated: names of metrics to hold against the record.
            families: names of metrics, or first parts of them (``ttft_s``), whose limits in ``[[slo]]`` are held here.

        Raises:
            DeploymentFileError: a limit on a metric that the scenario does not have.
            BaselineError: the record cannot be used.
        """
        if measured.invalid:
            return Opinion((), invalid=measured.invalid)
        judgements = list(self._limits(measured, tuple(families)))
        gated = tuple(gated)
        if not gated:
            return Opinion(tuple(judgements))
        if measured.unlike:
            return Opinion(tuple(judgements), unrecorded=measured.unlike)
        baseline, note = self._recorded(measured)
        if baseline is not None:
            judgements += _compared(measured, baseline, gated)
        return Opinion(tuple(judgements), unrecorded=note)

    def file_of(self, record: str) -> Path:
        """Where a record lies."""
        return self._folder / f"{record}{self._suffix}.json"

    def _limits(self, measured: Measurement, families: tuple[str, ...]) -> Iterable[Judgement]:
        for slo in self._slos:
            if slo.scenario != measured.scenario:
                continue
            if slo.metric not in measured.limitable:
                known = ", ".join(sorted(measured.limitable))
                raise DeploymentFileError(
                    f"[[slo]] of {slo.scenario}: no limit can be set on {slo.metric!r}; allowed: {known}"
                )
            if slo.metric in families or slo.metric.partition(".")[0] in families:
                yield against_limit(measured.metrics[slo.metric], highest=slo.max, lowest=slo.min)

    def _recorded(self, measured: Measurement) -> tuple[Baseline | None, str]:
        """The record as it was before this run, and a note if there was none; this run is added once."""
        if measured.record not in self._records:
            before = load_baseline(self.file_of(measured.record))
            self._records[measured.record] = (before, self._grown(measured, before))
        return self._records[measured.record]

    def _grown(self, measured: Measurement, before: Baseline | None) -> str:
        name, scenario = measured.record, measured.scenario
        if not self._record:
            return "" if before else f"no baseline for {name}: record one with --record-baseline{self._older(measured)}"
        if before is not None and any(
            judgement.verdict is Verdict.FAIL for judgement in _compared(measured, before, measured.gated)
        ):
            return ""  # a worse run never becomes part of the record; the comparison itself fails
        run = recorded_run(measured.metrics, measured.source)
        after = extend(
            self.file_of(name),
            Baseline(deployment=self._deployment, scenario=scenario, conditions=dict(measured.conditions), runs=(run,)),
        )
        runs = len(after.runs)
        return "" if before else f"baseline for {name} recorded ({runs} run): there was nothing to compare with yet"

    def _older(self, measured: Measurement) -> str:
        """A record from before the variants of a scenario were told apart may hold any of them."""
        older = self.file_of(measured.scenario)
        if not measured.variant or not older.exists():
            return ""
        return f" ({older} does not tell such starts from others, so nothing is compared with it: it can go)"


def _compared(measured: Measurement, baseline: Baseline, gated: Iterable[str]) -> list[Judgement]:
    differences = baseline.differs_in(measured.conditions)
    if differences:
        found = f"this run is not equal to the record: {'; '.join(differences)}"
        return [Judgement(name, Verdict.INVALID, found, "equal load, model and engine") for name in gated]
    return [
        against_record(measured.metrics[name], history)
        for name in gated
        if (history := baseline.history(name)) and name in measured.metrics
    ]
