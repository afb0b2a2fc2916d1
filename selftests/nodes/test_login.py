"""Behind sudo it is the login that counts: its variables, its files, its limits; on machines with OpenSSH and sudo."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftests.nodes.rack import LOCKED, TRUSTED, Machine, rack
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Container, Deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.login import with_environment
from shakedown.nodes.transport import Local, OpenSSH
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="machines with users of their own are made by root only")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One that a user may log in to whom sudo trusts."""
    with rack(tmp_path_factory.mktemp("rack")) as (first, _):
        yield first


def views_of(machine: Machine, *, user: str, sudo: bool) -> NodeViews:
    """The head as that user finds it."""
    planned = load_deployment(FILE)
    head = planned.head.model_copy(update={"sudo": sudo})
    deployment = planned.model_copy(update={"node": (head, *planned.workers)})
    way = OpenSSH(f"{user}@{machine.name}", config=str(machine.config), sudo=sudo)
    return NodeViews(deployment, head, Evidence("rack", Stage.HOSTS, {head.name: Reach(head.name, way)}))


@pytest.mark.parametrize("sudo", [False, True])
def test_the_logins_environment_is_read_and_not_roots(machine: Machine, *, sudo: bool) -> None:
    config = machine.config.parent / "config"
    config.mkdir(exist_ok=True)
    (config / "ray_non_carry_over_env_vars.json").write_text('["NCCL_IB_HCA"]')
    for folder in (config, *config.parents[:-2]):
        folder.chmod(0o755)
    views = views_of(machine, user=TRUSTED, sudo=sudo)
    assert views.environment.login["VLLM_NO_USAGE_STATS"] == "1"
    assert views.environment.not_handed_over == {"NCCL_IB_HCA"}
    assert f"{machine.config.parent}/cache" in {one.folder for one in views.disks.written}


@pytest.mark.parametrize(
    ("user", "sudo", "limit"), [(TRUSTED, False, LOCKED), (TRUSTED, True, LOCKED), ("root", False, None)]
)
def test_the_logins_limit_is_read_and_not_roots(machine: Machine, user: str, limit: int | None, *, sudo: bool) -> None:
    assert views_of(machine, user=user, sudo=sudo).limits.locked.new == limit


def test_a_login_that_cannot_be_found_is_not_guessed() -> None:
    planned = load_deployment(FILE)
    head = planned.head.model_copy(update={"sudo": True})
    views = NodeViews(planned, head, Evidence("here", Stage.HOSTS, {head.name: Reach(head.name, Local())}))
    with pytest.raises(EvidenceError, match="no sudo above this process"):
        _ = views.environment.login


def in_container(deployment: Deployment) -> Deployment:
    """The same, with a container."""
    return deployment.model_copy(update={"container": Container(name="engine")})


def test_in_a_container_sudo_has_no_say(tmp_path: Path) -> None:
    planned = in_container(load_deployment(FILE))
    head = planned.head.model_copy(update={"sudo": True})
    assert with_environment(f"cat {tmp_path}", planned, head) == f"cat {tmp_path}"
