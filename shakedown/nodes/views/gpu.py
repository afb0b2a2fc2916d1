"""The NVIDIA GPUs of one machine, and the processes that compute on them, as nvidia-smi tells."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View
from shakedown.units import gib

MIB = 1024**2
NO_SUCH_COMMAND = 127

_FIELDS = (
    "name",
    "driver_version",
    "compute_cap",
    "memory.total",
    "memory.free",
    "pstate",
    "clocks.sm",
    "power.draw",
    "utilization.gpu",
    "index",
)
"""Fields that every driver in use has: one that a driver does not know would cost the answer about all others."""

_GPUS = Command(f"nvidia-smi --query-gpu={','.join(_FIELDS)} --format=csv,noheader,nounits")
_TENANTS = Command("nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader,nounits")

_MORE = Command(
    """
ask() { # the field $1, told as $2
    said=$(nvidia-smi "--query-gpu=index,$1" --format=csv,noheader,nounits 2>/dev/null) || return
    printf '%s\n' "$said" | sed "s/^/$2 /"
}
ask clocks_event_reasons.active reasons || ask clocks_throttle_reasons.active reasons
ask ecc.errors.uncorrected.volatile.total errors
true
""",
    limit_s=20,
    key="nvidia-smi: reasons for low clocks, errors of memory",
)
"""Fields that not every driver has under one name: the first was renamed in 2023. Each is asked for by itself."""

NVML_COMPLAINTS = re.compile(
    r"Failed to initialize NVML|Driver/library version mismatch|couldn't communicate with the NVIDIA driver|"
    r"driver (?:is )?not loaded|No devices were found|Unable to determine the device handle|"
    r"fallen off the bus|GPU is lost|infoROM is corrupted",
    re.IGNORECASE,
)
"""What nvidia-smi says of a driver or a GPU that does not work; a question that it does not understand is none.

Source: NVML, nvmlErrorString; nvidia-smi, section RETURN VALUE of its manual.
"""

SLOWDOWNS = {
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""Bits of the reasons for low clocks that mean heat or power.

An idle GPU, a limit that was asked for, and the cap of power that the GPU itself keeps (0x04) are none of these.
Source: NVML, nvmlClocksEventReasons.
"""

_MORE_LINE = re.compile(r"^(reasons|errors) (\d+), (\S+)\s*$", re.MULTILINE)

BUSY_PERCENT = 50
"""Utilisation from which on a GPU should have left its idle clocks."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, None for what it does not tell.

    Attributes:
        name: of the product.
        driver: version of the driver's library.
        capability: compute capability, as ``12.1``.
        memory_total, memory_free: bytes of its own memory; None where it shares the machine's.
        pstate: ``P0`` is the fastest.
        sm_clock_mhz: now.
        power_w: drawn now.
        busy_percent: share of the last second in which a kernel ran.
        index: as nvidia-smi counts them.
        slowdowns: why its clocks are held down, as far as that is heat or power.
        uncorrected_ecc: errors since the driver was loaded.
    """

    name: str
    driver: str
    capability: str
    memory_total: int | None
    memory_free: int | None
    pstate: str | None
    sm_clock_mhz: float | None
    power_w: float | None
    busy_percent: float | None
    index: int
    slowdowns: tuple[str, ...] | None = None
    uncorrected_ecc: int | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it computes, so that its clocks say something."""
        return (self.busy_percent or 0) >= BUSY_PERCENT

    def __str__(self) -> str:
        shown = (("", self.pstate), (" MHz", self.sm_clock_mhz), (" W", self.power_w), (" % busy", self.busy_percent))
        values = [f"{value:g}{unit}" if isinstance(value, float) else str(value) for unit, value in shown if value]
        return ", ".join([self.name, *values, *(self.slowdowns or ())])


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that has a CUDA context.

    Attributes:
        pid: as the machine counts it.
        name: its program.
        memory: bytes; None where the GPU does not tell.
    """

    pid: int
    name: str
    memory: int | None

    def __str__(self) -> str:
        held = "" if self.memory is None else f", {gib(self.memory)}"
        return f"{self.name} ({self.pid}{held})"


