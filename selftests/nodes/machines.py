"""Machines for the self-tests: namespaces of this machine, one of them with a real OpenSSH server in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shakedown.inventory.model import NamespaceTarget
from shakedown.nodes.transport import start_time

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
UNSHARE = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child")
AS_ROOT_OF_ITS_OWN = ("--user", "--map-root-user")

PORT = 2222
ADDRESS = "192.0.2.1"
"""Reserved for documentation; it exists in the server's namespace only."""

SSHD = """
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
LogLevel VERBOSE
"""

CLIENT = """
Host machine
    HostName {address}
    HostKeyAlias machine
    User {user}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    ProxyCommand nsenter -t {pid} --net -- bash -c 'exec 3<>/dev/tcp/{address}/{port}; cat <&3 & cat >&3; kill $!'
"""


def eventually(holds: Callable[[], bool], what: str, timeout_s: float = 20) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout_s:g} s")
        time.sleep(0.02)


@contextlib.contextmanager
def namespaces(script: str, *prefix: str, user: bool = False) -> Iterator[NamespaceTarget]:
    """Fresh namespaces whose first process runs a script; ended with everything in them."""
    argv = [*prefix, *UNSHARE, *(AS_ROOT_OF_ITS_OWN if user else ()), "sh", "-c", script]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as launcher:
        try:
            assert launcher.stdout is not None
            said = launcher.stdout.readline()
            assert said == b"up\n", said + launcher.stdout.read()
            pid = int(Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()[0])
            started = start_time(pid)
            assert started is not None
            yield NamespaceTarget(pid=pid, started=started)
        finally:
            launcher.kill()


@contextlib.contextmanager
def ssh_machine(folder: Path) -> Iterator[Path]:
    """A namespace in which a real sshd listens, with a user's key to it.

    Yields:
        The ssh_config by which ``machine`` is reached; there is no other way, so it must have been honoured.
    """
    sshd = shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ["PATH"])
    assert sshd, "these tests need OpenSSH's server: apt-get install openssh-server"
    for key in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    (folder / "sshd_config").write_text(SSHD.format(port=PORT, address=ADDRESS, folder=folder))
    (folder / "known_hosts").write_text("machine " + (folder / "host_key.pub").read_text())
    script = (
        f"ip link set lo up && ip addr add {ADDRESS}/32 dev lo && mount -t tmpfs tmpfs /run && mkdir /run/sshd && "
        f"hostname machine && echo up && exec {sshd} -D -E {folder}/log -f {folder}/sshd_config"
    )
    (folder / "log").touch()
    with namespaces(script) as target:
        user = os.environ.get("USER", "root")
        config = CLIENT.format(address=ADDRESS, port=PORT, folder=folder, user=user, pid=target.pid)
        (folder / "ssh_config").write_text(config)
        eventually(lambda: "Server listening" in (folder / "log").read_text(), "sshd listens")
        yield folder / "ssh_config"
