"""Real launches are told what they are; two of them again here, the rest by `make proofs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from selftests.proofs import record
from selftests.proofs.launches.failing import FAILING
from selftests.proofs.launches.healthy import HEALTHY
from selftests.proofs.launches.model import Act, Launch, Moment, Scene, told
from selftests.proofs.launches.observe import Watcher, observe
from selftests.proofs.launches.page import PAGE, current_page
from selftests.proofs.launches.record import LaunchProof, done
from shakedown.engines.vllm.phases import PhaseName
from shakedown.launch.status import Bar, Explanation, State, Status

LAUNCHES = (*FAILING, *HEALTHY)
REPRESENTATIVES = ("launch-architecture-unknown", "launch-rank-stopped")


def launch(name: str) -> Launch:
    return next(one for one in LAUNCHES if one.name == name)


@pytest.mark.embedded
@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_a_launch_is_told_what_is_wrong_on_which_node_and_in_time(name: str, tmp_path: Path) -> None:
    seen = observe(launch(name), tmp_path)
    assert not seen.wrong, f"{seen.wrong}\n{seen.text}"


def test_launches_have_names_of_their_own() -> None:
    assert len({one.name for one in LAUNCHES}) == len(LAUNCHES)


def test_every_launch_was_observed_and_holds() -> None:
    proofs = record.load().launches
    assert set(proofs) == {one.name for one in LAUNCHES}
    assert [name for name, proof in proofs.items() if not proof.holds] == []
    stale = [one.name for one in LAUNCHES if not is_of(proofs[one.name], one)]
    assert stale == [], "declared otherwise since they were observed: run `make proofs`"


def is_of(proof: LaunchProof, declared: Launch) -> bool:
    """Whether the launch is still declared as it was observed."""
    observed = (proof.done, proof.outcome, proof.within_s)
    as_declared = (done(declared), declared.outcome.value, declared.within_s)
    return observed == as_declared and told(proof.fault, proof.node) in declared.wanted


def test_the_page_of_launches_says_what_was_observed() -> None:
    assert PAGE.read_text(encoding="utf-8") == current_page(), "run `make docs`"


def status(state: State, phase: PhaseName = PhaseName.WEIGHTS, done: int = 0, told: str | None = None) -> Status:
    explanation = Explanation(told, "title", "node-b", at=0.0) if told else None
    return Status("d", state, 1.0, phase=phase.value, bar=Bar(done, 39, "shards"), explanation=explanation)


def watched(of: Launch, statuses: Sequence[Status], tmp_path: Path) -> Watcher:
    watcher = Watcher(of, Scene(None, None, tmp_path, None))  # type: ignore[arg-type]
    for one in statuses:
        watcher.show(one)
    return watcher


@pytest.mark.parametrize(
    ("moment", "reached"),
    [
        (Moment(PhaseName.CONFIG), True),
        (Moment(PhaseName.WEIGHTS), True),
        (Moment(PhaseName.WEIGHTS, 10), True),
        (Moment(PhaseName.WEIGHTS, 11), False),
        (Moment(PhaseName.KV_CACHE), False),
    ],
)
def test_a_moment_is_reached_or_not(moment: Moment, reached: bool) -> None:
    assert moment.reached(status(State.RUNNING, done=10)) is reached


def test_what_is_due_is_done_once(tmp_path: Path) -> None:
    done: list[Scene] = []
    act = Act("act", Moment(PhaseName.WEIGHTS, 5), done.append)
    of = Launch("x", State.READY, acts=(act,))
    watcher = watched(of, [status(State.RUNNING, done=4)], tmp_path)
    assert [*watcher.undone] == [act]
    for _ in range(2):
        watcher.show(status(State.RUNNING, done=6))
    assert len(done) == 1
    assert not watcher.undone


def test_only_the_right_word_counts_and_every_word_is_noted(tmp_path: Path) -> None:
    of = Launch("x", State.FAILED, fault="MOD-01", node="node-b")
    wrong = watched(of, [status(State.FAILED, told="MEM-01")], tmp_path)
    assert wrong.right_at is None
    assert wrong.seen.told == ["MEM-01 on node-b"]
    right = watched(of, [status(State.FAILED, told="MEM-01"), status(State.FAILED, told="MOD-01")], tmp_path)
    assert right.right_at is not None
    assert right.seen.told == ["MEM-01 on node-b", "MOD-01 on node-b"]
    assert right.seen.states == ["failed"]
