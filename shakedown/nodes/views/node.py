"""All views of one node together."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from testinfra.host import Host

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.backend import host_for
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.base import View
from shakedown.nodes.views.boot import BootView
from shakedown.nodes.views.container import ContainerView
from shakedown.nodes.views.disks import DisksView
from shakedown.nodes.views.engine import EngineView
from shakedown.nodes.views.engine_files import EngineFilesView
from shakedown.nodes.views.environment import EnvironmentView
from shakedown.nodes.views.firewall import FirewallView
from shakedown.nodes.views.gpu import GpuView
from shakedown.nodes.views.kernel import KernelView
from shakedown.nodes.views.limits import LimitsView
from shakedown.nodes.views.memory import MemoryView
from shakedown.nodes.views.model_files import ModelFilesView
from shakedown.nodes.views.network import NetworkView
from shakedown.nodes.views.platform import PlatformView
from shakedown.nodes.views.processes import ProcessesView
from shakedown.nodes.views.ray import RayView
from shakedown.nodes.views.rdma import RdmaView
from shakedown.nodes.views.serve_log import ServeLogView
from shakedown.nodes.views.server import ServerView
from shakedown.nodes.views.system import SystemView

V = TypeVar("V", bound=View)

VIEWS: tuple[type[View], ...] = (
    PlatformView,  # the clock is asked first
    NetworkView,
    BootView,
    RdmaView,
    FirewallView,
    SystemView,
    MemoryView,
    LimitsView,
    GpuView,
    KernelView,
    DisksView,
    ProcessesView,
    EnvironmentView,
    ModelFilesView,
    EngineFilesView,
    RayView,
    EngineView,
    ServerView,
    ServeLogView,
    ContainerView,
)


class NodeViews:
    """What one node says, by subject.

    Args:
        deployment: what the whole is meant to be.
        node: the node.
        evidence: of the stage at which the claims are made.
    """

    def __init__(self, deployment: Deployment, node: Node, evidence: Evidence) -> None:
        self.node = node
        self._deployment = deployment
        self._hosts: dict[Place, Host] = {place: host_for(evidence, node.name, place) for place in Place}

    @cached_property
    def platform(self) -> PlatformView:
        """Clock and versions."""
        return self._view(PlatformView)

    @cached_property
    def network(self) -> NetworkView:
        """NICs, addresses, routes, echoes."""
        return self._view(NetworkView)

    @cached_property
    def boot(self) -> BootView:
        """What the next boot brings back of the network."""
        return self._view(BootView)

    @cached_property
    def rdma(self) -> RdmaView:
        """RDMA devices and their GIDs."""
        return self._view(RdmaView)

    @cached_property
    def firewall(self) -> FirewallView:
        """Rules that keep packets out."""
        return self._view(FirewallView)

    @cached_property
    def system(self) -> SystemView:
        """Versions beneath Ray and the engine."""
        return self._view(SystemView)

    @cached_property
    def memory(self) -> MemoryView:
        """Memory of the machine."""
        return self._view(MemoryView)

    @cached_property
    def limits(self) -> LimitsView:
        """What processes are allowed where Ray and the engine run."""
        return self._view(LimitsView)

    @cached_property
    def gpu(self) -> GpuView:
        """NVIDIA's GPUs."""
        return self._view(GpuView)

    @cached_property
    def kernel(self) -> KernelView:
        """The kernel and its modules."""
        return self._view(KernelView)

    @cached_property
    def disks(self) -> DisksView:
        """File systems."""
        return self._view(DisksView)

    @cached_property
    def engine_files(self) -> EngineFilesView:
        """The engine as it is installed."""
        return self._view(EngineFilesView)

    @cached_property
    def processes(self) -> ProcessesView:
        """Listening sockets and Ray processes."""
        return self._view(ProcessesView)

    @cached_property
    def environment(self) -> EnvironmentView:
        """What a command started now would inherit."""
        return self._view(EnvironmentView)

    @cached_property
    def model_files(self) -> ModelFilesView:
        """The model's folder."""
        return self._view(ModelFilesView)

    @cached_property
    def ray(self) -> RayView:
        """The raylet and, on the head, the cluster."""
        return self._view(RayView)

    @cached_property
    def server(self) -> ServerView:
        """The API server; on the head."""
        return self._view(ServerView)

    @cached_property
    def engine(self) -> EngineView:
        """Ray and the engine as installed."""
        return self._view(EngineView)

    @cached_property
    def container(self) -> ContainerView:
        """The declared container."""
        return self._view(ContainerView)

    @cached_property
    def serve_log(self) -> ServeLogView:
        """What the server wrote when it started; on the head."""
        return self._view(ServeLogView)

    def _view(self, kind: type[V]) -> V:
        return kind(self._deployment, self.node, self._hosts)


def commands(deployment: Deployment, node: Node) -> tuple[Command, ...]:
    """Every command that the views may ask of a node."""
    return tuple(command for view in VIEWS for command in view.commands(deployment, node))


def fetch(deployment: Deployment, evidence: Evidence) -> None:
    """Ask all nodes everything that the views may want to know, in one round trip each.

    Raises:
        NodeUnreachableError: see :meth:`Evidence.fetch`.
    """
    evidence.fetch({node.name: commands(deployment, node) for node in deployment.node})
