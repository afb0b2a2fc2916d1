"""Docker Engine on both machines of a rack, each with a container ``engine`` in which something named raylet runs."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from selftests.nodes.machines import eventually
from selftests.nodes.rack import FABRIC, Machine, rack

CONTAINER = "engine"
SOCKET = Path("run/docker.sock")

_DAEMON = (
    "dockerd --bridge=none --iptables=false --ip6tables=false --storage-driver=vfs --host=unix:///{socket} "
    "--data-root={folder}/{{name}}.docker --exec-root=/run/docker --pidfile=/run/docker.pid "
    "--cgroup-parent=/{group} --exec-opt native.cgroupdriver=cgroupfs > {folder}/{{name}}.dockerd.log 2>&1"
)
"""No bridge, no packet filter: containers use the machine's network, as Ray's must. Files are plain copies (vfs)."""

_RAYLET = "cp /usr/bin/sleep /raylet && exec /raylet infinity"


def docker(machine: Machine, *arguments: str, stdin: bytes = b"") -> str:
    """What a command of the client prints, asked at the machine's own daemon."""
    command = ["docker", "--host", daemon(machine), *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def daemon(machine: Machine) -> str:
    """Where the client finds the daemon of a machine from outside of it."""
    return f"unix://{machine.root / SOCKET}"


@contextlib.contextmanager
def rack_with_docker(folder: Path) -> Iterator[tuple[Machine, Machine]]:
    """Two machines, on each of which the container runs."""
    assert shutil.which("dockerd", path="/usr/sbin:/sbin:" + os.environ["PATH"]), (
        "these tests need Docker Engine: apt-get install docker.io"
    )
    group = f"shakedown-{os.getpid()}"
    try:
        with rack(folder, _DAEMON.format(socket=SOCKET, folder=folder, group=group)) as machines:
            for machine in machines:
                _start(machine)
            yield machines
    finally:
        _remove_group(group)


def _start(machine: Machine) -> None:
    eventually((machine.root / SOCKET).is_socket, f"dockerd listens on {machine.name}")
    docker(machine, "import", "-", CONTAINER, stdin=_image())
    variables = {"VLLM_HOST_IP": FABRIC[machine.name], "RAY_memory_monitor_refresh_ms": "0"}
    settings = [text for name, value in variables.items() for text in ("--env", f"{name}={value}")]
    options = ("--detach", f"--name={CONTAINER}", "--network=host", "--volume=/usr:/usr:ro", *settings)
    docker(machine, "run", *options, CONTAINER, "sh", "-c", _RAYLET)


def _image() -> bytes:
    """An image that holds next to nothing: its programs are this machine's, mounted when it runs."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in ("bin", "sbin", "lib", "lib64"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
    return archive.getvalue()


def _remove_group(name: str) -> None:
    """The kernel keeps a control group that its maker did not remove; of these, every controller has its own."""
    top = Path("/sys/fs/cgroup")
    for root in (top / name, *top.glob(f"*/{name}")):
        for folder, _, _ in os.walk(root, topdown=False):
            processes = Path(folder, "cgroup.procs")
            eventually(partial(_is_empty, processes), f"{folder} is empty")
            processes.parent.rmdir()


def _is_empty(file: Path) -> bool:
    return not file.read_text()
