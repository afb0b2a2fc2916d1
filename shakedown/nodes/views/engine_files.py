"""The engine as it is installed on a node: what it can serve and compile, and what it left in its cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, python_script
from shakedown.nodes.views.base import View

FIRST_RELEASE = {"10.0": (12, 8), "12.0": (12, 8), "10.3": (12, 9), "12.1": (12, 9)}
"""Compute capability -> first release of CUDA whose assembler knows it, with the suffix that kernels of its own need.

Source: https://docs.nvidia.com/cuda/parallel-thread-execution/ (release notes: PTX ISA 8.7 and 8.8).
"""


@dataclass(frozen=True, slots=True)
class Assembler:
    """The ptxas that Triton runs.

    Attributes:
        file: where.
        release: of the CUDA that it belongs to, as ``(12, 9)``; None where it cannot be run.
    """

    file: str
    release: tuple[int, ...] | None

    def __str__(self) -> str:
        return f"{self.file}: " + (".".join(map(str, self.release)) if self.release else "cannot be run")

    def knows(self, capability: str) -> bool:
        """Whether it can assemble for a GPU of that compute capability; any does for those before Blackwell."""
        first = FIRST_RELEASE.get(capability)
        return first is None or (self.release is not None and self.release >= first)


@dataclass(frozen=True, slots=True)
class CompileCache:
    """The cache of compiled graphs.

    Attributes:
        folder: where.
        problem: why it cannot be used; None otherwise.
        entries: number of compiled models in it, those of other engines included.
    """

    folder: str
    problem: str | None
    entries: int


@dataclass(frozen=True, slots=True)
class EngineFiles:
    """What the files of the engine say.

    Attributes:
        installed: whether the node's Python has the engine.
        architectures, quantisations: names it knows; None where its sources are of another shape.
        plugins: installed ones, which may add to both.
        fastsafetensors_by_global_rank: whether that loader takes a rank of the group for a GPU of the node; None where
            its sources cannot be read.
        assembler: that Triton runs for a Blackwell GPU; None without Triton.
        cache: of compiled graphs.
    """

    installed: bool
    architectures: frozenset[str] | None
    quantisations: frozenset[str] | None
    plugins: tuple[str, ...]
    fastsafetensors_by_global_rank: bool | None
    assembler: Assembler | None
    cache: CompileCache


class EngineFilesView(View):
    """The engine where it runs."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One script, which imports nothing of the engine."""
        return (_look(node),)

    @cached_property
    def files(self) -> EngineFiles:
        """What they say.

        Raises:
            EvidenceError: the script did not run, or answered something else.
        """
        return parse_engine(self._json(_look(self._node)))


def _look(node: Node) -> Command:
    return python_script("engine_files", node.python, limit_s=30, as_engine_user=True)


def parse_engine(answer: Mapping[str, Any]) -> EngineFiles:
    """The script's JSON -> engine.

    Raises:
        EvidenceError: a field is missing or of another type.
    """
    try:
        return EngineFiles(
            installed=bool(answer["installed"]),
            architectures=_names(answer["architectures"]),
            quantisations=_names(answer["quantisations"]),
            plugins=tuple(answer["plugins"]),
            fastsafetensors_by_global_rank=answer["fastsafetensors_by_global_rank"],
            assembler=_assembler(answer["assembler"]),
            cache=CompileCache(**answer["cache"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"the answer about the engine's files lacks {error}") from error


def _assembler(found: Mapping[str, Any] | None) -> Assembler | None:
    if found is None:
        return None
    release = found["release"]
    return Assembler(found["file"], tuple(map(int, release.split("."))) if release else None)


def _names(found: list[str] | None) -> frozenset[str] | None:
    return frozenset(found) if found else None
