"""The kernel of one machine: which one runs and boots next, NVIDIA's module for both, and what it logged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View

_FACTS = Command(
    """
printf 'release %s\\n' "$(uname -r)"
grep -o 'kho=[^ ]*' /proc/cmdline 2>/dev/null | sed 's/^/option /'
[ -d /sys/module/nvidia ] && printf 'loaded %s\\n' "$(cat /sys/module/nvidia/version 2>/dev/null)"
sed -n 's/^NVRM version:/driver/p' /proc/driver/nvidia/version 2>/dev/null
for device in /sys/bus/pci/devices/*; do
    case "$(cat "$device/vendor" 2>/dev/null) $(cat "$device/class" 2>/dev/null)" in
        '0x10de 0x03'*) printf 'gpu %s\\n' "${device##*/}" ;;
    esac
done
next=$(readlink /boot/vmlinuz 2>/dev/null) && printf 'next %s\\n' "${next##*/}"
for image in /boot/vmlinuz-*; do [ -e "$image" ] && printf 'image %s\\n' "${image##*/}"; done
for folder in /lib/modules/*; do
    module=$(find "$folder/" -name 'nvidia.ko*' 2>/dev/null | head -n 1)
    [ -n "$module" ] && printf 'module %s\\n' "${folder##*/}"
done
grep -h '^CONFIG_KEXEC_HANDOVER' "/boot/config-$(uname -r)" 2>/dev/null | sed 's/^/config /'
[ -e /var/run/reboot-required ] && echo 'reboot required'
true
""",
    key="kernel: releases, modules, GPUs on the bus",
)

_LOG = Command(
    """
{ dmesg 2>/dev/null || journalctl -k -b -q -o short-monotonic --no-pager 2>/dev/null; } | awk '
    { lines++ }
    /NVRM: Xid|Hardware Error|uncorrected.*ECC|ECC.*uncorrected/ { print }
    END { print "lines " lines + 0 }'
""",
    key="kernel log: Xid and hardware errors",
)

XID = re.compile(r"NVRM: Xid \(PCI:[^)]*\): (?P<number>\d+)")

HARMLESS_XIDS = frozenset({13, 31, 43, 45, 68})
"""Errors that a program causes by itself or that tell of its end; they say nothing about the GPU.

Source: https://docs.nvidia.com/deploy/xid-errors/index.html
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What runs, what is installed, and what is on the bus.

    Attributes:
        release: of the running kernel.
        next_release: of the kernel that ``/boot/vmlinuz`` names, else the newest in ``/boot``; None if none is there.
        handover: values of the boot option ``kho``, which switches kexec handover, in the order given.
        module_loaded: whether NVIDIA's module is loaded.
        module_version: of the loaded module; None if it does not tell.
        with_module: releases for which a module of NVIDIA is installed.
        gpus: PCI addresses of NVIDIA's GPUs, driver or not.
        config: what the running kernel's configuration says about kexec handover.
        reboot_required: whether a package asked for a reboot.
    """

    release: str
    next_release: str | None
    handover: tuple[str, ...]
    module_loaded: bool
    module_version: str | None
    with_module: frozenset[str]
    gpus: tuple[str, ...]
    config: tuple[str, ...]
    reboot_required: bool

    @property
    def hands_over(self) -> bool:
        """Whether kexec handover is on: asked for at boot, or built in as the default and not switched off.

        Source: Linux, Documentation/admin-guide/kernel-parameters.txt (kho=) and kernel/liveupdate/Kconfig.
        """
        if self.handover:
            return self.handover[-1] in ("on", "1", "y", "true")
        return "CONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT=y" in self.config


class KernelView(View):
    """What the machine's kernel is, and what it wrote."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One command for what is installed and loaded, one for the log; of the log only errors leave the node."""
        return (_FACTS, _LOG)

    @cached_property
    def facts(self) -> Kernel:
        """The kernel and NVIDIA's module."""
        return parse_facts(self._text(_FACTS))

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """Lines of the kernel's log since boot that tell of a hardware error, or of an Xid that is the GPU's own.

        What the firmware reports as corrected is told by every machine that has run for a while, and is left out.

        Raises:
            EvidenceError: the log is not this user's to read.
        """
        *lines, last = self._text(_LOG).splitlines() or [""]
        if last in ("", "lines 0"):
            raise EvidenceError(f"the kernel's log on {self._node.name} may not be read by this user", AS_ROOT)
        corrected = {_record(line) for line in lines if "event severity: corrected" in line} - {None}
        return tuple(line.strip() for line in lines if not _is_harmless(line) and _record(line) not in corrected)


def parse_facts(text: str) -> Kernel:
    """Lines ``KEY VALUE`` -> kernel.

    Raises:
        EvidenceError: the running kernel has no release.
    """
    facts: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        facts.setdefault(key, []).append(value.strip())
    if not facts.get("release"):
        raise EvidenceError("the kernel did not tell its release")
    images = [name.removeprefix("vmlinuz-") for name in facts.get("image", ())]
    named = [name.removeprefix("vmlinuz-") for name in facts.get("next", ()) if name.startswith("vmlinuz-")]
    return Kernel(
        release=facts["release"][0],
        next_release=named[0] if named else newest(images),
        handover=tuple(text.removeprefix("kho=") for text in facts.get("option", ())),
        module_loaded="loaded" in facts,
        module_version=_module_version(facts),
        with_module=frozenset(facts.get("module", ())),
        gpus=tuple(facts.get("gpu", ())),
        config=tuple(facts.get("config", ())),
        reboot_required="reboot" in facts,
    )


def newest(releases: Sequence[str]) -> str | None:
    """The release that a boot loader would put first: numbers compared as numbers."""

    def order(release: str) -> list[tuple[int, int | str]]:
        return [(1, int(part)) if part.isdecimal() else (0, part) for part in re.findall(r"\d+|[^\d]+", release)]

    return max(releases, key=order, default=None)


def _module_version(facts: dict[str, list[str]]) -> str | None:
    said = [*facts.get("loaded", ()), *facts.get("driver", ())]
    found = (re.search(r"\b\d{3,}\.\d+(?:\.\d+)?\b", text) for text in said)
    return next((match[0] for match in found if match), None)


def _is_harmless(line: str) -> bool:
    xid = XID.search(line)
    return xid is not None and int(xid["number"]) in HARMLESS_XIDS


def _record(line: str) -> str | None:
    """Number of the firmware's report that a line belongs to, as Linux's drivers/firmware/efi/cper.c prints it."""
    found = re.search(r"(\{\d+\})\[Hardware Error\]", line)
    return found[1] if found else None
