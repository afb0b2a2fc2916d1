"""Memory of one machine."""

from __future__ import annotations

import re
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View

GIB = 1024**3

_MEMINFO = Command("cat /proc/meminfo")
_GPU = Command("nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits")

NO_SUCH_COMMAND = 127


class MemoryView(View):
    """What the kernel says about memory, in bytes."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """The kernel's account, and whether the accelerators have memory of their own."""
        return (_MEMINFO, _GPU)

    @cached_property
    def info(self) -> dict[str, int]:
        """All of ``/proc/meminfo`` in bytes."""
        return parse_meminfo(self._text(_MEMINFO))

    @property
    def total(self) -> int:
        """``MemTotal``, bytes."""
        return self._field("MemTotal")

    @property
    def available(self) -> int:
        """``MemAvailable``, bytes: what could be had without swapping, page cache included."""
        return self._field("MemAvailable")

    @cached_property
    def weights_live_here(self) -> bool:
        """Whether the weights take this memory: no accelerator has its own, so they share it or there is none.

        Raises:
            EvidenceError: nvidia-smi is there and does not answer.
        """
        if self._result(_GPU).rc == NO_SUCH_COMMAND:
            return True
        return not parse_own_memory(self._text(_GPU))

    def _field(self, name: str) -> int:
        if name not in self.info:
            raise EvidenceError(f"/proc/meminfo of {self._node.name} has no {name}")
        return self.info[name]


def parse_meminfo(text: str) -> dict[str, int]:
    """``/proc/meminfo`` -> bytes by name; counts without a unit stay counts."""
    found = re.findall(r"^(\S+):\s+(\d+)( kB)?$", text, re.MULTILINE)
    return {name: int(number) * (1024 if unit else 1) for name, number, unit in found}


def parse_own_memory(text: str) -> tuple[int, ...]:
    """``nvidia-smi --query-gpu=memory.total`` -> MiB of every GPU that has memory of its own; GB10 says ``[N/A]``."""
    return tuple(int(line) for line in text.split("\n") if line.strip().isdecimal())
