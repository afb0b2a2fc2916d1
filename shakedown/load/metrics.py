"""The metrics of a run of load, each defined where it is computed. Unit and direction go with every number.

All distributions are over requests that ended ``ok``; what failed is a metric of its own and never a sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from shakedown.load.engine import LoadRun
from shakedown.load.percentiles import percentile
from shakedown.load.records import TOKEN, Carries, RequestRecord, Status
from shakedown.outcomes import Metric

Metrics = Mapping[str, Metric]
"""By name: ``ttft_s.p90``, ``output_tokens_per_s``."""

PERCENTS = (50, 90, 99)


def ttft(record: RequestRecord) -> float | None:
    """Time to first token, s: from the first byte of the request to the first arrival that carries a token.

    Reasoning, answer and tool-call deltas count; role-only and empty ones do not. vLLM sends the role with its first
    engine output, other servers and proxies send it at once: counted, it makes TTFT a round trip.
    """
    first = record.first(TOKEN)
    return None if first is None or record.sent is None else first - record.sent


def first_answer(record: RequestRecord) -> float | None:
    """Time to first answer token, s: as `ttft`, but reasoning does not count: what a reader who hides it waits for."""
    first = record.first(Carries.ANSWER | Carries.TOOL_CALL)
    return None if first is None or record.sent is None else first - record.sent


def tpot(record: RequestRecord) -> float | None:
    """Time per output token after the first, s: (last token - first token) / tokens between the two.

    Tokens by the server's running count where it gives one, so that several tokens in the first chunk, or tokens
    whose text was held back at the end, do not bend it; else by ``usage`` less one.
    """
    tokens = record.tokens
    if len(tokens) < 2 or record.usage is None:
        return None
    first, last = tokens[0], tokens[-1]
    if first.tokens_so_far is not None and last.tokens_so_far is not None:
        between = last.tokens_so_far - first.tokens_so_far
    else:
        between = record.usage.completion_tokens - 1
    return (last.at - first.at) / between if between > 0 else None


def chunk_gaps(record: RequestRecord) -> list[float]:
    """Inter-chunk latency, s: between neighbouring arrivals that carry tokens. Of chunks, not tokens: a server may
    put several tokens in one, so this is what a reader sees and not the speed of decoding.
    """
    return [later.at - earlier.at for earlier, later in pairwise(record.tokens)]


def longest_gap(record: RequestRecord) -> float | None:
    """The longest that this stream stood still between two arrivals with tokens, s; a stall hides in every median."""
    return max(chunk_gaps(record), default=None)


def e2e(record: RequestRecord) -> float | None:
    """End to end, s: from the first byte of the request to the last token or finish reason (not a late usage event)."""
    return None if record.finish is None or record.sent is None else record.finish - record.sent


def succeeded(run: LoadRun) -> list[RequestRecord]:
    """The records that ended ``ok``."""
    return [record for record in run.records if record.status is Status.OK]


def error_ratio(run: LoadRun) -> float:
    """Failed and incomplete requests over requests begun; those that this client cancelled count as begun only."""
    wrong = sum(record.status in (Status.FAILED, Status.INCOMPLETE) for record in run.records)
    return wrong / len(run.records) if run.records else math.nan


def duration(run: LoadRun) -> float:
    """Of the whole run, s: from the first request sent to the last token, ramp and drain included."""
    sent = [record.sent for record in run.records if record.sent is not None]
    finish = [record.finish for record in run.records if record.finish is not None]
    return max(finish) - min(sent) if sent and finish else math.nan


def output_tokens(run: LoadRun) -> int:
    """Completion tokens of the requests that succeeded, by the server's ``usage``."""
    return sum(record.usage.completion_tokens for record in succeeded(run) if record.usage)


def token_arrivals(record: RequestRecord) -> list[tuple[float, int]]:
    """(arrival in s, tokens that came with it): by the server's running count, else one for each chunk with text."""
    if not record.tokens or any(arrival.tokens_so_far is None for arrival in record.tokens):
        return [(arrival.at, 1) for arrival in record.tokens]
    counted: list[tuple[float, int]] = []
    before = 0
    for arrival in record.arrivals:
        if arrival.tokens_so_far is not None and arrival.tokens_so_far > before:
            counted.append((arrival.at, arrival.tokens_so_far - before))
            before = arrival.tokens_so_far
    return counted


def peak_output_tokens_per_s(run: LoadRun) -> float:
    """Highest rate in any of the equal bins of at most 1 s that the run divides into, tokens/s.

    Bins that cover the run exactly cannot all lie below its mean; if they do, tokens arrived that nobody counted.
    """
    arrivals = [pair for record in succeeded(run) for pair in token_arrivals(record)]
    whole = duration(run)
    if not arrivals or not whole > 0:
        return math.nan
    bins = math.ceil(whole)
    start = min(record.sent for record in run.records if record.sent is not None)
    stamps, counts = zip(*arrivals, strict=True)
    filled, _ = np.histogram(stamps, bins=bins, range=(start, start + whole), weights=counts)
    return float(filled.max()) / (whole / bins)


def metrics_of(run: LoadRun) -> Metrics:
    """Every metric of a run by name. What cannot be computed stands there without a value and says why."""
    good = succeeded(run)
    n = len(good)
    whole = duration(run)
    named: list[Metric] = [
        *_distribution("ttft_s", _known(map(ttft, good))),
        *_distribution("first_answer_s", _known(map(first_answer, good))),
        *_distribution("tpot_s", _known(map(tpot, good))),
        *_distribution("chunk_gap_s", [gap for record in good for gap in chunk_gaps(record)]),
        *_distribution("longest_gap_s", _known(map(longest_gap, good))),
        *_distribution("e2e_s", _known(map(e2e, good))),
        _number("output_tokens_per_s", output_tokens(run) / whole, "tokens/s", n, "higher"),
        _number("peak_output_tokens_per_s", peak_output_tokens_per_s(run), "tokens/s", n),
        _number("requests_per_s", n / whole, "requests/s", n, "higher"),
        _number("requests_asked", run.asked, "requests", run.asked),
        _number("requests_ok", n, "requests", run.asked),
        _number("error_ratio", error_ratio(run), "ratio", len(run.records), "lower"),
        _number("client_cpu_s_per_request", run.health.cpu_s / max(1, len(run.records)), "s", len(run.records)),
        *_distribution("loop_lag_s", run.health.lags, better="none"),
    ]
    return {metric.name: metric for metric in named}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _distribution(
    name: str, samples: Sequence[float], *, unit: str = "s", better: Literal["lower", "none"] = "lower"
) -> list[Metric]:
    n = len(samples)
    mean = sum(samples) / n if n else None
    found = [Metric(f"{name}.mean", mean, unit, better, n, "" if n else "no samples")]
    for percent in PERCENTS:
        value = percentile(samples, percent)
        found.append(Metric(f"{name}.p{percent}", value.value, unit, better, n, value.refusal))
    largest = max(samples) if n else None
    return [*found, Metric(f"{name}.max", largest, unit, better, n, "" if n else "no samples")]


def _number(name: str, value: float, unit: str, n: int, better: Literal["lower", "higher", "none"] = "none") -> Metric:
    known = math.isfinite(value)
    return Metric(name, value if known else None, unit, better, n, "" if known else "no request succeeded")
