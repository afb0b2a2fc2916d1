"""The engine over real sockets: how many at once, what is kept, and how far its stamps are from the truth."""

from __future__ import annotations

import asyncio
import statistics
import threading
from typing import Any

import pytest

from selftests.load.scripted import Script, chunked, scripted_server
from selftests.load.wire import BODY, steady
from shakedown.load import metrics
from shakedown.load.engine import ClosedLoop, run_load
from shakedown.load.records import Status
from shakedown.load.target import Target

LATE_S = 0.03
"""Slack upwards: two threads of one interpreter on a busy machine. Downwards there is none."""


def healthy(_: int) -> Script:
    return chunked(steady(first=0.05, gap=0.01, n=8))


def bodies(n: int) -> list[dict[str, Any]]:
    return [{"messages": [], "number": number} for number in range(n)]


def target(url: str) -> Target:
    return Target(base_url=url, model="m", api_key="k")


@pytest.mark.parametrize("concurrency", [1, 3])
def test_closed_loop_keeps_exactly_so_many_requests_in_flight(concurrency: int) -> None:
    with scripted_server(healthy) as served:
        run = run_load(target(served.url), bodies(9), ClosedLoop(concurrency, stagger_s=0.0))
    assert served.most_at_once == concurrency
    assert served.connections == concurrency
    assert [record.status for record in run.records] == [Status.OK] * 9
    assert [record.index for record in run.records] == list(range(9))
    assert sum(not record.connection_reused for record in run.records) == concurrency


def test_users_start_one_after_the_other() -> None:
    with scripted_server(healthy) as served:
        run = run_load(target(served.url), bodies(3), ClosedLoop(3, stagger_s=0.04))
    begun = [record.scheduled - run.started for record in run.records]
    assert begun[1] >= 0.04
    assert begun[2] >= 0.08
    assert begun == sorted(begun)


def test_every_stamp_is_after_the_write_and_close_to_it() -> None:
    with scripted_server(healthy) as served:
        run = run_load(target(served.url), bodies(8), ClosedLoop(2))
    late: list[float] = []
    for record in run.records:
        writes = next(w for w, body in zip(served.writes, served.bodies, strict=True) if body["number"] == record.index)
        late += [arrival.at - write for arrival, write in zip(record.arrivals, writes[1:], strict=False)]
    assert min(late) > 0
    assert statistics.median(late) < 0.002 + statistics.median(run.health.lags)
    assert statistics.quantiles(late, n=20)[-1] < LATE_S + max(run.health.lags)


def test_known_times_are_measured() -> None:
    with scripted_server(lambda _: chunked(steady(first=0.2, gap=0.02, n=11))) as served:
        run = run_load(target(served.url), bodies(6), ClosedLoop(2))
    found = metrics.metrics_of(run)
    slack = 0.01 + sorted(run.health.lags)[int(0.95 * len(run.health.lags))]
    for name, truth in (("ttft_s.p50", 0.2), ("tpot_s.p50", 0.02), ("e2e_s.p50", 0.4)):
        value = found[name].value
        assert value is not None
        assert truth - 0.001 <= value <= truth + slack, name


def test_model_and_key_are_sent_and_compression_is_not_asked_for() -> None:
    with scripted_server(healthy) as served:
        run_load(target(served.url), bodies(1), ClosedLoop(1))
    assert served.bodies == [{"model": "m", "messages": [], "number": 0}]
    assert target(served.url).headers == {"Accept-Encoding": "identity", "Authorization": "Bearer k"}


def test_errors_under_load_are_counted_over_what_was_sent() -> None:
    refusal = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy"
    with scripted_server(lambda n: [(0.0, refusal)] if n % 4 == 3 else healthy(n)) as served:
        run = run_load(target(served.url), bodies(12), ClosedLoop(3))
    assert metrics.error_ratio(run) == 0.25
    assert metrics.metrics_of(run)["ttft_s.p50"].samples == 9
    assert {record.why for record in run.records} == {"", "HTTP 503: busy"}


def test_dropped_connection_is_incomplete() -> None:
    dropped = [*chunked(steady(0.01, 0.01, 4))[:4], (0.04, b"")]
    with scripted_server(lambda _: dropped) as served:
        (record,) = run_load(target(served.url), bodies(1), ClosedLoop(1)).records
    assert record.status is Status.INCOMPLETE
    assert "RemoteProtocolError" in record.why


def test_nobody_listening_is_a_failure_and_no_crash() -> None:
    (record,) = run_load(target("http://127.0.0.1:9"), bodies(1), ClosedLoop(1)).records
    assert record.status is Status.FAILED
    assert "ConnectError" in record.why
    assert record.sent is None


def test_deadline_cuts_the_run_and_keeps_what_came() -> None:
    slow = chunked([*steady(0.01, 0.01, 2)[:3], (9.0, BODY)])
    with scripted_server(lambda n: healthy(n) if n < 2 else slow) as served:
        run = run_load(target(served.url), bodies(20), ClosedLoop(2, deadline_s=0.6))
    assert run.asked == 20
    assert [record.status for record in run.records] == [Status.OK] * 2 + [Status.CANCELLED] * 2
    assert run.ended - run.started < 2.0
    assert run.records[3].tokens


def test_client_watches_itself() -> None:
    with scripted_server(healthy) as served:
        run = run_load(target(served.url), bodies(4), ClosedLoop(2))
    assert len(run.health.lags) > 10
    assert all(lag >= 0 for lag in run.health.lags)
    assert run.health.cpu_s > 0


def test_loop_of_somebody_else_is_left_alone() -> None:
    seen: list[object] = []

    def in_a_thread_with_a_loop() -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        with scripted_server(healthy) as served:
            run_load(target(served.url), bodies(1), ClosedLoop(1))
        seen.append(asyncio.get_event_loop_policy().get_event_loop() is loop)
        loop.close()

    thread = threading.Thread(target=in_a_thread_with_a_loop)
    thread.start()
    thread.join()
    assert seen == [True]
