"""The earliest root is told, whatever order lines come in; a consequence only when there is no root; noise never."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.faults.made import DEAD, DIED, KILLED, LATER, LOW, NOW, OOM, fault, line, told, traceback
from selftests.faults.samples import SAMPLES
from shakedown.faults.diagnose import Diagnostician, Limits
from shakedown.faults.diagnosis import UNCOVERED, text
from shakedown.faults.lines import LogLine
from shakedown.faults.signatures import noise

# What is told


def test_nothing_seen_is_nothing_wrong() -> None:
    assert told([]) is None
    assert told([line(0, "INFO 12-01 12:18:36 [core.py:1] Loading weights took 0.05 seconds")]) is None


def test_a_root_is_told_at_once_and_settled_later() -> None:
    seen = [line(0, KILLED, "node-b", "raylet.out")]
    early, late = told(seen, NOW + 0.1), told(seen, NOW + 5)
    assert early
    assert late
    assert (early.fault, early.node, early.settled) == ("MEM-01", "node-b", False)
    assert late.settled


def test_the_root_on_the_other_node_comes_before_its_consequence() -> None:
    found = told([line(3, DEAD), line(2.5, DIED), line(0, KILLED, "node-b", "raylet.out")])
    assert found
    assert (found.fault, found.node, found.kind) == ("MEM-01", "node-b", "root")
    assert [sighting.fault for sighting in found.consequences] == ["SRV-04", "SRV-03"]


def test_the_earliest_root_wins_and_the_others_are_named() -> None:
    found = told([line(9, LOW), line(0, KILLED, "node-b", "raylet.out")])
    assert found
    assert found.fault == "MEM-01"
    assert [sighting.fault for sighting in found.others] == ["MEM-04"]


def test_of_two_roots_at_once_the_kernel_is_believed() -> None:
    """Clocks are aligned to parts of a second, and a log is stamped to the second: the exception may look earlier."""
    assert fault([line(0, LOW), line(1.9, OOM, "node-b", "kernel log")]) == "MEM-07"
    assert fault([line(0, LOW), line(2.1, OOM, "node-b", "kernel log")]) == "MEM-04"


def test_a_consequence_alone_is_told_after_its_grace() -> None:
    seen = [line(0, DEAD)]
    assert told(seen, NOW + 4.9) is None
    found = told(seen, NOW + 5)
    assert found
    assert (found.fault, found.kind) == ("SRV-03", "consequence")
    assert "its root stands in no log that was read" in found.why


def test_the_grace_is_a_parameter_and_counts_from_when_the_line_came_in() -> None:
    diagnostician = Diagnostician(limits=Limits(grace_s=1.0))
    assert diagnostician.verdict(NOW + 100) is None
    diagnostician.feed(line(0, DEAD))  # of a backlog
    assert diagnostician.verdict(NOW + 100.9) is None
    assert diagnostician.verdict(NOW + 101) is not None


def test_a_link_that_went_with_its_node_is_not_taken_for_the_cause() -> None:
    """Two machines on one cable: the link of the one is gone when the other has no power."""
    load = "[1] Failed to get the resource load: RpcError: ipv4:192.168.200.13:4: Failed to connect to remote host"
    seen = [
        line(0.5, "fab0: link was up, is down", "node-a", "kernel log"),
        line(1.0, load, "node-a", "gcs_server.out"),
        line(1.2, DEAD),
    ]
    found = told(seen)
    assert found
    assert (found.fault, found.node) == ("RAY-17", "192.168.200.13")
    assert [sighting.fault for sighting in found.others] == ["NET-01"]
    assert fault([seen[0], seen[2]]) == "NET-01"


def test_a_process_that_ended_is_told_soon_since_who_killed_it_writes_before() -> None:
    diagnostician = Diagnostician()
    diagnostician.exited("worker", "node-b", NOW)
    diagnostician.feed(line(0.2, DIED))
    assert diagnostician.verdict(NOW + 0.2) is None
    found = diagnostician.verdict(NOW + 0.5)
    assert found
    assert (found.fault, found.node, found.settled) == ("SRV-04", "node-b", False)


def test_an_end_long_after_the_first_sign_makes_no_verdict_hasty() -> None:
    diagnostician = Diagnostician()
    diagnostician.feed(line(0, DEAD))
    diagnostician.exited("server", "node-a", NOW + 3)
    assert diagnostician.verdict(NOW + 4) is None


TERMINATED = "(raylet) Raylet is terminated. Termination is unexpected. Possible reasons include: (1) SIGKILL"


def test_a_root_that_names_no_node_waits_for_a_line_that_does() -> None:
    diagnostician = Diagnostician()
    diagnostician.feed(line(0, TERMINATED))
    assert diagnostician.verdict(NOW + 0.3) is None
    diagnostician.exited("raylet", "node-b", NOW + 0.3)
    found = diagnostician.verdict(NOW + 0.4)
    assert found
    assert (found.fault, found.node) == ("RAY-17", "node-b")


def test_what_the_gcs_writes_of_a_worker_is_where_the_worker_says() -> None:
    """A new log of a worker is found a moment after it began, and by then the head has heard of it."""
    missing = "ModuleNotFoundError: No module named 'vllm'"
    diagnostician = Diagnostician()
    diagnostician.feed(line(0, missing, "node-a", "gcs_server.out"))
    assert diagnostician.verdict(NOW + 0.6) is None
    diagnostician.feed(line(0, missing, "node-b", "Ray worker logs"))
    found = diagnostician.verdict(NOW + 0.7)
    assert found
    assert (found.fault, found.node) == ("RAY-13", "node-b")


def test_a_root_of_which_nobody_says_where_it_is_is_told_all_the_same() -> None:
    found = told([line(0, TERMINATED)], NOW + 0.9)
    assert found
    assert (found.fault, found.node) == ("RAY-17", "node-a")


def test_a_root_far_away_does_not_explain() -> None:
    assert fault([line(0, DEAD), line(29, KILLED)]) == "MEM-01"
    far = told([line(0, DEAD), line(31, KILLED)])
    assert far
    assert far.kind == "consequence"
    assert [sighting.fault for sighting in far.others] == ["MEM-01"]


def test_logs_that_said_nothing_are_named() -> None:
    diagnostician = Diagnostician(expected={"node-a": ["serve log"], "node-b": ["raylet.out", "kernel log"]})
    diagnostician.feed(line(0, DEAD))
    diagnostician.feed(line(0, "hello", "node-b", "raylet.out"))
    diagnostician.lost("node-b")
    found = diagnostician.verdict(LATER)
    assert found
    assert found.empty == ("node-b: kernel log",)
    assert found.unreachable == ("node-b",)
    assert "node-b: kernel log" in text(found)


def test_a_suspect_counts_only_beside_another_sign() -> None:
    xid = line(0, "NVRM: Xid (PCI:000f:01:00): 31, pid=113, name=VLLM", "node-b", "kernel log")
    assert told([xid]) is None
    assert fault([xid, line(1, DEAD)]) == "PLT-06"
    assert fault([xid, line(40, DEAD)]) == "SRV-03"


def test_what_alone_is_no_failure_explains_a_standstill() -> None:
    waits = [sample for id, _, sample in SAMPLES if id == "RAY-03" and "Waiting for creating" in sample]
    seen = [line(0, waits[0])]
    assert told(seen) is None
    assert fault(seen, failed=True) == "RAY-03"
    assert told([], failed=True) is None


def test_lines_of_an_earlier_launch_do_not_count() -> None:
    diagnostician = Diagnostician(since=NOW)
    diagnostician.feed(line(-1, KILLED))
    assert diagnostician.verdict(LATER) is None


# Stops and ends


def test_a_planned_stop_is_no_crash() -> None:
    diagnostician = Diagnostician()
    diagnostician.feed(
        line(1, "(EngineCore pid=1) ERROR 12-01 12:18:36 [x.py:1] EngineCore encountered a fatal error.")
    )
    diagnostician.stopping(NOW)
    diagnostician.feed(line(2, "GCS server received SIGTERM, shutting down...", stream="gcs_server.out"))
    diagnostician.exited("server", "node-a", NOW + 3, 0)
    assert diagnostician.verdict(LATER) is None


def test_what_happened_before_the_stop_still_counts() -> None:
    diagnostician = Diagnostician()
    diagnostician.feed(line(-1, KILLED))
    diagnostician.stopping(NOW)
    assert diagnostician.verdict(LATER) is not None


@pytest.mark.parametrize(
    ("what", "status", "expected"),
    [
        ("server", -9, "SRV-11"),
        ("server", None, "SRV-11"),
        ("server", 137, "SRV-11"),
        ("server", 2, "SRV-03"),
        ("container", 1, "SRV-03"),
        ("container", 143, "SRV-11"),
        ("container", "exit code 137, OOMKilled", "MEM-16"),
        ("raylet", None, "RAY-17"),
        ("gcs", 1, "RAY-17"),
        ("engine", None, "SRV-03"),
        ("worker", 139, "SRV-04"),
    ],
)
def test_a_process_that_ends_is_told(what: str, status: int | str | None, expected: str) -> None:
    diagnostician = Diagnostician()
    diagnostician.exited(what, "node-b", NOW, status)
    found = diagnostician.verdict(LATER)
    assert found
    assert (found.fault, found.node) == (expected, "node-b")


def test_a_process_that_the_kernel_killed_has_not_ended_by_itself() -> None:
    diagnostician = Diagnostician()
    diagnostician.exited("server", "node-a", NOW, -9)
    diagnostician.feed(line(0.5, OOM, stream="kernel log"))
    found = diagnostician.verdict(LATER)
    assert found
    assert found.fault == "MEM-07"


def test_who_cleans_up_after_a_crash_did_not_cause_it() -> None:
    stop = line(2, "(gcs_server) x.cc:1: GCS server received SIGTERM, shutting down...", stream="gcs_server.out")
    crash = [*traceback(0, "OddError: what nobody knows"), line(1, DEAD)]
    found = told([*crash, stop])
    assert found
    assert found.kind == "unknown"
    assert fault([stop, line(3, DEAD)]) == "RAY-17"


# Exceptions that nobody knows


def test_an_unknown_exception_explains_a_crash() -> None:
    found = told([*traceback(0, "novel.Error: flux capacitor"), line(1, DEAD), *traceback(2, "KeyError: 'later'")])
    assert found
    assert (found.fault, found.kind, found.preflight) == (None, "unknown", UNCOVERED)
    assert found.line.text == "novel.Error: flux capacitor"
    assert "unknown fault: please add" in found.title


def test_an_unknown_exception_alone_is_no_crash() -> None:
    assert told(traceback(0, "ValueError: handled somewhere")) is None


def test_a_handled_exception_is_none() -> None:
    handled = traceback(0, "ValueError: tried", "(APIServer pid=1) WARNING 12-01 12:18:36 [x.py:1] ")
    assert fault([*handled, line(1, DEAD)]) == "SRV-03"


def test_a_known_root_comes_before_an_unknown_exception() -> None:
    assert fault([*traceback(0, "ValueError: what"), line(1, DEAD), line(2, KILLED)]) == "MEM-01"


def test_tracebacks_of_two_processes_may_be_mixed() -> None:
    one = traceback(0, "FirstError: a", "(EngineCore pid=1) ERROR 12-01 12:18:36 [x.py:1] ")
    other = traceback(0.5, "SecondError: b", "(APIServer pid=2) ERROR 12-01 12:18:36 [y.py:2] ")
    mixed = [part for both in zip(one, other, strict=True) for part in both]
    found = told([*mixed, line(1, DEAD)])
    assert found
    assert found.line.text.endswith("FirstError: a")


def test_what_another_process_raised_stands_at_the_end() -> None:
    """Ray writes the report of the remote exception into that of the local one, with the address in its first line."""
    prefix = "(EngineCore pid=1) ERROR 12-01 12:18:36 [x.py:1] "
    wrapper = "ray.exceptions.RayTaskError(OddError): ray::RayWorkerProc.run() (pid=112, ip=192.168.200.13, repr=<x>)"
    start, *frames = traceback(0, wrapper, prefix)
    inner = [line(0, f"{prefix}  File 'y.py', line 2, in load"), line(0, f"{prefix}OddError: on the worker")]
    found = told([start, *frames, *inner, line(1, DEAD)])
    assert found
    assert found.line.text == f"{prefix}OddError: on the worker"
    assert found.node == "192.168.200.13"


def test_a_log_in_json_says_the_same() -> None:
    record = {
        "levelname": "ERROR",
        "message": "EngineCore failed to start.",
        "exc_info": "\n".join(part.text for part in traceback(0, "OddError: in JSON")),
    }
    found = told([line(0, json.dumps(record))])
    assert found
    assert (found.kind, found.line.text) == ("unknown", "OddError: in JSON")
    warned = {**record, "levelname": "WARNING", "message": "tried"}
    assert told([line(0, json.dumps(warned)), line(0, "{no JSON")]) is None


# Any order of arrival

SCENARIO = [
    *(line(at, KILLED, "node-b", "raylet.out") for at in (0.0, 0.4)),
    line(0.3, "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."),
    line(0.6, DIED),
    line(0.6, "worker ended: status unknown", "node-b", "container"),
    line(1.0, DEAD),
    line(8.0, LOW),
    line(0.2, "[ 1.0] NVRM: Xid (PCI:000f:01:00): 31, pid=1", "node-b", "kernel log"),
    line(-4.0, "x:1:1 [0] NCCL INFO Using network Socket"),
    *(line(0.5, sample) for known in noise() for sample in known.samples[:1]),
]


@given(st.permutations(SCENARIO), st.integers(0, len(SCENARIO)))
def test_the_verdict_does_not_depend_on_the_order_of_arrival(lines: list[LogLine], asked_after: int) -> None:
    diagnostician = Diagnostician()
    for number, one in enumerate(lines):
        if number == asked_after:
            diagnostician.verdict(NOW + 1)
        diagnostician.feed(one)
    assert diagnostician.verdict(LATER) == told(SCENARIO)


ANY_LINE = st.tuples(st.floats(-100, 100), st.sampled_from([*SAMPLES]), st.sampled_from(["node-a", "node-b"]))


@given(st.lists(ANY_LINE, max_size=8))
def test_a_verdict_is_about_a_line_that_was_seen(parts: list[tuple[float, tuple[str, str, str], str]]) -> None:
    lines = [line(at, said, node, stream) for at, (_, stream, said), node in parts]
    found = told(lines)
    roots = [(id, stream) for _, (id, stream, _), _ in parts]
    assert found is None or (found.fault, found.line.stream) in roots
    assert found is None or text(found)


@given(st.text(), st.text())
def test_no_text_stops_the_diagnosis(one: str, other: str) -> None:
    told([line(0, "Traceback (most recent call last):"), line(0, one), line(0, other), line(0, "{" + one)])


def test_noise_condemns_no_launch() -> None:
    lines = [
        line(at, sample, node, stream)
        for at, sample in enumerate(sample for known in noise() for sample in known.samples)
        for node in ("node-a", "node-b")
        for stream in ("serve log", "kernel log", "Ray worker logs", "raylet.out")
    ]
    assert told(lines) is None
    assert told(lines, failed=True) is None
