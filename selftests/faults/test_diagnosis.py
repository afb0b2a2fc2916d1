"""Real launches are told apart, and what is told can be acted upon."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from selftests.faults.launches.recorded import NAMES, launch
from selftests.faults.made import DEAD, LATER, line, told
from selftests.faults.samples import SAMPLES
from shakedown.faults.catalogue import known_faults
from shakedown.faults.diagnose import Diagnostician
from shakedown.faults.diagnosis import UNCOVERED, facts, text
from shakedown.faults.exit_codes import OF_FAMILY, STALL, UNKNOWN, exit_code
from shakedown.faults.signatures import words
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.simulator.deployment import FILE


@pytest.fixture(scope="module")
def pair() -> Deployment:
    return load_deployment(FILE)


@pytest.mark.parametrize(
    ("name", "expected", "node"),
    [
        ("healthy", None, None),
        ("stopped", "SRV-11", "node-a"),
        ("raylet-killed", "RAY-17", "192.168.200.13"),
        ("shard-truncated", "MOD-01", "192.168.200.13"),
        ("shard-missing", "MOD-01", "192.168.200.13"),
        ("engine-missing-on-worker", "RAY-13", "node-b"),
        ("names-on-loopback", "NET-14", "node-a"),
        ("api-port-taken", "SRV-01", "node-a"),
    ],
)
def test_real_launches_are_told_apart(name: str, expected: str | None, node: str | None) -> None:
    found = told(launch(name))
    assert (found and found.fault, found and found.node) == (expected, node)


@pytest.mark.parametrize("name", NAMES)
def test_a_sifted_log_tells_the_same(name: str) -> None:
    """A backlog is sifted where it lies, by `grep -F` with these words."""
    lines = launch(name)
    sifted = [one for one in lines if any(word in one.text for word in words())]
    assert len(sifted) < len(lines) / 4
    whole, rest = told(lines), told(sifted)
    assert (whole and (whole.fault, whole.node, whole.line)) == (rest and (rest.fault, rest.node, rest.line))


def test_a_real_stop_that_was_meant_is_no_crash() -> None:
    diagnostician = Diagnostician()
    lines = launch("stopped")
    diagnostician.stopping(next(one.at for one in lines if "shutdown triggered" in one.text))
    for one in lines:
        diagnostician.feed(one)
    assert diagnostician.verdict(LATER) is None


def test_a_real_crash_without_its_root_is_a_consequence() -> None:
    """As if the worker's logs and the raylet's report had not been read."""
    lines = [one for one in launch("raylet-killed") if one.stream == "serve log" and "Raylet" not in one.text]
    found = told(lines)
    assert found
    assert (found.kind, found.fault) == ("consequence", "SRV-03")


def test_the_text_has_the_parts_of_a_finding(pair: Deployment) -> None:
    diagnostician = Diagnostician(pair)
    worker = pair.workers[0]
    sample = next(sample for id, _, sample in SAMPLES if id == "MEM-01" and "(IP: 192.168.200.13" in sample)
    diagnostician.feed(line(0, sample.replace("192.168.200.13", str(worker.fabric_address)), stream="serve log"))
    diagnostician.feed(line(2, DEAD))
    found = diagnostician.verdict(LATER)
    assert found
    assert found.node == worker.name
    shown = text(found)
    for part in (
        "MEM-01    Ray's memory monitor",
        f"node      {worker.name} (written on node-a)",
        "113.61GB of 119.54GB were in use",
        "remedy    On every node, before Ray starts",
        "preflight tests_infra/",
        "then      SRV-03",
    ):
        assert part in shown


def test_other_programs_read_the_same() -> None:
    found = told(launch("shard-truncated"))
    assert found
    read = json.loads(json.dumps(facts(found)))
    assert (read["fault"], read["kind"], read["line"]["stream"]) == ("MOD-01", "root", "serve log")
    assert [other["fault"] for other in read["consequences"]] == ["SRV-03", "RAY-07"]


def test_a_remedy_names_what_the_deployment_declares(pair: Deployment) -> None:
    diagnostician = Diagnostician(pair)
    diagnostician.feed(replace(line(0, "OSError: [Errno 98] Address already in use"), node=pair.head.name))
    found = diagnostician.verdict(LATER)
    assert found
    assert f"sport = :{pair.serve.port}" in found.remedy


def test_a_fault_that_no_check_finds_says_so() -> None:
    found = told([line(0, "AssertionError: Error in memory profiling. Initial free memory 1 GiB")])
    assert found
    assert found.preflight == UNCOVERED


def test_every_family_has_an_exit_code_of_its_own() -> None:
    codes = [*OF_FAMILY.values(), STALL, UNKNOWN]
    assert len(set(codes)) == len(codes)
    assert all(5 < code < 126 for code in codes)
    assert {exit_code(entry.id) for entry in known_faults()} == {*OF_FAMILY.values()}
    assert exit_code(None) == UNKNOWN
