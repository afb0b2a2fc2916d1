"""A way to a node on which nothing can be changed: every file system read-only, and only capabilities that read."""

from __future__ import annotations

import shlex

from shakedown.nodes.transport import Transport

READING = ("dac_read_search", "net_raw", "sys_ptrace", "syslog")
"""What root needs to read: files and environments of others, an echo, the kernel's log. None changes a thing."""

NOBODY = 65534

_READ_ONLY = """
cut -d' ' -f5 /proc/self/mountinfo | sort -ru | while read -r mounted; do
    mount -n -o remount,bind,ro "$mounted" || exit 1
done || exit 1
! touch /run/written /tmp/written 2>/dev/null || exit 1
"""


class Confined(Transport):
    """Another transport, with a mount namespace of its own for each script.

    Args:
        way: to the node, as root.
        capabilities: all that is left of root's, for anything that is started; None takes none away from programs that
            bring one of their own, as ``ping`` may.
        user: as whom the script runs; any other than root begins without capabilities.
    """

    def __init__(self, way: Transport, capabilities: tuple[str, ...] | None, user: int) -> None:
        self._way = way
        self._drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        if capabilities is not None:
            self._drop.append("--bounding-set=" + ",".join(("-all", *(f"+{name}" for name in capabilities))))

    def argv(self, script: str) -> list[str]:
        confined = f"{_READ_ONLY}\nexec {shlex.join([*self._drop, 'sh', '-c', script])}"
        return self._way.argv(f"exec {shlex.join(['unshare', '--mount', 'sh', '-c', confined])}")

    def __str__(self) -> str:
        return f"{self._way}, confined"
