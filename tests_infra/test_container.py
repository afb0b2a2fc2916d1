"""The container in which Ray and the engine run, where one is declared: how it was made, and what it finds inside."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.equality import differences, in_words, uneven
from shakedown.nodes.views.container import Container
from shakedown.nodes.views.node import NodeViews

pytestmark = [pytest.mark.infra, pytest.mark.requires("container")]

ALWAYS = ("hosts", "ray", "serving")
LOSES_LOGS = ("none",)


@pytest.mark.check("ENV-10", stages=ALWAYS)
def test_container_runs(view: NodeViews, claim: Claim) -> None:
    """The declared container runs on every node, and runs commands; what asks something inside stands behind this."""
    trouble = view.container.trouble
    claim(trouble is None, found=str(trouble), expected="a container of that name in which `docker exec` works")


@pytest.mark.check("ENV-03", stages=ALWAYS)
def test_container_shares_the_machines_network(view: NodeViews, claim: Claim) -> None:
    """The container uses the machine's own network: Ray, Gloo and NCCL then see the NICs, and no port is translated."""
    made = view.container.made
    claim(made.network == "host", found=f"network {made.network}", expected="--network host")


@pytest.mark.check("ENV-03", stages=ALWAYS)
def test_container_was_made_with_gpus(view: NodeViews, node: Node, claim: Claim) -> None:
    """The container was made with access to GPUs, where the node is to offer any."""
    claim(
        view.container.made.gpus or node.gpus == 0,
        found="no device request, no CDI device, and not NVIDIA's runtime",
        expected=f"--gpus all, for {node.gpus} declared",
    )


@pytest.mark.check("ENV-03", stages=ALWAYS, severity="warning")
def test_containers_were_made_alike(pair: dict[str, NodeViews], claim: Claim) -> None:
    """The containers of all nodes were made with the same flags and see the same folders."""
    differs = differences(pair, lambda view: _flags(view.container.made))
    claim(not differs, found=in_words(differs), differs=differs, expected="the same flags of `docker run` on all nodes")


@pytest.mark.check("ENV-04", stages=ALWAYS)
def test_containers_are_of_one_image(pair: dict[str, NodeViews], claim: Claim) -> None:
    """The containers of all nodes were made from one image: the same id, or the same digest."""
    made = {name: view.container.made for name, view in pair.items()}
    first = next(iter(made.values()))
    claim(
        all(first.same_image(other) for other in made.values()),
        found="; ".join(f"{name} {one.tag} {one.image[:19]} {one.platform}" for name, one in made.items()),
        expected="one image id on all nodes",
        differs=uneven({name: {"image": f"{one.tag} {one.image[:19]}"} for name, one in made.items()}),
    )


@pytest.mark.check("ENV-04", stages=ALWAYS)
def test_containers_are_of_the_declared_image(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The container was made from the image that the deployment file names, where it names one."""
    declared = deployment.container.image if deployment.container else None
    if declared is None:
        pytest.skip("no image is declared: [container].image")
    made = view.container.made
    claim(
        made.is_of(declared),
        found=f"made from {made.tag}",
        expected=declared,
    )


@pytest.mark.check("ENV-05", stages=ALWAYS)
def test_gpus_answer_inside(view: NodeViews, node: Node, claim: Claim) -> None:
    """Inside the container as many GPUs answer as the deployment file declares."""
    gpus = view.container.gpus
    claim(
        len(gpus) >= node.gpus,
        found=f"{', '.join(gpus) or 'none'}: {view.container.gpu_complaint or 'nothing was said'}",
        expected=f"{node.gpus} GPU in the answer of `nvidia-smi -L` in the container",
    )


@pytest.mark.check("ENV-06", stages=ALWAYS)
def test_log_of_a_crash_would_stay(view: NodeViews, claim: Claim) -> None:
    """What is written in the container is still there after a crash: it is not removed at its end, and docker logs."""
    made = view.container.made
    lost = ["--rm"] if made.removed_at_end else []
    lost += [f"--log-driver {made.log_driver}"] if made.log_driver in LOSES_LOGS else []
    claim(not lost, found=", ".join(lost), expected="no --rm, and a log driver that keeps what it gets")


@pytest.mark.check("ENV-06", stages=ALWAYS)
def test_serve_log_outlives_the_container(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """A log that the server writes inside the head's container lies in a folder that outlives it."""
    log = deployment.serve.log
    if log is None or deployment.serve.log_in != "container":
        pytest.skip("no log inside the container is declared: [serve].log with log_in = 'container'")
    made = head.container.made
    claim(
        made.keeps(log),
        found=f"{log} in the container's own files; mounted are {', '.join(sorted(made.kept)) or 'none'}",
        expected="a log below a mounted folder",
        node=head.node.name,
    )


@pytest.mark.check("RAY-15", stages=ALWAYS)
def test_container_does_not_live_in_a_terminal(view: NodeViews, claim: Claim) -> None:
    """The container was not started in the foreground of a terminal, whose end would be its own."""
    made = view.container.made
    if made.compose:
        pytest.skip(f"docker compose made it (project {made.compose}), by which all look as if they were attached")
    claim(
        not made.attached,
        found="started with its output attached, as `docker run` without -d does",
        expected="docker run -d",
    )


def _flags(made: Container) -> Mapping[str, object]:
    """What must be the same on all nodes; sources of mounts may differ, as home folders do."""
    return {
        "network": made.network,
        "ipc": made.ipc,
        "shm-size": made.shm_bytes if made.ipc != "host" else "host's",
        "privileged": made.privileged,
        "cap-add": ", ".join(sorted(made.capabilities)) or "none",
        "ulimit": ", ".join(f"{name}={limit}" for name, limit in sorted(made.limits.items())) or "none",
        "device": ", ".join(sorted(made.devices)) or "none",
        "gpus": made.gpus,
        "restart": made.restart,
        "volume": ", ".join(sorted(made.mounts)) or "none",
    }
