"""What raylets and the GCS say: the words of two versions of Ray, and settings of every kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.nodes.views.ray_cluster import parse_cluster
from shakedown.nodes.views.ray_settings import DEFAULT_THRESHOLD, monitor_setting, parse_monitor, same_threshold
from shakedown.nodes.views.raylet import parse_raylets

RAYLET = """\
pid 305
arg --node_ip_address=192.168.200.12
arg --gcs-address=192.168.200.12:6379
env VLLM_HOST_IP=192.168.200.12
env RAY_ADDRESS=a=b
log [2026-12-01 03:17:18,662 I 305 305] (raylet) x.cc:70: ThresholdMemoryMonitor disabled. Specify ...
"""


def test_a_raylet_is_read() -> None:
    (raylet,) = parse_raylets(RAYLET)
    assert raylet.pid == 305
    assert raylet.argument("node_ip_address") == "192.168.200.12"
    assert raylet.argument("session-name") is None
    assert raylet.environment == {"VLLM_HOST_IP": "192.168.200.12", "RAY_ADDRESS": "a=b"}
    assert parse_monitor(raylet.monitor_lines).threshold is None


def test_two_raylets_are_two() -> None:
    assert [raylet.pid for raylet in parse_raylets(RAYLET + RAYLET.replace("305", "411"))] == [305, 411]


def test_no_raylet_is_none() -> None:
    assert parse_raylets("") == ()


def test_an_environment_that_may_not_be_read_is_not_an_empty_one() -> None:
    (raylet,) = parse_raylets("pid 9\narg --x=1\ndenied environ\n")
    assert raylet.environment is None


@pytest.mark.parametrize(
    ("line", "threshold"),
    [
        ("MemoryMonitor disabled. Specify `RAY_memory_monitor_refresh_ms` > 0 to enable the monitor.", None),
        ("ThresholdMemoryMonitor disabled. Specify `RAY_memory_monitor_refresh_ms` > 0 to enable.", None),
        ("MemoryMonitor initialized with usage threshold at 63999016960 bytes (0.95 system memory), total", 0.95),
        ("ThresholdMemoryMonitor initialized with usage threshold at 24 bytes (98.000008% of system memory), x", 0.98),
    ],
    ids=["2.53 off", "2.60 off", "2.53 on", "2.60 on"],
)
def test_the_words_of_both_versions_are_understood(line: str, threshold: float | None) -> None:
    assert same_threshold(parse_monitor([f"[2026 I 1 1] (raylet) {line}"]).threshold, threshold)


def test_the_last_line_counts() -> None:
    on = "MemoryMonitor initialized with usage threshold at 9 bytes (0.95 system memory)"
    assert parse_monitor([on, "MemoryMonitor disabled."]).threshold is None


@pytest.mark.parametrize("lines", [[], ["MemoryMonitor contemplates"]], ids=["silent", "other words"])
def test_a_log_that_does_not_tell_is_refused(lines: list[str]) -> None:
    with pytest.raises(EvidenceError, match="memory monitor"):
        parse_monitor(lines)


@pytest.mark.parametrize(
    ("environment", "threshold"),
    [
        ({}, DEFAULT_THRESHOLD),
        ({"RAY_memory_monitor_refresh_ms": "0"}, None),
        ({"RAY_memory_monitor_refresh_ms": "0", "RAY_memory_usage_threshold": "0.98"}, None),
        ({"RAY_memory_usage_threshold": "0.98"}, 0.98),
        ({"RAY_memory_monitor_refresh_ms": "100"}, DEFAULT_THRESHOLD),
    ],
)
def test_a_setting_follows_rays_rules(environment: dict[str, str], threshold: float | None) -> None:
    assert monitor_setting(environment) == threshold


def test_a_setting_that_is_no_number_is_refused() -> None:
    with pytest.raises(EvidenceError, match="no number"):
        monitor_setting({"RAY_memory_monitor_refresh_ms": "off"})


def test_disabled_is_not_zero() -> None:
    assert not same_threshold(None, 0.0)
    assert same_threshold(None, None)
    assert not same_threshold(0.95, 0.98)


@pytest.mark.parametrize("answer", [{}, {"nodes": [{}], "groups": [], "session": None}, {"nodes": None}])
def test_tables_that_lack_something_are_refused(answer: dict[str, object]) -> None:
    with pytest.raises(EvidenceError):
        parse_cluster(answer)


@given(st.lists(st.sampled_from(["pid 7", "pid x", "arg --a=1", "env A=1", "env", "log x", "denied environ", "", "?"])))
def test_any_order_of_lines_is_read(lines: list[str]) -> None:
    raylets = parse_raylets("\n".join(lines) + "\n")
    assert len(raylets) == lines.count("pid 7")
