"""Whether a run of load measured the server at all. If not it is INVALID: neither passed nor failed.

Each rule names what it found. Requests that failed are the server's doing and fail a check of their own (PF-01); what
is left of such a run is another load than the one asked for, so nothing else is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shakedown.load.engine import LoadRun
from shakedown.load.metrics import Metrics, succeeded, ttft
from shakedown.load.records import RequestRecord, Status
from shakedown.load.workload import Shape

LAG_SHARE = 0.05
"""Mean lag of the client's loop that is borne, as a share of the shortest span that a gated metric is measured over:
up to the first token, or from the first to the last. Medians and rates come out too long by about that share at most,
and it is the smallest effect that ever fails."""

LAG_ALWAYS_BORNE_S = 0.003
"""Below this a mean lag is the timer's grain and the scheduler's slice on a machine that does other things, too."""


def why_invalid(run: LoadRun, metrics: Metrics, shape: Shape, *, roofline: float | None = None) -> list[str]:
    """Reasons for which nothing of this run may be compared; empty if it is valid.

    Args:
        run: as it came from the engine.
        metrics: of that run.
        shape: lengths that were asked for.
        roofline: tokens/s that a single stream cannot exceed on this hardware; None where nobody stated it.
    """
    return [
        *_unfinished(run),
        *_failed(run),
        *_wrong_lengths(run, shape),
        *_missing_tokens(run),
        *_impossible(metrics, roofline),
        *_busy_client(run.health.lags, metrics),
    ]


def _unfinished(run: LoadRun) -> Iterator[str]:
    if len(run.records) < run.asked or any(record.status is Status.CANCELLED for record in run.records):
        ended = sum(record.status is not Status.CANCELLED for record in run.records)
        yield f"cut off by its deadline: {ended} of {run.asked} requests had ended"


def _failed(run: LoadRun) -> Iterator[str]:
    wrong = [record for record in run.records if record.status in (Status.FAILED, Status.INCOMPLETE)]
    if wrong:
        yield f"{len(wrong)} of {len(run.records)} requests failed (PF-01): {wrong[0].why}"


def _wrong_lengths(run: LoadRun, shape: Shape) -> Iterator[str]:
    """Only exact lengths make two runs equal work (``ignore_eos`` not honoured, templates that add tokens)."""
    good = succeeded(run)
    no_usage = [record for record in good if record.usage is None]
    if no_usage:
        yield f"{len(no_usage)} of {len(good)} answers carried no usage: tokens cannot be counted"
    yield from _counted(good, "completion", shape.output_tokens)
    yield from _counted(good, "prompt", shape.input_tokens)


def _counted(good: list[RequestRecord], kind: str, asked: int) -> Iterator[str]:
    counts = [getattr(record.usage, f"{kind}_tokens") for record in good if record.usage is not None]
    wrong = sorted({count for count in counts if count != asked})
    if wrong:
        number = sum(count != asked for count in counts)
        yield f"{number} of {len(counts)} answers had {wrong[0]} to {wrong[-1]} {kind} tokens, {asked} were asked for"


def _missing_tokens(run: LoadRun) -> Iterator[str]:
    good = succeeded(run)
    without = sum(not record.tokens for record in good)
    if without:
        yield f"{without} of {len(good)} answers carried no token at all"
    backwards = sum(value is not None and value <= 0 for value in map(ttft, good))
    if backwards:
        yield f"{backwards} first tokens came before their request was sent"


def _impossible(metrics: Metrics, roofline: float | None) -> Iterator[str]:
    mean, peak = metrics["output_tokens_per_s"].value, metrics["peak_output_tokens_per_s"].value
    if mean is not None and peak is not None and peak < mean * (1 - 1e-9):
        yield f"peak rate {peak:.4g} tokens/s lies below the mean {mean:.4g}: chunks held tokens that nobody counted"
    tpot = metrics["tpot_s.p50"].value
    if roofline is not None and tpot is not None and tpot * roofline < 1:
        yield f"one stream decoded {1 / tpot:.4g} tokens/s; the hardware cannot do more than {roofline:.4g}"


def _busy_client(lags: Sequence[float], metrics: Metrics) -> Iterator[str]:
    """A client that could not keep up would report its own delay as the server's."""
    if not lags:
        yield "the client did not watch its own event loop"
        return
    lag = sum(lags) / len(lags)
    spans = _spans(metrics)
    if spans and lag > max(LAG_ALWAYS_BORNE_S, LAG_SHARE * min(spans)):
        yield (
            f"the client was busy: its event loop woke {lag * 1000:.1f} ms late in the mean while the shortest "
            f"span measured is {min(spans) * 1000:.1f} ms; close other programs or measure from another machine"
        )


def _spans(metrics: Metrics) -> list[float]:
    """Typical time to the first token, and from there to the end, s."""
    first, whole = metrics["ttft_s.p50"].value, metrics["e2e_s.p50"].value
    if first is None or whole is None:
        return []
    return [span for span in (first, whole - first) if span > 0]
