"""The Ray cluster: who is in it, and what it can give."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.equality import differences, in_words
from shakedown.nodes.ranks import driver_of
from shakedown.nodes.views.node import NodeViews
from shakedown.nodes.views.processes import ANY
from shakedown.nodes.views.ray_cluster import RayNode, gcs_address
from shakedown.nodes.views.ray_settings import impatient

pytestmark = pytest.mark.infra

CLUSTER = ("ray", "serving")
_PACKAGE = "`{}` where Ray runs; another interpreter is named by `python` under [[node]] of the deployment file"


@pytest.mark.check("RAY-05", stages=("hosts",))
def test_no_earlier_ray_is_there(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Before a launch no Ray process runs on any node, and nothing listens on Ray's port of the head."""
    listeners = view.processes.listeners(deployment.ray.port) if view.node.role == "head" else ()
    left = (*view.processes.ray, *map(str, listeners))
    claim(
        not left,
        found="; ".join(left),
        expected=f"no raylet, no gcs_server, nothing on port {deployment.ray.port} of the head",
    )


@pytest.mark.check("RAY-05", stages=CLUSTER)
def test_no_second_raylet_is_there(view: NodeViews, claim: Claim) -> None:
    """No node has a second raylet, of an earlier cluster or of a second start, whose ranks could be taken for ours."""
    sessions = [f"raylet {raylet.pid} of {raylet.argument('session-name')}" for raylet in view.ray.raylets]
    claim(len(sessions) <= 1, found="; ".join(sessions), expected="one raylet: `ray stop --force` ends all")


