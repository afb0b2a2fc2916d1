"""The raylet of a node: how it was started, in what environment, and what it wrote when it began."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shakedown.nodes.answer import Command, Place
from shakedown.nodes.procfs import each_process

KEPT_VARIABLES = "RAY_|VLLM_|NCCL_|GLOO_|TP_|UCX_|HF_|TORCH_|PYTORCH_|TRITON_|CUDA_|OMP_"
"""Prefixes of the variables that are read from a process; no other variable leaves the node."""

KEPT_ARGUMENTS = "node_ip_address|gcs-address|session-name|log_dir"
"""Options of the raylet's command line that are read; it has dozens, some of them kilobytes long."""

_RAYLET = each_process(
    ["raylet"],
    f"""
    printf 'pid %s\\n' "$pid"
    tr '\\0' '\\n' <"$process/cmdline" | grep -E '^--({KEPT_ARGUMENTS})=' | sed 's/^/arg /'
    tr '\\0' '\\n' <"$process/environ" | grep -E '^({KEPT_VARIABLES})' | sed 's/^/env /'
    [ -r "$process/environ" ] || echo 'denied environ'
    above=$pid
    while [ "$above" -gt 1 ]; do
        above=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$above/status") && [ "$above" ] || break
        read -r name <"/proc/$above/comm" && printf 'abv %s\\n' "$name"
    done
    logs=$(tr '\\0' '\\n' <"$process/cmdline" | sed -n 's/^--log_dir=//p')
    cat "$logs"/raylet.out* | grep -aE " $pid [0-9]+\\].*MemoryMonitor (disabled|initialized)" | sed 's/^/log /'
    """,
)
RAYLETS = Command(_RAYLET, Place.ENGINE, key="raylet: arguments, environment, memory monitor")


@dataclass(frozen=True, slots=True)
class Raylet:
    """A running raylet.

    Attributes:
        pid: on the node.
        arguments: its command line, as far as `KEPT_ARGUMENTS` goes.
        environment: the variables with a prefix of `KEPT_VARIABLES`; None if this user may not read them.
        ancestors: names of its parent, that one's parent and so on, as far as its PID namespace goes.
        monitor_lines: what this very process wrote about its memory monitor into the log of its session.
    """

    pid: int
    arguments: tuple[str, ...]
    environment: Mapping[str, str] | None
    ancestors: tuple[str, ...]
    monitor_lines: tuple[str, ...]

    def argument(self, name: str) -> str | None:
        """Value of ``--name=VALUE``."""
        return next((text.partition("=")[2] for text in self.arguments if text.startswith(f"--{name}=")), None)


def parse_raylets(text: str) -> tuple[Raylet, ...]:
    """Lines ``pid N``, ``arg TEXT``, ``env NAME=VALUE``, ``abv NAME``, ``log TEXT``, ``denied environ`` -> raylets."""
    raylets: list[Raylet] = []
    for block in re.split(r"^pid (?=\d+$)", text, flags=re.MULTILINE)[1:]:
        pid, *lines = block.splitlines()
        said = {
            kind: tuple(line[4:] for line in lines if line.startswith(kind + " "))
            for kind in ("arg", "env", "abv", "log")
        }
        raylets.append(
            Raylet(
                pid=int(pid),
                arguments=said["arg"],
                environment=None
                if "denied environ" in lines
                else dict(line.partition("=")[::2] for line in said["env"]),
                ancestors=said["abv"],
                monitor_lines=said["log"],
            )
        )
    return tuple(raylets)
