"""Tier 0 over ssh on 2, 4 and 16 machines, against the same questions and checks as plain testinfra; in one run.

    .venv/bin/python -m benchmarks.infra [--nodes 2 4 16] [--delay-ms 100] [--repeats 3] [--quick | --only-ours]

The machines are namespaces of this machine with OpenSSH (`benchmarks.rack`); all share its processors, so that with
many of them their own work, not the way to them, decides. Needs root and Debian's openssh-server.

*Fetch* is what the nodes are asked ahead, from the first byte to the last answer of the last node: *cold* with the
handshakes, *warm* over connections that are open (median of the repeats). *Judging* is set-up, body and tear-down of
every test on the answers. *Whole run* is `pytest -m infra` from start to exit, with its own handshakes. Plain testinfra
asks one node after the other, over one `ssh` each: the same questions, each once; and the same checks, which ask again
what another has asked before them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.plain import CONTROL, COUNT, plain_host
from benchmarks.rack import ROOT, Rack, on_the_way_s, rack
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.nodes.control import control_path
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import commands, fetch
from shakedown.outcomes import Stage
from shakedown.report.results import Outcome, RunResults

PAIR_WITHIN_S = 3.0
TIMES_FASTER = 10.0
ALLOWANCE_S = 0.5
"""The targets: tier 0 on two nodes, how many times faster than plain, and what many nodes may take on top."""

CORES = len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took.

    Attributes:
        wall_s: by the clock.
        nodes_s: of processor on the machines, all together.
        own_s: of processor on the side that asks.
        way_s: of processor between them: ssh clients that keep a connection, and the proxy command.
    """

    wall_s: float
    nodes_s: float
    own_s: float
    way_s: float

    @property
    def spent(self) -> str:
        """Where the processor time went, for people."""
        return f"{self.nodes_s:.2f} s on the nodes, {self.own_s:.2f} s here, {self.way_s:.2f} s on the way"


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the suite.

    Attributes:
        wall_s: from start to exit.
        judging_s: set-up, body and tear-down of all its tests.
        judged: tests that were not skipped.
        unwell: how many of those found something.
    """

    wall_s: float
    judging_s: float
    judged: int
    unwell: int


@dataclass(frozen=True, slots=True)
class Ours:
    """Tier 0 of one number of nodes.

    Attributes:
        nodes, commands: how many, and how many questions they were asked together.
        cold, warm: of the fetch.
        replay: a run on what was fetched, which judges and asks nobody.
        live: a run as an operator starts it.
    """

    nodes: int
    commands: int
    cold: Cost
    warm: Cost
    replay: Run
    live: Run

    @property
    def tier_0_s(self) -> float:
        """Fetch over open connections and judging, s."""
        return self.warm.wall_s + self.replay.judging_s


@dataclass(frozen=True, slots=True)
class Plain:
    """Plain testinfra on two nodes.

    Attributes:
        way: how its connections are made, for people.
        once: each question once.
        checks: the checks; None where they were not run.
        asked: how many questions these asked.
    """

    way: str
    once: Cost
    checks: Run | None
    asked: int


def main() -> None:
    """Measure, print the tables and whether the targets are met."""
    arguments = _arguments()
    print(f"{CORES} cores, load average {_load()} at the start")
    with tempfile.TemporaryDirectory(prefix="rack-") as folder, rack(Path(folder), max(arguments.nodes)) as machines:
        far_s = arguments.delay_ms / 1000
        near = [ours(machines, nodes, 0.0, arguments.repeats) for nodes in arguments.nodes]
        print_ours("no delay", near)
        far = [ours(machines, nodes, far_s, arguments.repeats) for nodes in arguments.nodes]
        print_ours(f"{arguments.delay_ms:g} ms added to every round trip, by a proxy command of ours", far)
        if not arguments.only_ours:
            beside = [plain(machines, 0.0, kept=kept, checks=kept or not arguments.quick) for kept in (True, False)]
            print_plain("no delay", beside, near[0])
            if not arguments.quick:
                print_plain("the same delay", [plain(machines, far_s, kept=kept) for kept in (True, False)], far[0])
            judge_against_plain(near[0], beside)
    judge_alone(near, far)
    print(f"load average {_load()} at the end")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 4, 16], help="the first is compared with plain")
    parser.add_argument("--delay-ms", type=float, default=100.0)
    parser.add_argument("--repeats", type=int, default=3)
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quick", action="store_true", help="no plain checks without ControlPath, or with the delay")
    how_much.add_argument("--only-ours", action="store_true", help="nothing plain")
    return parser.parse_args()


def ours(machines: Rack, nodes: int, delay_s: float, repeats: int) -> Ours:
    """Tier 0 of the first machines: cold, then warm, then judged, then as an operator runs it."""
    file = machines.deployment(nodes, delay_s)
    deployment = load_deployment(file)
    taken = Evidence.of(deployment, Stage.HOSTS)
    cold = cost(machines, lambda: fetch(deployment, taken))
    warm = [cost(machines, lambda: fetch(deployment, Evidence.of(deployment, Stage.HOSTS))) for _ in range(repeats)]
    bundle = machines.folder / "kept.json.gz"
    taken.save(bundle)
    return Ours(
        nodes=nodes,
        commands=sum(len(commands(deployment, node)) for node in deployment.node),
        cold=cold,
        warm=sorted(warm, key=lambda one: one.wall_s)[len(warm) // 2],
        replay=run_suite(file, machines.folder, "--replay", str(bundle)),
        live=run_suite(file, machines.folder),
    )


def plain(machines: Rack, delay_s: float, *, kept: bool, checks: bool = False) -> Plain:
    """Plain testinfra on the first two machines.

    Args:
        machines: of which the first two are asked.
        delay_s: added to every round trip.
        kept: whether all questions go over one connection per machine, which is open when the clock starts.
        checks: whether the checks are run as well, not only the questions.
    """
    file = machines.deployment(2, delay_s)
    deployment = load_deployment(file)
    asked = machines.folder / "asked"
    environment = {COUNT: str(asked)}
    with open_connections(deployment, machines.folder) if kept else _no_connections() as control:
        once = cost(machines, lambda: ask_each(deployment, control))
        ran = None
        if checks:
            environment |= {CONTROL: control} if control else {}
            ran = run_suite(file, machines.folder, "-p", "benchmarks.plain", environment=environment)
    way = "one connection kept (ControlPath)" if kept else "a connection for each question"
    return Plain(way, once, ran, int(asked.read_text()) if ran else 0)


def ask_each(deployment: Deployment, control: str | None) -> None:
    """Ask every node everything that is fetched ahead, one question after the other."""
    for node in deployment.node:
        host = plain_host(node, control)
        for command in commands(deployment, node):
            host.run(command.text)


@contextmanager
def open_connections(deployment: Deployment, folder: Path) -> Iterator[str]:
    """A kept connection to each node; yields ssh's ControlPath of them."""
    control = str(folder / "plain-%n")
    ways = [
        ["ssh", "-F", str(node.ssh_config), "-o", f"ControlPath={control}", str(node.ssh)] for node in deployment.node
    ]
    for way in ways:
        keep = ["-o", "ControlMaster=yes", "-o", "ControlPersist=600", "-f", "-N"]
        subprocess.run([*way[:-1], *keep, way[-1]], check=True, stderr=subprocess.DEVNULL)
    try:
        yield control
    finally:
        for way in ways:
            subprocess.run([*way[:-1], "-O", "exit", way[-1]], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def _no_connections() -> Iterator[None]:
    yield None


def cost(machines: Rack, work: Callable[[], object]) -> Cost:
    """What some work takes, here and on the machines."""
    nodes, own, way, began = _on_machines(machines), _own(), _way(), time.monotonic()
    work()
    return Cost(time.monotonic() - began, _on_machines(machines) - nodes, _own() - own, _way() - way)


def _on_machines(machines: Rack) -> float:
    return sum(machine.processor_s() for machine in machines.machines)


def _own() -> float:
    """Of this process and of what it waited for; kept connections and proxies outlive that."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _way() -> float:
    return on_the_way_s(Path(control_path("any", None)).parent)


def run_suite(file: Path, folder: Path, *options: str, environment: dict[str, str] | None = None) -> Run:
    """A run of `pytest -m infra` in a process of its own.

    Raises:
        SystemExit: it left no results.
    """
    reports = Path(tempfile.mkdtemp(prefix="reports-", dir=folder))
    command = [sys.executable, "-m", "pytest", "-m", "infra", "--deployment", str(file), "--reports", str(reports)]
    began = time.monotonic()
    done = subprocess.run(
        [*command, *options],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    wall_s = time.monotonic() - began
    left = list(reports.glob("latest/results.json"))
    if not left:
        raise SystemExit(f"{' '.join([*command, *options])} left no results:\n{done.stdout}{done.stderr}")
    tests = RunResults.model_validate_json(left[0].read_text(encoding="utf-8")).tests
    judged = [test for test in tests if test.outcome is not Outcome.SKIPPED]
    return Run(
        wall_s=wall_s,
        judging_s=sum(test.duration_s for test in tests),
        judged=len(judged),
        unwell=sum(test.outcome is not Outcome.PASSED for test in judged),
    )


def print_ours(title: str, figures: list[Ours]) -> None:
    """The table of one delay."""
    print(f"\nshakedown, {title}")
    print(
        f"{'nodes':>6}{'commands':>10}{'fetch cold':>12}{'fetch warm':>12}{'judging':>10}{'tier 0':>10}"
        f"{'whole run':>11}{'checks':>9}{'unwell':>8}{'processor of a warm fetch':>56}"
    )
    for one in figures:
        print(
            f"{one.nodes:6}{one.commands:10}{one.cold.wall_s:10.2f} s{one.warm.wall_s:10.2f} s"
            f"{one.replay.judging_s:8.2f} s{one.tier_0_s:8.2f} s{one.live.wall_s:9.2f} s"
            f"{one.replay.judged:9}{one.replay.unwell:8}{one.warm.spent:>56}"
        )


def print_plain(title: str, figures: list[Plain], tier_0: Ours) -> None:
    """The table of plain testinfra on two nodes, beside ours."""
    print(f"\nplain testinfra, 2 nodes, {title}")
    for one in figures:
        times = one.once.wall_s / tier_0.tier_0_s
        print(
            f"  {one.way:36}each question once {one.once.wall_s:7.2f} s ({times:.1f} times tier 0), "
            f"processor {one.once.spent}"
        )
        if one.checks:
            times = one.checks.judging_s / tier_0.tier_0_s
            print(
                f"  {'':36}the checks         {one.checks.judging_s:7.2f} s ({times:.1f} times tier 0), "
                f"{one.asked} questions, {one.checks.judged} checks, {one.checks.unwell} unwell"
            )


def judge_against_plain(tier_0: Ours, figures: list[Plain]) -> None:
    """How many times faster, for each way of plain testinfra."""
    print()
    for one in figures:
        took = {"each question once": one.once.wall_s} | ({"the checks": one.checks.judging_s} if one.checks else {})
        for what, wall_s in took.items():
            times = wall_s / tier_0.tier_0_s
            claim = f"{TIMES_FASTER:g} times faster than plain testinfra, {one.way}, {what}"
            target(claim, times >= TIMES_FASTER, f"{times:.1f} times")


def judge_alone(near: list[Ours], far: list[Ours]) -> None:
    """Two nodes in time; many nodes in the time of two and of what their own work takes these processors."""
    pair = near[0]
    target(
        f"tier 0 on {pair.nodes} nodes within {PAIR_WITHIN_S:g} s",
        pair.tier_0_s <= PAIR_WITHIN_S,
        f"{pair.tier_0_s:.2f} s",
    )
    for figures, title in ((near, "no delay"), (far, "with the delay")):
        few, many = figures[0], figures[-1]
        if few.nodes == many.nodes:
            continue
        extra_s = (many.warm.nodes_s - few.warm.nodes_s) / CORES
        limit_s = few.warm.wall_s + extra_s + ALLOWANCE_S
        target(
            f"warm fetch on {many.nodes} nodes, {title}: as on {few.nodes}, and the others' processor time",
            many.warm.wall_s <= limit_s,
            f"{many.warm.wall_s:.2f} s, limit {few.warm.wall_s:.2f} + {extra_s:.2f} + {ALLOWANCE_S:g} = {limit_s:.2f}",
        )


def target(what: str, met: bool, seen: str) -> None:
    """One line about one target."""
    print(f"{'met' if met else 'NOT met':8}{what}: {seen}")


def _load() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


if __name__ == "__main__":
    main()
