"""Launches that must become ready, and of which nothing may be told on the way that condemns them."""

from __future__ import annotations

from selftests.proofs.launches import acts
from selftests.proofs.launches.model import Act, Launch, Moment
from shakedown.engines.vllm.phases import PhaseName
from shakedown.launch.status import State

LOADING = Moment(PhaseName.WEIGHTS, done=10)


def _well(name: str, *on_the_way: Act, shape: str | None = None, slow_load_s: float = 0.0) -> Launch:
    return Launch(f"clean-launch-{name}", State.READY, shape, slow_load_s, on_the_way)


def _noise(at: Moment) -> Act:
    return Act("append lines that look like failures to the serve log", at, acts.noisy)


def _second(phase: PhaseName, done: int = 0) -> Act:
    return Act("begin a second watch, in the middle", Moment(phase, done), acts.watched)


def _cold(name: str, slow_load_s: float = 0.0) -> Launch:
    return Launch(
        f"clean-launch-{name}",
        State.READY,
        slow_load_s=slow_load_s,
        before=acts.cold,
        before_text="drop the weights from the page cache",
    )


HEALTHY: tuple[Launch, ...] = (
    _well("warm"),
    *(_cold(f"cold-{number}") for number in (1, 2)),
    _cold("cold-slow", 0.3),
    *(_well(f"slow-{seconds:g}", slow_load_s=seconds) for seconds in (0.2, 0.5, 1.0)),
    _well("fabric-20-mbit", shape="link-slow"),
    _well("fabric-lossy", shape="link-lossy"),
    _well("gloo-on-management", shape="gloo-on-management"),
    _well("monitor-on", shape="memory-monitor-on-worker"),
    _well("noise-while-loading", _noise(LOADING), slow_load_s=0.3),
    _well("noise-and-second-watch", _noise(LOADING), _second(PhaseName.WEIGHTS, 20), slow_load_s=0.3),
    _well("watched-from-begin", _second(PhaseName.PROCESS)),
    _well("watched-from-workers", _second(PhaseName.WORKERS)),
    _well("watched-from-last-shards", _second(PhaseName.WEIGHTS, 35), slow_load_s=0.3),
    _well("watched-from-kv-cache", _second(PhaseName.KV_CACHE)),
    _well(
        "engine-looked-at",
        Act("stop the engine's process for 0.3 s", LOADING, acts.paused(acts.head, "VLLM::EngineCore", 0.3)),
        slow_load_s=0.3,
    ),
    _well(
        "rank-looked-at",
        Act("stop the worker's rank for 0.3 s", LOADING, acts.paused(acts.worker, "ray::RayWorker", 0.3)),
        slow_load_s=0.3,
    ),
    _well("link-flaps", Act("take the worker's link away for two seconds", LOADING, acts.flapped(2)), slow_load_s=0.5),
    _well(
        "follower-killed",
        Act("kill -9 the follower on the worker", LOADING, acts.signalled("KILL", acts.worker, acts.FOLLOWER)),
        slow_load_s=0.5,
    ),
    Launch(
        "clean-launch-second-on-the-same-ray",
        State.READY,
        before=acts.served_before("TERM"),
        before_text="launch, and end the server once it is ready",
    ),
)