class GpuView(View):
    """What nvidia-smi says on the machine; in a container it does not know the processes of others."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One line a GPU, one a process, and what not every driver tells."""
        return (_GPUS, _TENANTS, _MORE)

    @property
    def installed(self) -> bool:
        """Whether there is an nvidia-smi; whether it works is another question."""
        return bool(self._result(_GPUS).rc != NO_SUCH_COMMAND)

    @property
    def complaint(self) -> str | None:
        """What nvidia-smi says of a driver or a GPU that does not work; None if it says nothing of the kind."""
        said = self._refusal
        return said if said and NVML_COMPLAINTS.search(said) else None

    @property
    def _refusal(self) -> str | None:
        """Why nvidia-smi does not answer, in its own words; None if it does. It complains on standard output."""
        result = self._result(_GPUS)
        if result.rc == 0:
            return None
        said = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
        return said[0].strip() if said else f"exit code {result.rc}"

    @cached_property
    def gpus(self) -> tuple[Gpu, ...]:
        """All GPUs; none where there is no nvidia-smi.

        Raises:
            EvidenceError: there is one, and it does not answer.
        """
        if not self.installed:
            return ()
        if self._refusal:
            raise EvidenceError(f"nvidia-smi on {self._node.name}: {self._refusal}")
        return with_more(parse_gpus(self._text(_GPUS)), self._text(_MORE))

    @cached_property
    def processes(self) -> tuple[GpuProcess, ...]:
        """Who computes on the GPUs; nobody where there is no nvidia-smi.

        Raises:
            EvidenceError: there is one, and it does not answer.
        """
        return parse_processes(self._text(_TENANTS)) if self.installed else ()


def parse_gpus(text: str) -> tuple[Gpu, ...]:
    """Lines of ``--query-gpu`` -> GPUs; ``[N/A]`` and ``[Not Supported]`` are None.

    Raises:
        EvidenceError: a line with more or fewer fields.
    """
    found: list[Gpu] = []
    for line in filter(str.strip, text.splitlines()):
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(_FIELDS):
            raise EvidenceError(f"nvidia-smi answered with other fields than asked for: {line!r}")
        name, driver, capability, total, free, pstate, clock, power, busy, index = values
        if not index.isdecimal():
            raise EvidenceError(f"nvidia-smi gave a GPU no index: {line!r}")
        found.append(
            Gpu(
                name=name,
                driver=driver,
                capability=capability,
                memory_total=_bytes(total),
                memory_free=_bytes(free),
                pstate=pstate if re.fullmatch(r"P\d+", pstate) else None,
                sm_clock_mhz=_number(clock),
                power_w=_number(power),
                busy_percent=_number(busy),
                index=int(index),
            )
        )
    return tuple(found)


def with_more(gpus: tuple[Gpu, ...], text: str) -> tuple[Gpu, ...]:
    """GPUs with what lines ``reasons INDEX, BITS`` and ``errors INDEX, COUNT`` tell of them."""
    said = {(kind, int(index)): value for kind, index, value in _MORE_LINE.findall(text)}
    return tuple(
        replace(
            gpu,
            slowdowns=slowdowns(said.get(("reasons", gpu.index), "")),
            uncorrected_ecc=_count(said.get(("errors", gpu.index), "")),
        )
        for gpu in gpus
    )


def parse_processes(text: str) -> tuple[GpuProcess, ...]:
    """Lines of ``--query-compute-apps`` -> processes; a line of another shape is none."""
    lines = (re.fullmatch(r"\s*(\d+), (.*), ([^,]*)", line) for line in text.splitlines())
    return tuple(GpuProcess(int(line[1]), line[2].strip(), _bytes(line[3].strip())) for line in lines if line)


def _bytes(mib: str) -> int | None:
    return int(mib) * MIB if mib.isdecimal() else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def slowdowns(bits: str) -> tuple[str, ...] | None:
    """``0x0000000000000040`` -> reasons that mean heat or power, in words; None for what is no such number."""
    if not re.fullmatch(r"0x[0-9a-fA-F]+", bits):
        return None
    number = int(bits, 16)
    return tuple(word for bit, word in SLOWDOWNS.items() if number & bit)
