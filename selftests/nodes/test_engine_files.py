"""The script that reads an installed engine's files, on a made-up engine of the real one's shape."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from shakedown.errors import EvidenceError
from shakedown.nodes.scripts import engine_files
from shakedown.nodes.views.engine_files import Assembler, parse_engine

REGISTRY = """
_TEXT = {
    # a comment
    "LlamaForCausalLM": ("llama", "LlamaForCausalLM"),
    "OldModel": ("llama", "LlamaForCausalLM"),
}
_PREVIOUSLY = {"GoneForCausalLM": "0.9.2"}
_ALL = {**_TEXT}
"""
METHODS = """
from typing import Literal, get_args
QuantizationMethods = Literal["fp8", "awq"]
NAMES = list(get_args(QuantizationMethods))
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `vllm` that may be found and must not be imported."""
    folder = tmp_path / "site" / "vllm"
    for file, text in (
        (Path("__init__.py"), "raise AssertionError"),
        (engine_files.REGISTRY, REGISTRY),
        (engine_files.METHODS, METHODS),
        (engine_files.LOADER, 'device = torch.device(f"cuda:{pg.rank()}")'),
    ):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    monkeypatch.setenv("VLLM_CACHE_ROOT", str(tmp_path / "cache"))
    return folder


def test_what_an_engine_knows_is_read_without_importing_it(engine: Path) -> None:
    files = parse_engine(engine_files.look())
    assert files.installed
    assert files.architectures == frozenset({"LlamaForCausalLM", "OldModel"})
    assert files.quantisations == frozenset({"fp8", "awq"})
    assert files.fastsafetensors_by_global_rank
    assert files.cache.entries == 0


def test_sources_of_another_shape_are_unknown_and_not_empty(engine: Path) -> None:
    (engine / engine_files.REGISTRY).write_text("def broken(")
    (engine / engine_files.METHODS).write_text("QUANTIZATION = []")
    files = parse_engine(engine_files.look())
    assert files.architectures is None
    assert files.quantisations is None


@pytest.fixture
def entry(engine: Path, tmp_path: Path) -> Path:
    """An entry of the cache of compiled graphs, as a release that is gone left it."""
    folder = tmp_path / "cache" / "torch_compile_cache" / "0a1b2c3d4e"
    index = folder / "rank_0_0" / "backbone" / "vllm_compile_cache.py"
    index.parent.mkdir(parents=True)
    index.write_text("{((1, 8192), 0, 'inductor'): ('artifact', '/x/rank_0_0')}")
    for file in (index, folder):
        os.utime(file, (engine.stat().st_mtime - 86400,) * 2)
    return folder


def test_what_another_release_left_in_the_cache_does_no_harm(entry: Path) -> None:
    cache = parse_engine(engine_files.look()).cache
    assert (cache.entries, cache.problem) == (1, None)
    assert entry.is_dir()


@pytest.mark.parametrize("text", ["", "{((1, 8192), 0, 'induct", "\0\0\0"])
def test_an_index_that_is_not_whole_is_told(entry: Path, text: str) -> None:
    (entry / "rank_0_0" / "vllm_compile_cache.py").write_text(text)
    cache = parse_engine(engine_files.look()).cache
    assert cache.problem == "0a1b2c3d4e/rank_0_0/vllm_compile_cache.py is not whole"


def test_the_assembler_tells_its_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "triton" / "backends" / "nvidia" / "bin"
    tools.mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").touch()
    for name, number in (("ptxas", "12.8"), ("ptxas-blackwell", "13.0")):
        (tools / name).write_text(f"#!/bin/sh\necho Cuda compilation tools, release {number}, V{number}.1\n")
        (tools / name).chmod(0o755)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert engine_files.assembler() == {"file": str(tools / "ptxas-blackwell"), "release": "13.0"}
    (tools / "ptxas-blackwell").unlink()
    assert engine_files.assembler() == {"file": str(tools / "ptxas"), "release": "12.8"}
    monkeypatch.setenv("TRITON_PTXAS_PATH", "/nowhere/ptxas")
    assert engine_files.assembler() == {"file": "/nowhere/ptxas", "release": None}


@pytest.mark.parametrize(
    ("release", "capability", "known"),
    [
        ((12, 8), "12.1", False),
        ((12, 9), "12.1", True),
        ((13, 0), "12.1", True),
        ((12, 0), "9.0", True),
        (None, "12.1", False),
    ],
)
def test_an_assembler_knows_gpus_up_to_its_time(
    release: tuple[int, ...] | None, capability: str, *, known: bool
) -> None:
    assert Assembler("ptxas", release).knows(capability) is known


def test_an_answer_of_another_shape_is_refused() -> None:
    with pytest.raises(EvidenceError):
        parse_engine({"installed": True})
