"""No value of a deployment file is ever run: neither one that the file may hold, nor one that it refuses."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selftests.inventory.files import GOOD
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import bandwidth, collective, gpus, ports, ray_tasks, shards, verbs
from shakedown.nodes.active.lanes import End, Lane
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.ranks import as_declared
from shakedown.nodes.transport import DockerExec, Local
from shakedown.nodes.views.node import commands
from shakedown.outcomes import Stage

MARK = "owned"
FRAGMENTS = (
    f"; touch {MARK};",
    f"$(touch {MARK})",
    f"`touch {MARK}`",
    f"\ntouch {MARK}\n",
    f"| touch {MARK} |",
    f"& touch {MARK} &",
    f">{MARK} ",
    "'",
    '"',
    "\\",
    "--",
    "-x ",
    "${IFS}",
    "%s",
    "*",
    "x",
)
hostile = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map("".join)

PLACES: Mapping[str, Callable[[str], Mapping[str, Any]]] = {
    "node.name": lambda text: {"node": {"name": text}},
    "node.interface": lambda text: {"node": {"interface": text}},
    "node.python": lambda text: {"node": {"python": text}},
    "node.hcas": lambda text: {"node": {"hcas": (text,)}},
    "container.name": lambda text: {"container": {"name": text}},
    "model.path": lambda text: {"model": {"path": PurePosixPath(f"/{text}")}},
    "model.served_name": lambda text: {"model": {"served_name": text}},
    "ray.logs": lambda text: {"ray": {"logs": PurePosixPath(f"/{text}")}},
    "serve.log": lambda text: {"serve": {"log": PurePosixPath(f"/{text}")}},
}


@cache
def _good(folder: Path) -> Deployment:
    file = folder / "deployment.toml"
    file.write_text(GOOD + 'log = "/var/log/x"\n[container]\nname = "engine"\n')
    return load_deployment(file)


class Noting(Evidence):
    """Evidence that notes what it is asked to fetch, and reaches nobody."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(deployment.name, Stage.RAY, {node.name: Reach(node.name, Local()) for node in deployment.node})
        self.noted: list[Command] = []

    def fetch(self, wanted: Mapping[str, Sequence[Command]]) -> None:
        self.noted += [command for commands in wanted.values() for command in commands]
        raise EvidenceError("nobody is asked")


def ways(deployment: Deployment) -> tuple[Lane, ...]:
    """One lane, whose device has a name that no device can have."""
    ends = [End(node, node.interface, node.fabric_address, f"; touch {MARK};", 3) for node in deployment.node]
    return (Lane(*ends[:2]),)


def probes(deployment: Deployment) -> list[Command]:
    """Every command by which a probe would act."""
    evidence = Noting(deployment)
    for probe in (ports.ways, ray_tasks.tasks, partial(bandwidth.flows, ways(deployment)), shards.copies):
        with contextlib.suppress(EvidenceError):
            probe(deployment, evidence)
    for node in deployment.node:
        with contextlib.suppress(EvidenceError):
            gpus.load(node, deployment, evidence)
    with contextlib.suppress(EvidenceError):
        verbs.written(ways(deployment), evidence)
    for backend in ("gloo", "nccl"):
        with contextlib.suppress(EvidenceError):
            declared = {node.name: as_declared(node) for node in deployment.node}
            collective.ranks(deployment, evidence, backend, declared, collective.SIZES)
    assert len(evidence.noted) >= 13
    return evidence.noted


def with_value(good: Deployment, place: str, text: str) -> Deployment:
    """The deployment with a value that its file might have been refused for."""
    (section, fields), *_ = PLACES[place](text).items()
    if section == "node":
        head, *others = good.node
        return good.model_copy(update={"node": (head.model_copy(update=fields), *others)})
    return good.model_copy(update={section: getattr(good, section).model_copy(update=fields)})


@pytest.mark.parametrize("place", PLACES)
def test_no_command_of_a_view_runs_a_value(place: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every command is given to a real shell that finds one program only: the one that would tell."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "bin").mkdir()
    (folder / "bin" / "touch").symlink_to(shutil.which("touch") or "touch")
    good = _good(folder)

    @settings(max_examples=12, deadline=None)
    @given(hostile)
    def holds(text: str) -> None:
        deployment = with_value(good, place, text)
        asked = [command for node in deployment.node for command in commands(deployment, node)]
        for command in (*asked, *probes(deployment)):
            subprocess.run(
                ["/bin/sh", "-c", command.text],
                cwd=folder,
                env={"PATH": str(folder / "bin")},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=10,
            )
        assert not (folder / MARK).exists(), f"{place} was run by a command"

    holds()


@given(hostile)
def test_the_name_of_a_container_stays_one_argument(text: str) -> None:
    script = DockerExec(Local(), text).argv("id")[-1]
    assert shlex.split(script) == ["docker", "exec", "-i", text, "sh", "-c", "id"]
