"""What a command could leave behind on an embedded node: processes, sockets, kernel settings, files."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from shakedown.embedded.node import RunningNode, base_environment

WRITABLE = ("run", "tmp", "var/tmp", "var/log", "dev/shm")
"""Folders that a node has for itself, its user's home among them; everything else is read-only, or this machine's."""

LISTENING = "0A"

OWN_SETTING = re.compile(r"(?:net|vm|fs\.mqueue|kernel\.(?:hostname|domainname|sem|shm\w+|msg\w+))\b")
"""Settings of a node's own namespaces, and those of memory; the others of the kernel are set on all of this machine."""

COUNTER = re.compile(r"net\.netfilter\.nf_conntrack_count|vm\.stat_refresh")

RAY_AT_WORK = re.compile(r"^tmp/ray(?:/|$)")
"""Ray's own folder, in which it writes all the time."""


def of_node(node: RunningNode) -> dict[str, frozenset[object]]:
    """Everything by kind; equal where nothing was left behind, Ray's own work aside."""
    return {
        "processes": frozenset(_processes(node)),
        "sockets": frozenset(_sockets(node)),
        "settings": frozenset(_settings(node)),
        "files": frozenset(_files(node)),
    }


def _processes(node: RunningNode) -> Iterator[tuple[str, str]]:
    """Number and start of each, so that one which took the place of another is seen."""
    for folder in node.proc.glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue  # it ended meanwhile
        yield folder.name, stat.rpartition(")")[2].split()[19]


def _sockets(node: RunningNode) -> Iterator[str]:
    """Addresses that something listens at or is bound to, and paths of sockets."""
    net = Path("/proc", str(node.process.pid), "net")
    for kind in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        for line in (net / kind).read_text().splitlines()[1:]:
            _, address, _, state, *_ = line.split()
            if not kind.startswith("tcp") or state == LISTENING:
                yield f"{kind} {address}"
    for line in (net / "unix").read_text().splitlines()[1:]:
        path = line.split()[7:]
        if path:
            yield f"unix {path[0]}"


def _settings(node: RunningNode) -> Iterator[str]:
    command = node.enter(["sysctl", "-a"], base_environment())
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "net.ipv4.ip_forward" in said
    yield from (line for line in said.splitlines() if OWN_SETTING.match(line) and not COUNTER.match(line))


def _files(node: RunningNode) -> Iterator[tuple[str, int, int, int]]:
    """Path, mode, size and time of change."""
    root = node.file(Path("/"))
    for top in WRITABLE:
        for folder, inner, names in os.walk(root / top):
            inner[:] = [name for name in inner if Path(folder, name) != root / "run/shakedown/engine"]  # read-only
            for path in (Path(folder), *(Path(folder, name) for name in names)):
                shown = str(path).removeprefix(f"{root}/")
                status = path.lstat()
                if not RAY_AT_WORK.match(shown):
                    yield shown, status.st_mode, status.st_size, status.st_mtime_ns
