"""Two machines as in a rack: OpenSSH and sudo on each, a management cable, a fabric cable, and Docker where asked for.

Each is a set of namespaces of this machine, so that whatever ends the test ends them with everything in them. The first
is reached by a proxy command, the second only through the first, as behind a jump host.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selftests.nodes.machines import eventually, namespaces
from shakedown.inventory.model import NamespaceTarget

NAMES = ("node-a", "node-b")
FABRIC = {"node-a": "192.168.200.12", "node-b": "192.168.200.13"}
MANAGEMENT = {"node-a": "198.51.100.12", "node-b": "198.51.100.13"}
"""Of a block reserved for documentation; it exists in the two namespaces only."""

PORT = 2222
LOCKED = 64 << 10
"""Bytes that a login may lock; root may lock any amount all the same."""

TRUSTED, GUEST = "trusted", "guest"
"""Two users beside root: sudo takes the one's word, and asks the other for a password."""

TRUSTED_ID, GUEST_ID = 64001, 64002
_PASSWD = "".join(f"{user}:*:{uid}:{uid}::/:/bin/sh\n" for user, uid in ((TRUSTED, TRUSTED_ID), (GUEST, GUEST_ID)))
_SUDOERS = f"root ALL=(ALL:ALL) ALL\n{TRUSTED} ALL=(ALL:ALL) NOPASSWD: ALL\n{GUEST} ALL=(ALL:ALL) ALL\n"

_SSHD = """
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile /run/authorized_keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication yes
LogLevel VERBOSE
SetEnv VLLM_NO_USAGE_STATS=1 VLLM_CONFIG_ROOT={folder}/config VLLM_CACHE_ROOT={folder}/cache
"""
"""Every login gets these variables, which sudo takes away."""

_CLIENT = """
Host *
    User root
    Port {port}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
Host node-a
    HostName {a}
    HostKeyAlias node-a
    ProxyCommand nsenter -t {pid} --net -- bash -c 'exec 3<>/dev/tcp/{a}/{port}; cat <&3 & cat >&3; kill $!'
Host node-b
    HostName {b}
    HostKeyAlias node-b
    ProxyJump node-a
"""

_MACHINE = """
set -e
mount -t tmpfs tmpfs /run
mkdir /run/sshd
cp {folder}/user_key.pub /run/authorized_keys
mount --bind {folder}/passwd /etc/passwd
mount --bind {folder}/sudoers /etc/sudoers
hostname {name}
ip link set lo up
echo up
prlimit --memlock={locked}:{locked} {sshd} -f {folder}/sshd_config -E {folder}/{name}.log
exec {stays}
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """One of the two.

    Attributes:
        name: its ssh alias and host name.
        target: its namespaces.
        config: the ssh_config by which both are reached.
        log: of its sshd.
    """

    name: str
    target: NamespaceTarget
    config: Path
    log: Path

    @property
    def root(self) -> Path:
        """Its file system, as this machine sees it."""
        return Path(f"/proc/{self.target.pid}/root")

    def listens(self) -> bool:
        """Whether its sshd takes connections."""
        return self.log.exists() and "Server listening" in self.log.read_text()


@contextlib.contextmanager
def rack(folder: Path, stays: str = "sleep infinity") -> Iterator[tuple[Machine, Machine]]:
    """Two machines with a cable for each of the two networks.

    Args:
        folder: an empty one, for keys and logs.
        stays: the command that each machine's first process becomes; ``{name}`` in it is the machine's name.
    """
    _prepare(folder)
    sshd = shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ["PATH"])
    assert sshd, "these tests need OpenSSH's server: apt-get install openssh-server"
    with contextlib.ExitStack() as stack:
        machines = []
        for name in NAMES:
            script = _MACHINE.format(folder=folder, name=name, sshd=sshd, locked=LOCKED, stays=stays.format(name=name))
            target = stack.enter_context(namespaces(script))
            machines.append(Machine(name, target, folder / "ssh_config", folder / f"{name}.log"))
        first, second = machines
        _plug(first, second)
        first.config.write_text(
            _CLIENT.format(
                folder=folder, port=PORT, pid=first.target.pid, a=MANAGEMENT[first.name], b=MANAGEMENT[second.name]
            )
        )
        for machine in machines:
            eventually(machine.listens, f"sshd listens on {machine.name}")
        yield first, second


def _prepare(folder: Path) -> None:
    for key in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    (folder / "sshd_config").write_text(_SSHD.format(port=PORT, folder=folder))
    public = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text("".join(f"{name} {public}" for name in NAMES))
    (folder / "passwd").write_text(Path("/etc/passwd").read_text() + _PASSWD)
    (folder / "sudoers").write_text(_SUDOERS)
    (folder / "sudoers").chmod(0o440)


def _plug(first: Machine, second: Machine) -> None:
    for nic, addresses in (("fab0", FABRIC), ("mgt0", MANAGEMENT)):
        ends = (f"name {nic} netns {machine.target.pid}" for machine in (first, second))
        subprocess.run(["ip", *f"link add {' type veth peer '.join(ends)}".split()], check=True)
        for machine in (first, second):
            batch = f"addr add {addresses[machine.name]}/24 dev {nic}\nlink set {nic} up\n"
            enter = ["nsenter", "-t", str(machine.target.pid), "--net", "ip", "-batch", "-"]
            subprocess.run(enter, input=batch.encode(), check=True)
