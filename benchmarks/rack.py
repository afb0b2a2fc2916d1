"""Any number of machines with OpenSSH, each a set of namespaces of this one, on a fabric and a management network.

They are reached as real ones are, by an ssh_config and a proxy command; the proxy command is also where a longer way to
them is imitated (`benchmarks.link`). Their file systems are this machine's, so they have the same engine and model.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shakedown.embedded import network
from shakedown.inventory.write import write_deployment
from shakedown.simulator.settings import MODEL_FOLDER

ROOT = Path(__file__).resolve().parents[1]
LINK = Path(__file__).with_name("link.py")
ENGINE_PYTHON = ROOT / ".venv-engine" / "bin" / "python"
PORT = 2222
STARTS_WITHIN_S = 60.0
TICKS = os.sysconf("SC_CLK_TCK")

_UNSHARE = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child")
_SWITCH = f"""
set -e
ip -batch - <<END
link add name fabric type bridge
link set fabric up
link add name management type bridge
address add {network.HUB}/{network.MANAGEMENT.prefixlen} dev management
link set management up
END
echo up
exec sleep infinity
"""
_MACHINE = """
set -e
mount -n -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir /run/sshd
mount --bind {folder}/hosts /etc/hosts
hostname {name}
echo up
exec {sshd} -D -f {folder}/sshd_config -E {folder}/{name}.log
"""
_SSHD = """
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
"""
_CLIENT = """
Host {name}
    HostName {address}
    HostKeyAlias machine
    User root
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    ProxyCommand nsenter -t {switch} --net -- {python} -I -S {link} {address} {port} {delay_s}
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """One of them.

    Attributes:
        number: from 0.
        pid: its first process, the ssh server.
    """

    number: int
    pid: int

    @property
    def name(self) -> str:
        """Host name and ssh alias."""
        return name_of(self.number)

    def processor_s(self) -> float:
        """Processor time of everything that runs or ever ran on it, s; its server waits for all that it starts."""
        spent = 0
        for process in Path(f"/proc/{self.pid}/root/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has just ended; then its parent has its time
                spent += sum(map(int, process.read_text().rpartition(")")[2].split()[11:15]))
        return spent / TICKS


@dataclass(frozen=True, slots=True)
class Rack:
    """All of them.

    Attributes:
        folder: of keys, logs, ssh_config and deployment files.
        switch: the process whose network namespace has the two bridges; from there the machines are reached.
        machines: in order.
    """

    folder: Path
    switch: int
    machines: tuple[Machine, ...]

    def ssh_config(self, delay_s: float) -> Path:
        """The file by which ssh finds them, over a way whose round trip takes that much longer."""
        file = self.folder / f"ssh_config-{delay_s:g}"
        texts = (
            _CLIENT.format(
                name=machine.name,
                address=management(machine.number),
                folder=self.folder,
                switch=self.switch,
                python=sys.executable,
                link=LINK,
                port=PORT,
                delay_s=delay_s,
            )
            for machine in self.machines
        )
        file.write_text("".join(texts))
        return file

    def deployment(self, nodes: int, delay_s: float = 0.0) -> Path:
        """A deployment file of the first machines."""
        file = self.folder / f"{nodes}-nodes-{delay_s:g}.toml"
        config = self.ssh_config(delay_s)
        write_deployment(
            {
                "version": 1,
                "deployment": {"name": f"rack-{nodes}", "profile": "embedded"},
                "fabric": {"subnets": [network.FABRIC]},
                "management": {"subnets": [network.MANAGEMENT]},
                "node": [_node(machine, config) for machine in self.machines[:nodes]],
                "ray": {"memory_monitor": "disabled"},
                "model": {"served_name": "tiny", "path": MODEL_FOLDER, "shards": 39, "max_model_len": 4096},
                "serve": {
                    "base_url": "http://127.0.0.1:9",  # the port of RFC 863: nobody answers, so nothing serves yet
                    "port": network.API_PORT,
                    "tensor_parallel": nodes,
                    "kv_cache_memory_gib": 0.25,
                    "enforce_eager": True,
                },
            },
            file,
        )
        return file


@contextlib.contextmanager
def rack(folder: Path, machines: int) -> Iterator[Rack]:
    """That many machines, ended with everything in them.

    Args:
        folder: an empty one, in which keys, logs and configurations are written.
        machines: at least one.

    Raises:
        SystemExit: no OpenSSH server, not root, or a machine that does not come up.
    """
    sshd = shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ["PATH"])
    if sshd is None or os.geteuid() != 0:
        raise SystemExit("needs root and OpenSSH's server: apt-get install openssh-server")
    _prepare(folder, machines)
    with contextlib.ExitStack() as stack:
        switch = stack.enter_context(_namespaces(_SWITCH))
        made = []
        for number in range(machines):
            script = _MACHINE.format(folder=folder, name=name_of(number), sshd=sshd)
            machine = Machine(number, stack.enter_context(_namespaces(script)))
            _plug(machine, switch)
            made.append(machine)
        for machine in made:
            _await_server(folder / f"{machine.name}.log")
        yield Rack(folder, switch, tuple(made))


