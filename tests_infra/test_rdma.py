"""RDMA: the devices, their GIDs, and whether NCCL is told the right ones of this very node."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from fixtures.claim import Claim
from shakedown.engines import nccl
from shakedown.engines.nccl import Selector
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.ranks import Rank, rank_of
from shakedown.nodes.views.links import Interface
from shakedown.nodes.views.node import NodeViews
from shakedown.nodes.views.rdma import Port
from shakedown.outcomes import Stage

pytestmark = pytest.mark.infra

CLUSTER = ("ray", "serving")
ALWAYS = ("hosts", *CLUSTER)

Told = Callable[[NodeViews], Mapping[str, str]]


@pytest.fixture
def told(head: NodeViews, deployment: Deployment, evidence: Evidence) -> Told:
    """The environment of a node's ranks; before there is Ray, of whatever is started on the node."""

    def environment(view: NodeViews) -> Mapping[str, str]:
        if evidence.stage is Stage.HOSTS:
            return view.environment.login
        return rank_of(view, head, deployment).final

    return environment


@pytest.mark.check("NET-20", stages=ALWAYS)
def test_declared_hcas_are_there(view: NodeViews, node: Node, claim: Claim) -> None:
    """Every HCA that the deployment file declares for a node exists on it and has a link."""
    if not node.hcas:
        pytest.skip("no hcas declared for this node")
    active = {port.hca for port in view.rdma.active}
    claim(active >= set(node.hcas), found=_listed(view.rdma.ports), expected=f"{', '.join(node.hcas)}, ACTIVE")


