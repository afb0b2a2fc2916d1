"""Results of runs that never took place, for the tests of what is drawn from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from shakedown.outcomes import Severity, Stage
from shakedown.report.results import (
    CheckResult,
    DeploymentRecord,
    FindingRecord,
    MetricRecord,
    Outcome,
    RunResults,
    run_results,
)

STARTED = datetime(2025, 1, 31, 4, 5, 6, tzinfo=UTC)
PAIR = {"name": "pair", "profile": "generic-pair", "file": "pair.toml", "chosen_by": "--deployment"}
HOSTILE = '<script>alert("x")</script>\x1b[2J\u202e & </pre>'


def finding(id: str = "NET-01", node: str | None = "spark-b", severity: Severity = Severity.BLOCKER) -> FindingRecord:
    return FindingRecord(
        id=id,
        title=f"title of {id}",
        severity=severity,
        node=node,
        found=f"found on {node}",
        expected="operstate up",
        symptom="the launch hangs without a word",
        remedy="ip link set fab0 up\nping -c1 192.168.200.12",
        source=("docs.kernel.org/networking/operstates.html",),
    )


def unreadable(
    id: str = "RAY-02",
    node: str = "spark-b",
    severity: Severity = Severity.BLOCKER,
    why: str = "the environment of raylet 812 may not be read",
    remedy: str = "set `sudo = true` for the node",
) -> FindingRecord:
    facts = {"found": why, "remedy": remedy, "expected": "", "symptom": "", "judged": False}
    return finding(id, node, severity).model_copy(update=facts)


def a_test(name: str, outcome: Outcome, **changes: Any) -> CheckResult:
    facts: dict[str, Any] = {
        "nodeid": f"tests_infra/test_fabric.py::{name}",
        "suite": "infra",
        "check": "NET-01",
        "claim": "The fabric NIC of every node is up.",
        "severity": Severity.BLOCKER,
        "outcome": outcome,
        "duration_s": 0.25,
    }
    return CheckResult(**(facts | changes))


def run(*tests: CheckResult, label: str | None = None, **changes: Any) -> RunResults:
    facts: dict[str, Any] = {
        "suite_version": "0.1.0",
        "deployment": DeploymentRecord.model_validate(PAIR | {"label": label}),
        "tests": tests,
        "started": STARTED,
        "finished": STARTED + timedelta(seconds=3.2),
        "exit_status": 0,
        "stages": (Stage.HOSTS,),
        "command": ("pytest", "-m", "infra"),
    }
    return run_results(**(facts | changes))


def full(**changes: Any) -> RunResults:
    """A run in which everything happened that can."""
    blocker = finding()
    other = finding(node="spark-a")
    speed = MetricRecord(name="ttft_s.p90", value=0.14239, unit="s", better="lower", samples=40)
    rate = MetricRecord(name="output_tokens_per_s", value=12345.6, unit="tokens/s", better="higher")
    refused = MetricRecord(name="tpot_s.p50", value=None, unit="s", better="lower", note="fewer than 20 samples")
    tests = (
        a_test("test_nic_is_up[spark-a]", Outcome.FAILED, node="spark-a", finding=other),
        a_test("test_nic_is_up[spark-b]", Outcome.FAILED, node="spark-b", finding=blocker),
        a_test("test_clock", Outcome.FINDING, check="PLT-07", finding=finding("PLT-07", None, Severity.WARNING)),
        a_test("test_waived", Outcome.XFAILED, check="MEM-10", finding=finding("MEM-10"), reason="until the move"),
        a_test("test_broken", Outcome.ERROR, reason="ValueError: boom", detail="Traceback\nValueError: boom"),
        a_test("test_behind[spark-b]", Outcome.SKIPPED, reason="blocked by NET-01 on spark-b"),
        a_test("test_more[spark-b]", Outcome.SKIPPED, reason="blocked by NET-01 on spark-b"),
        a_test("test_ray", Outcome.SKIPPED, reason="stage is hosts; this is checked at ray"),
        a_test("test_fine", Outcome.PASSED),
        a_test("test_chat_c1", Outcome.PASSED, suite="perf", metrics=(speed, rate), verdict="PASS"),
        a_test("test_chat_c4", Outcome.SKIPPED, suite="perf", metrics=(refused,), reason="no baseline"),
    )
    return run(*tests, **{"exit_status": 1, "stages": (Stage.HOSTS, Stage.RAY), **changes})