@pytest.mark.check("RAY-08", stages=CLUSTER, needs=("NET-06",))
def test_node_connects_to_the_gcs(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every node can connect to the head's GCS at the head's fabric address."""
    problem = view.ray.gcs_problem
    claim(problem is None, found=f"{gcs_address(deployment)}: {problem}", expected="a TCP connection")


@pytest.mark.check("RAY-09", stages=CLUSTER, needs=("RAY-03",))
def test_node_connects_to_every_raylet(view: NodeViews, claim: Claim) -> None:
    """Every node can connect to the ports of every raylet, which are random ones and not the one of the GCS."""
    closed = view.ray.unreachable
    claim(not closed, found="; ".join(closed), expected="TCP connections to all nodes, on whatever port")


@pytest.mark.check("RAY-03", stages=CLUSTER, needs=("RAY-05", "RAY-08"))
def test_node_is_in_the_cluster(view: NodeViews, head: NodeViews, claim: Claim) -> None:
    """Every declared node is alive in the cluster."""
    cluster = head.ray.cluster
    claim(
        _row(view, cluster.alive) is not None,
        found="alive in the cluster: " + (", ".join(str(row) for row in cluster.alive) or "nobody"),
        expected=f"{view.node.name}, under an address of this node",
    )


@pytest.mark.check("RAY-01", stages=CLUSTER, needs=("RAY-03", "RAY-01"))
def test_cluster_knows_the_node_by_its_fabric_address(
    view: NodeViews, node: Node, head: NodeViews, claim: Claim
) -> None:
    """The cluster knows every node by its fabric address and by no other."""
    rows = _rows(view, head.ray.cluster.alive)
    claim(
        [row.address for row in rows] == [str(node.fabric_address)],
        found="; ".join(map(str, rows)),
        expected=f"one living row, with {node.fabric_address}",
    )


@pytest.mark.check("RAY-04", stages=CLUSTER, needs=("RAY-03",))
def test_driver_will_find_this_cluster(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """A driver on the head attaches to this cluster: by RAY_ADDRESS, or else by what `ray start` left for it."""
    told = driver_of(head, deployment).environment.get("RAY_ADDRESS", "")
    taken = head.ray.current_cluster if told in ("", "auto") else told
    this = head.ray.raylet.argument("gcs-address")
    claim(
        taken == this or _leads_here(taken or "", head, deployment),
        found=f"RAY_ADDRESS={told or 'not set'}, ray_current_cluster says {head.ray.current_cluster or 'nothing'}",
        expected=f"{this}; without either, the driver starts a Ray of its own",
        node=head.node.name,
    )


@pytest.mark.check("RAY-07", stages=CLUSTER, needs=("RAY-08",))
def test_cluster_holds_nobody_else(head: NodeViews, pair: dict[str, NodeViews], claim: Claim) -> None:
    """No node is alive in the cluster that is not declared, and none twice."""
    alive = head.ray.cluster.alive
    ours = [_row(view, alive) for view in pair.values()]
    strangers = [row for row in alive if row not in ours]
    claim(not strangers, found="; ".join(map(str, strangers)), expected=f"alive: exactly {', '.join(pair)}")


@pytest.mark.check("RAY-07", stages=("ray",), needs=("RAY-08",))
def test_cluster_begins_without_an_earlier_life(head: NodeViews, claim: Claim) -> None:
    """Before the model is launched the cluster holds no dead node."""
    _claim_nobody_died(head, claim)


@pytest.mark.check("RAY-07", stages=("serving",), needs=("RAY-08",), severity="warning")
def test_no_node_died_since_the_cluster_began(head: NodeViews, claim: Claim) -> None:
    """While the model is served the cluster holds no dead node; one that came back in time is still in its table."""
    _claim_nobody_died(head, claim)


@pytest.mark.check("RAY-07", stages=CLUSTER, needs=("RAY-03",))
def test_raylets_are_of_one_session(head: NodeViews, pair: dict[str, NodeViews], claim: Claim) -> None:
    """The raylets of all nodes belong to the session that the head's GCS knows."""
    session = head.ray.cluster.session
    sessions = {name: view.ray.raylet.argument("session-name") for name, view in pair.items()}
    claim(
        set(sessions.values()) == {session},
        found=", ".join(f"{name} {own}" for name, own in sessions.items()),
        expected=f"{session} on all nodes",
    )


@pytest.mark.check("RAY-06", stages=CLUSTER, needs=("RAY-03",))
def test_node_offers_its_accelerators(view: NodeViews, node: Node, head: NodeViews, claim: Claim) -> None:
    """Every node offers Ray as many accelerators as the deployment file declares."""
    row = _row(view, head.ray.cluster.alive)
    resources = row.resources if row else {}
    claim(
        resources.get("GPU", 0) >= node.gpus,
        found=", ".join(f"{name} {amount:g}" for name, amount in sorted(resources.items())),
        expected=f"GPU at least {node.gpus}",
    )


@pytest.mark.check("RAY-06", stages=("ray",), needs=("RAY-03",))
def test_accelerators_are_free(head: NodeViews, claim: Claim) -> None:
    """Before the model is launched no accelerator of the cluster is reserved."""
    cluster = head.ray.cluster
    held = [f"{row}: {_used(row):g} of {row.resources['GPU']:g} GPU" for row in cluster.alive if _used(row)]
    held += [f"placement group {id[:8]} {state}" for id, state in cluster.groups.items() if state != "REMOVED"]
    claim(not held, found="; ".join(held), expected="all accelerators available, no placement group")


@pytest.mark.check("RAY-06", stages=("serving",), needs=("RAY-03",))
def test_accelerators_are_taken_by_the_model(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """While the model is served, its ranks hold as many accelerators as were declared, and nobody holds more."""
    cluster = head.ray.cluster
    used = sum(_used(row) for row in cluster.alive)
    ranks = deployment.serve.tensor_parallel * deployment.serve.pipeline_parallel
    groups = [id for id, state in cluster.groups.items() if state == "CREATED"]
    claim(
        used == ranks and len(groups) == 1,
        found=f"{used:g} GPU reserved, by {len(groups)} placement groups",
        expected=f"{ranks} (tensor_parallel x pipeline_parallel), by one",
    )


@pytest.mark.check("RAY-10", stages=CLUSTER, needs=("RAY-03",), severity="warning")
def test_health_checks_are_as_patient_as_rays_own(view: NodeViews, claim: Claim) -> None:
    """No setting on this node makes Ray give up on a node earlier than it would by itself."""
    hasty = impatient(view.ray.environment)
    claim(not hasty, found="; ".join(hasty), expected="Ray's defaults or more: a node that loads weights answers late")


@pytest.mark.check("RAY-11", stages=("hosts", *CLUSTER), needs=("RAY-12", "RAY-13"))
def test_versions_are_equal(pair: dict[str, NodeViews], deployment: Deployment, claim: Claim) -> None:
    """Python, Ray, the engine and PyTorch have the same versions on all nodes."""
    names = ("python", "ray", deployment.serve.engine, "torch")
    uneven = differences(pair, lambda view: {name: view.platform.versions.get(name) for name in names})
    missing = [name for name in names if not any(view.platform.versions.get(name) for view in pair.values())]
    claim(
        not uneven and not missing,
        found="; ".join(filter(None, (in_words(uneven), *(f"{name}: none on any node" for name in missing)))),
        expected=f"the same {', '.join(names)} on all nodes",
        differs=uneven,
    )


@pytest.mark.check("RAY-12", stages=("hosts", *CLUSTER))
def test_ray_is_installed(view: NodeViews, node: Node, claim: Claim) -> None:
    """The Python that is declared for every node finds Ray."""
    claim(view.engine.finds_ray, found=f"{node.python} finds no `ray`", expected=_PACKAGE.format("ray"))


@pytest.mark.check("RAY-13", stages=("hosts", *CLUSTER))
def test_engine_is_installed(view: NodeViews, node: Node, deployment: Deployment, claim: Claim) -> None:
    """The Python that is declared for every node finds the engine."""
    engine = deployment.serve.engine
    claim(view.engine.finds_engine, found=f"{node.python} finds no `{engine}`", expected=_PACKAGE.format(engine))


@pytest.mark.check("RAY-15", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_does_not_live_in_a_session(view: NodeViews, claim: Claim) -> None:
    """No raylet is a child of somebody's ssh session, whose end would be its own."""
    above = view.ray.raylet.ancestors
    claim(
        not _in_a_session(above),
        found=f"above the raylet: {', '.join(above)}",
        expected="a service, a container's first process, tmux or screen; or `ray start` without --block",
    )


def _claim_nobody_died(head: NodeViews, claim: Claim) -> None:
    dead = [row for row in head.ray.cluster.nodes if not row.alive]
    claim(not dead, found="; ".join(f"{row} {row.death}".strip() for row in dead), expected="no row of an earlier life")


def _in_a_session(ancestors: Sequence[str]) -> bool:
    """Whether one of the processes above ends with a connection, and none outlives it."""
    keeping = any(name.startswith(("tmux", "screen", "SCREEN")) for name in ancestors)
    return not keeping and any(name.startswith(("sshd", "login")) for name in ancestors)


def _leads_here(address: str, head: NodeViews, deployment: Deployment) -> bool:
    """Whether ``HOST:PORT`` is a socket of the head's GCS: it listens on all addresses, which names may stand for."""
    host, _, port = address.rpartition(":")
    names = {"localhost", head.node.name, *(row.hostname for row in _rows(head, head.ray.cluster.alive))}
    heard = {listener.address for listener in head.processes.listeners(deployment.ray.port)} & ANY
    return port == str(deployment.ray.port) and bool(heard) and host in names | _own(head)


def _rows(view: NodeViews, rows: tuple[RayNode, ...]) -> list[RayNode]:
    """The rows whose address is one of this node's: by name it could be another machine of the same name."""
    return [row for row in rows if row.address in _own(view) - {"127.0.0.1"}]


def _own(view: NodeViews) -> set[str]:
    return {str(address.ip) for nic in view.network.interfaces.values() for address in nic.addresses}


def _row(view: NodeViews, rows: tuple[RayNode, ...]) -> RayNode | None:
    """The node's row, the one with the fabric address if there are several."""
    own = sorted(_rows(view, rows), key=lambda row: row.address != str(view.node.fabric_address))
    return own[0] if own else None


def _used(row: RayNode) -> float:
    return row.resources.get("GPU", 0) - row.available.get("GPU", 0)