@pytest.mark.check("NET-03", stages=ALWAYS, needs=("NET-20",))
def test_all_halves_of_the_port_have_an_address(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """As many HCAs as one port of this hardware has are active and have an IPv4 address of the fabric."""
    halves = deployment.profile.hcas_per_port
    if halves is None:
        pytest.skip(f"profile {deployment.profile.name} does not say how many HCAs a port is")
    usable = {port.hca for port in view.rdma.active if _fabric_indices(port, deployment)}
    claim(
        len(usable) >= halves,
        found=f"with an address of [fabric]: {', '.join(sorted(usable)) or 'none'}; {_listed(view.rdma.ports)}",
        expected=f"{halves} HCAs ({deployment.profile.origin('hcas_per_port')})",
    )


@pytest.mark.check("NET-03", stages=CLUSTER, needs=("RAY-03", "NET-09"))
def test_nccl_may_use_all_halves(view: NodeViews, node: Node, told: Told, claim: Claim) -> None:
    """NCCL_IB_HCA, where it is set, leaves out none of the HCAs that are declared for the node."""
    value = told(view).get(nccl.HCAS)
    left_out = [] if value is None else [hca for hca in node.hcas if not Selector.parse(value).takes(hca)]
    claim(
        not left_out,
        found=f"{nccl.HCAS}={value} leaves out {', '.join(left_out)}",
        expected=f"{','.join(node.hcas)}, or not set",
    )


@pytest.mark.check("NET-09", stages=ALWAYS, needs=("NET-10",))
def test_nccl_is_told_active_hcas(view: NodeViews, told: Told, claim: Claim) -> None:
    """Each name in NCCL_IB_HCA, where it is set, fits an active HCA of that very node, and one at least is taken."""
    value = told(view).get(nccl.HCAS)
    if value is None:
        pytest.skip(f"{nccl.HCAS} is not set on this node")
    selector = Selector.parse(value)
    active = [(port.hca, port.number) for port in view.rdma.active]
    unmatched = selector.unmatched(active)
    taken = [hca for hca, port in active if selector.takes(hca, port)]
    claim(
        bool(taken) and not unmatched,
        found=f"{nccl.HCAS}={value}: {', '.join(unmatched) or value} fits no active one; {_listed(view.rdma.ports)}",
        expected="names of active HCAs of this node, at commas and without blanks",
    )


@pytest.mark.check("NET-08", stages=ALWAYS, needs=("NET-05", "NET-09"))
def test_gid_index_leads_to_the_fabric(view: NodeViews, deployment: Deployment, told: Told, claim: Claim) -> None:
    """NCCL_IB_GID_INDEX, where it is set, is the RoCE v2 entry of a fabric address on every HCA that NCCL uses."""
    environment = told(view)
    index = nccl.gid_index(environment)
    if index is None:
        pytest.skip(f"{nccl.GID_INDEX} is not set on this node: NCCL chooses by itself")
    wrong = []
    for port in _used(view, environment):
        right = _fabric_indices(port, deployment)
        if index not in right:
            wrong.append(f"{port.hca}: {port.gid(index) or f'{index} is empty'}; right is {right or 'none'}")
    claim(not wrong, found=f"{nccl.GID_INDEX}={index}: " + "; ".join(wrong), expected="not set, or right on every HCA")


@pytest.mark.check("NET-08", stages=ALWAYS, needs=("NET-20", "RAY-03"))
def test_hcas_of_one_name_have_addresses_of_one_kind(
    pair: dict[str, NodeViews], deployment: Deployment, told: Told, claim: Claim
) -> None:
    """An HCA that NCCL uses has a RoCE v2 entry of a fabric address on all nodes or on none: kinds do not meet."""
    having: dict[str, dict[str, bool]] = {}
    for name, view in pair.items():
        for port in _used(view, told(view)):
            having.setdefault(port.hca, {})[name] = bool(_fabric_indices(port, deployment))
    uneven = [
        f"{hca}: " + ", ".join(f"{name} {'has one' if there else 'has none'}" for name, there in nodes.items())
        for hca, nodes in having.items()
        if len(set(nodes.values())) > 1
    ]
    claim(not uneven, found="; ".join(uneven), expected="a RoCE v2 entry of a fabric address on all nodes")


@pytest.mark.check("NET-11", stages=ALWAYS)
def test_engine_can_open_the_hcas(view: NodeViews, claim: Claim) -> None:
    """Where the engine runs there is a device file for every HCA of the machine, and the library that opens it."""
    if not view.rdma.hcas:
        pytest.skip("no RDMA device on this node")
    files = view.rdma.openable
    claim(
        len(files) >= len(view.rdma.hcas) and view.rdma.has_library,
        found=f"/dev/infiniband: {', '.join(files) or 'no uverbs'}; libibverbs.so.1 "
        f"{'is known to the loader' if view.rdma.has_library else 'is not there'}; HCAs: {', '.join(view.rdma.hcas)}",
        expected="a uverbs device for each HCA, and libibverbs.so.1",
    )


@pytest.mark.check("NET-12", stages=ALWAYS, needs=("NET-10",))
def test_nccl_is_told_a_nic_that_works(view: NodeViews, deployment: Deployment, told: Told, claim: Claim) -> None:
    """The NIC that NCCL_SOCKET_IFNAME, where it is set, leads to first is up and in a declared network."""
    value = told(view).get(nccl.NICS)
    if not value or len(value) < 2:  # NCCL takes a single character for not set
        pytest.skip(f"{nccl.NICS} is not set on this node")
    nics = view.network.interfaces
    taken = [nic for nic in nics.values() if nic.is_up and nic.addresses and Selector.parse(value).takes(nic.name)]
    claim(
        bool(taken) and _is_declared(taken[0], deployment),
        found=f"{nccl.NICS}={value} leads to {', '.join(nic.name for nic in taken) or 'no NIC that is up'}; "
        f"there are {', '.join(nics)}",
        expected=f"{view.node.interface}, or another NIC in a subnet of [fabric] or [management]",
    )


@pytest.mark.check("NET-10", stages=CLUSTER, needs=("RAY-03",))
def test_devices_that_are_handed_over_exist_here(view: NodeViews, rank: Rank, claim: Claim) -> None:
    """Names of NICs and HCAs that the driver hands to this node's ranks for NCCL are names of devices of this node."""
    there = {
        nccl.NICS: [name for name in view.network.interfaces if name != "lo"],
        nccl.HCAS: list(view.rdma.hcas),
    }
    foreign = [
        f"{variable}={rank.final[variable]} fits none of {', '.join(devices) or 'none'}"
        for variable, devices in there.items()
        if rank.final.get(variable, "") != rank.raylet.get(variable, "")
        and not any(map(Selector.parse(rank.final[variable]).takes, devices))
    ]
    claim(
        not foreign,
        found=f"{'; '.join(foreign)}; it comes from the head",
        expected="values of the node's own, names or prefixes that fit all nodes, or none for the server on the head",
    )


def _used(view: NodeViews, environment: Mapping[str, str]) -> list[Port]:
    """The Ethernet ports that NCCL uses: active, and taken by NCCL_IB_HCA."""
    selector = Selector.parse(environment.get(nccl.HCAS, ""))
    return [port for port in view.rdma.active if port.ethernet and selector.takes(port.hca, port.number)]


def _fabric_indices(port: Port, deployment: Deployment) -> list[int]:
    return [gid.index for gid in port.gids if gid.ipv4 and deployment.fabric.holds(gid.ipv4)]


def _is_declared(nic: Interface, deployment: Deployment) -> bool:
    networks = (deployment.fabric, deployment.management)
    return any(network.holds(address.ip) for network in networks for address in nic.addresses)


def _listed(ports: tuple[Port, ...]) -> str:
    return "HCAs of this node: " + (", ".join(str(port) for port in ports) or "none")
