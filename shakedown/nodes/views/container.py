"""The declared container as docker describes it, and what the engine finds inside."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from shakedown.errors import ContainerDownError, EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.container import out_of_reach
from shakedown.nodes.image_name import parse_image_name
from shakedown.nodes.views.base import View

_FORMAT = (
    '{"image":{{json .Image}},"tag":{{json .Config.Image}},"attached":{{json .Config.AttachStdout}},'
    '"compose":{{json (index .Config.Labels "com.docker.compose.project")}},'
    '"state":{{json .State.Status}},"host":{{json .HostConfig}},"mounts":{{json .Mounts}}}'
)
"""No environment: it stands in the view of that name, sifted."""

_GPUS = Command(
    "nvidia-smi -L 2>&1; ls /dev/nvidia[0-9]* 2>/dev/null; true", Place.ENGINE, key="GPUs where the engine runs"
)


@dataclass(frozen=True, slots=True)
class Container:
    """A container, as ``docker inspect`` has it; field names of the Docker Engine API in brackets.

    Attributes:
        image: id of the image it was made from (``Image``).
        tag: name by which that image was asked for (``Config.Image``).
        digests: registry digests of that image; empty for one that was built or loaded.
        platform: ``os/architecture`` of that image.
        attached: it was started in the foreground of a terminal (``Config.AttachStdout``); of a container that compose
            made that is not known, since it makes all of them so.
        compose: project of docker compose that made it; empty for none (a label).
        state: ``running``, ``exited`` and so on (``State.Status``).
        network, ipc: modes (``HostConfig.NetworkMode``, ``IpcMode``).
        shm_bytes: size of its ``/dev/shm`` where that is its own (``ShmSize``).
        privileged: ``--privileged``.
        capabilities: added ones, without ``CAP_`` (``CapAdd``).
        devices: paths on the host (``Devices``).
        gpus: it was made with GPUs: a device request, a CDI device or NVIDIA's runtime.
        limits: name -> hard limit, -1 for none (``Ulimits``).
        removed_at_end: ``--rm`` (``AutoRemove``).
        restart: policy (``RestartPolicy.Name``).
        log_driver: ``LogConfig.Type``.
        mounts: destination -> source.
        kept: destinations of mounts whose files outlive the container: all but those in memory.
    """

    image: str
    tag: str
    digests: frozenset[str]
    platform: str
    attached: bool
    compose: str
    state: str
    network: str
    ipc: str
    shm_bytes: int
    privileged: bool
    capabilities: frozenset[str]
    devices: tuple[str, ...]
    gpus: bool
    limits: Mapping[str, int]
    removed_at_end: bool
    restart: str
    log_driver: str
    mounts: Mapping[str, str]
    kept: frozenset[str]

    def keeps(self, file: PurePosixPath) -> bool:
        """Whether a file that is written there inside outlives the container."""
        places = {*map(PurePosixPath, self.kept)} | {PurePosixPath(place) for place in self.mounts}
        nearest = next((folder for folder in file.parents if folder in places), None)
        return nearest is not None and str(nearest) in self.kept

    def is_of(self, name: str) -> bool:
        """Whether its image has that id, that digest, or that name, in whatever way it is written."""
        wanted = parse_image_name(name)
        return name == self.image or wanted.digest in self.digests or wanted.means(parse_image_name(self.tag))

    def same_image(self, other: Container) -> bool:
        """Whether both were made from one image; stores that count ids differently still know one digest."""
        return self.image == other.image or bool(self.digests & other.digests)


class ContainerView(View):
    """The container that the deployment file declares; every question raises where it declares none."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """None without a declared container."""
        return (_inspect(deployment.container.name), _GPUS) if deployment.container else ()

    @cached_property
    def made(self) -> Container:
        """How it was made.

        Raises:
            EvidenceError: none is declared, or docker does not describe it.
        """
        command = _inspect(self._name)
        result = self._result(command)
        why = out_of_reach(result.stderr, self._name, self._node.name) if result.rc != 0 else None
        if why:
            raise why
        return parse_container(self._json(command))

    @property
    def _name(self) -> str:
        if self._deployment.container is None:
            raise EvidenceError("the deployment file declares no [container]")
        return self._deployment.container.name

    @property
    def trouble(self) -> ContainerDownError | None:
        """Why no command runs inside; None where one does."""
        try:
            self._result(_GPUS)
        except ContainerDownError as error:
            return error
        return None

    @cached_property
    def gpus(self) -> tuple[str, ...]:
        """The GPUs that answer inside, as ``nvidia-smi -L`` names them; their device files where it is not there."""
        return parse_gpus(self._text(_GPUS))

    @property
    def gpu_complaint(self) -> str:
        """The first line that was printed instead of a GPU; empty where there was none."""
        lines = self._text(_GPUS).splitlines()
        return next((line for line in lines if not line.startswith(("GPU ", "/dev/"))), "")


def _inspect(name: str) -> Command:
    """One command: the container, and the image that it names."""
    quoted = shlex.quote(name)
    image = f"$(docker inspect --type container -f '{{{{.Image}}}}' {quoted})"
    digests = '{"digests":{{json .RepoDigests}},"platform":"{{.Os}}/{{.Architecture}}"}'
    return Command(
        f"printf '{{\"container\":'; docker inspect --type container -f {shlex.quote(_FORMAT)} {quoted} || exit 1; "
        f'printf \',"image":\'; docker image inspect -f {shlex.quote(digests)} "{image}" 2>/dev/null || echo null; '
        "printf '}'",
        key="docker inspect of the declared container",
    )


def parse_container(answer: Mapping[str, Any]) -> Container:
    """The command's JSON -> container.

    Raises:
        EvidenceError: a field is missing, or of another type.
    """
    try:
        made, host, image = answer["container"], answer["container"]["host"], answer["image"] or {}
        return Container(
            image=str(made["image"]),
            tag=str(made["tag"]),
            digests=frozenset(digest.rpartition("@")[2] for digest in image.get("digests") or ()),
            platform=str(image.get("platform", "unknown")),
            attached=bool(made["attached"]),
            compose=str(made.get("compose") or ""),
            state=str(made["state"]),
            network=str(host["NetworkMode"]),
            ipc=str(host["IpcMode"]),
            shm_bytes=int(host.get("ShmSize") or 0),
            privileged=bool(host["Privileged"]),
            capabilities=frozenset(name.removeprefix("CAP_") for name in host.get("CapAdd") or ()),
            devices=tuple(device["PathOnHost"] for device in host.get("Devices") or ()),
            gpus=_has_gpus(host),
            limits={limit["Name"]: int(limit["Hard"]) for limit in host.get("Ulimits") or ()},
            removed_at_end=bool(host["AutoRemove"]),
            restart=str((host.get("RestartPolicy") or {}).get("Name") or "no"),
            log_driver=str((host.get("LogConfig") or {}).get("Type") or "unknown"),
            mounts={mount["Destination"]: mount.get("Source", "") for mount in made["mounts"] or ()},
            kept=frozenset(mount["Destination"] for mount in made["mounts"] or () if mount.get("Type") != "tmpfs"),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(f"docker describes the container otherwise than expected: {error!r}") from error


def _has_gpus(host: Mapping[str, Any]) -> bool:
    requests = host.get("DeviceRequests") or ()
    wanted = [name for request in requests for group in request.get("Capabilities") or () for name in group]
    ids = [name for request in requests for name in request.get("DeviceIDs") or ()]
    by_cdi = any(name.startswith("nvidia.com/gpu") for name in ids)
    return "gpu" in wanted or by_cdi or host.get("Runtime") == "nvidia"


def parse_gpus(text: str) -> tuple[str, ...]:
    """``nvidia-smi -L`` and the device files -> GPUs."""
    named = tuple(re.findall(r"^GPU \d+: (.+?) \(UUID", text, re.MULTILINE))
    missing = re.search(r"nvidia-smi.*not found", text)
    return named or (tuple(re.findall(r"^/dev/nvidia\d+$", text, re.MULTILINE)) if missing else ())