def on_the_way_s(controls: Path) -> float:
    """Processor time of proxy commands and of the ssh clients that keep a connection, s.

    Args:
        controls: the folder of their sockets; such a client shows its socket in place of its command line.
    """
    marks = (bytes(LINK), f"ssh: {controls}/".encode())
    spent = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            command = (process / "cmdline").read_bytes()
            if any(mark in command for mark in marks):
                spent += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:13]))
    return spent / TICKS


def name_of(number: int) -> str:
    """Name of a machine."""
    return f"node-{number:02d}"


def management(number: int) -> str:
    """Its address on the management network."""
    return str(network.MANAGEMENT[10 + number])


def fabric(number: int) -> str:
    """Its address on the fabric."""
    return str(network.FABRIC[10 + number])


def _node(machine: Machine, config: Path) -> dict[str, object]:
    return {
        "name": machine.name,
        "role": "worker" if machine.number else "head",
        "ssh": machine.name,
        "ssh_config": config,
        "fabric_address": fabric(machine.number),
        "interface": network.FABRIC_NIC,
        "python": ENGINE_PYTHON if ENGINE_PYTHON.exists() else sys.executable,
    }


def _prepare(folder: Path, machines: int) -> None:
    for key in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    (folder / "known_hosts").write_text("machine " + (folder / "host_key.pub").read_text())
    (folder / "sshd_config").write_text(_SSHD.format(port=PORT, folder=folder))
    names = "".join(f"{management(number)} {name_of(number)}\n" for number in range(machines))
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + names)


@contextlib.contextmanager
def _namespaces(script: str) -> Iterator[int]:
    """Fresh namespaces; yields their first process, which runs the script."""
    argv = [*_UNSHARE, "sh", "-c", script]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as launcher:
        try:
            assert launcher.stdout is not None
            said = launcher.stdout.readline()
            if said != b"up\n":
                raise SystemExit(f"a machine did not come up: {(said + launcher.stdout.read()).decode()}")
            yield int(Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()[0])
        finally:
            launcher.kill()


def _plug(machine: Machine, switch: int) -> None:
    number = machine.number
    cables = (
        (network.FABRIC_NIC, fabric(number), "fabric"),
        (network.MANAGEMENT_NIC, management(number), "management"),
    )
    outside, inside = [], ["link set lo up"]
    for nic, address, bridge in cables:
        port = f"{bridge[0]}{number}"
        outside += [
            f"link add name {port} type veth peer name {nic} netns {machine.pid}",
            f"link set {port} master {bridge} up",
        ]
        inside += [f"address add {address}/24 dev {nic}", f"link set {nic} up"]
    inside.append(f"route add default via {network.HUB}")
    for process, batch in ((switch, outside), (machine.pid, inside)):
        enter = ["nsenter", "-t", str(process), "--net", "ip", "-batch", "-"]
        subprocess.run(enter, input="\n".join(batch) + "\n", text=True, check=True)


def _await_server(log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not (log.exists() and "Server listening" in log.read_text()):
        if time.monotonic() > deadline:
            raise SystemExit(f"no ssh server listens within {STARTS_WITHIN_S:g} s: see {log}")
        time.sleep(0.02)
