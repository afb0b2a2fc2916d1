"""What makes two machines of one kind differ: kernel, system, driver, libraries."""

from __future__ import annotations

from functools import cached_property

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, python_script
from shakedown.nodes.views.base import View

_SYSTEM = Command(
    """\
printf 'kernel\\t%s\\n' "$(uname -r)"
printf 'machine\\t%s\\n' "$(uname -m)"
. /etc/os-release 2>/dev/null && printf 'system\\t%s\\n' "$PRETTY_NAME"
printf 'driver\\t%s\\n' "$(cat /sys/module/nvidia/version 2>/dev/null)"
printf 'DGX OS\\t%s\\n' "$(sed -n 's/^DGX_SWBUILD_VERSION=//p' /etc/dgx-release 2>/dev/null | tr -d '\\"')"
true""",
    key="kernel, system, driver",
)
NCCL = "nvidia-nccl-cu13"
_NCCL_NAMES = f"{NCCL},nvidia-nccl-cu12"


class SystemView(View):
    """Versions beneath Ray and the engine."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """The machine's own, and the library of the engine's Python."""
        return (_SYSTEM, _nccl(node))

    @cached_property
    def versions(self) -> dict[str, str]:
        """Kernel, machine, system, driver, DGX OS, by name; what a machine does not have is not there."""
        lines = (line.partition("\t") for line in self._text(_SYSTEM).splitlines())
        return {name: text.strip() for name, _, text in lines if text.strip()}

    @cached_property
    def nccl(self) -> str | None:
        """Version of the NCCL that is installed beside PyTorch; None where there is none, as on a CPU."""
        found = self._json(_nccl(self._node))[NCCL]
        return None if found is None else str(found)


def _nccl(node: Node) -> Command:
    return python_script("versions", node.python, _NCCL_NAMES)
