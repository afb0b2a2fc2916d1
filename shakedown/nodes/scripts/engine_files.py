# revision: 2
"""What an installed vLLM can serve and compile, read from its files without importing it; as JSON.

Names of architectures and of quantisation methods are literals of its sources. Also: the assembler that Triton runs,
and the cache of compiled graphs.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

REGISTRY = Path("model_executor") / "models" / "registry.py"
METHODS = Path("model_executor") / "layers" / "quantization" / "__init__.py"
LOADER = Path("model_executor") / "model_loader" / "weight_utils.py"
INDEXES = ("rank_*/vllm_compile_cache.py", "rank_*/*/vllm_compile_cache.py")
"""Where an entry of the cache says what it holds, in older and in newer releases."""


def package(name: str) -> Path | None:
    """Folder of an installed package; None if there is none. Nothing of it is run."""
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found and found.origin else None


def tree(file: Path) -> ast.Module | None:
    """A source file's syntax; None where it is not there or another Python's."""
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None


def architectures(engine: Path) -> list[str] | None:
    """Names of model architectures: keys of all tables of the registry whose values name a module and a class."""
    module = tree(engine / REGISTRY)
    if module is None:
        return None
    names = set()
    for table in (node for node in ast.walk(module) if isinstance(node, ast.Dict)):
        for key, value in zip(table.keys, table.values):  # noqa: B905 - Python 3.8 has no strict
            named = isinstance(key, ast.Constant) and isinstance(key.value, str)
            if named and isinstance(value, ast.Tuple) and len(value.elts) == 2:
                names.add(key.value)  # type: ignore[union-attr]
    return sorted(names)


def quantisations(engine: Path) -> list[str] | None:
    """Names of quantisation methods: the literals of ``QuantizationMethods``."""
    module = tree(engine / METHODS)
    for node in module.body if module else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "QuantizationMethods" and getattr(node, "value", None):
            literals = ast.walk(node.value)  # type: ignore[attr-defined]
            return sorted(
                {part.value for part in literals if isinstance(part, ast.Constant) and isinstance(part.value, str)}
            )
    return None


def plugins() -> list[str]:
    """Names of plugins that others installed, each of which may register architectures and methods of its own."""
    return sorted(
        {
            point.name
            for distribution in metadata.distributions()
            for point in distribution.entry_points
            if point.group == "vllm.general_plugins" and not point.value.startswith("vllm.")
        }
    )


def loads_by_global_rank(engine: Path) -> bool | None:
    """Whether fastsafetensors is given the number of the rank in the whole group for that of a GPU of the node."""
    try:
        return "cuda:{pg.rank()}" in (engine / LOADER).read_text(encoding="utf-8")
    except OSError:
        return None


def assembler() -> dict[str, str | None] | None:
    """The ptxas that Triton runs for a Blackwell GPU, and the release of CUDA that it belongs to; None without Triton.

    Releases of Triton that bring a second one use that or the variable for it, and no other; earlier ones have one.
    Source: triton, backends/nvidia/compiler.py (get_ptxas) and knobs.py.
    """
    triton = package("triton")
    if triton is None:
        return None
    tools = triton / "backends" / "nvidia" / "bin"
    name, variable = "ptxas-blackwell", "TRITON_PTXAS_BLACKWELL_PATH"
    if not (tools / name).is_file():
        name, variable = "ptxas", "TRITON_PTXAS_PATH"
    file = Path(os.environ.get(variable) or tools / name)
    return {"file": str(file), "release": release(file)}


def release(file: Path) -> str | None:
    """``12.9`` of ``Cuda compilation tools, release 12.9``."""
    try:
        done = subprocess.run([str(file), "--version"], stdout=subprocess.PIPE, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"release (\d+\.\d+)", done.stdout.decode(errors="replace"))
    return match.group(1) if match else None


def cache() -> dict[str, Any]:
    """The cache of compiled graphs: how many, and why it cannot be used.

    An entry's name is the digest of the engine's version, its sources, the settings and the compiler, so one that is
    left of another engine is never read again. Source: vllm/compilation/backends.py, config/vllm.py (compute_hash).
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = Path(os.environ.get("VLLM_CACHE_ROOT") or home / "vllm").expanduser()
    folder = root / "torch_compile_cache"
    shown = str(folder).replace(str(Path.home()), "~", 1)
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except FileNotFoundError:
        entries = []
    except OSError as error:
        return {"folder": shown, "problem": error.strerror, "entries": 0}
    problems = [text for text in map(problem, entries) if text]
    return {"folder": shown, "problem": problems[0] if problems else None, "entries": len(entries)}


def problem(entry: Path) -> str | None:
    """Why an entry of the cache cannot be used; None if it can."""
    if not os.access(entry, os.R_OK | os.W_OK | os.X_OK):
        return f"{entry.name} may not be written by user {os.getuid()}"
    indexes = (index for pattern in INDEXES for index in entry.glob(pattern))
    broken = next((index for index in indexes if not is_literal(index)), None)
    return f"{broken.relative_to(entry.parent)} is not whole" if broken else None


def is_literal(file: Path) -> bool:
    """Whether a file holds a Python literal, as which the engine reads it; it is written in place, and not at once."""
    try:
        ast.literal_eval(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return False
    return True


def look() -> dict[str, Any]:
    """All facts."""
    engine = package("vllm")
    return {
        "installed": engine is not None,
        "architectures": architectures(engine) if engine else None,
        "quantisations": quantisations(engine) if engine else None,
        "plugins": plugins(),
        "fastsafetensors_by_global_rank": loads_by_global_rank(engine) if engine else None,
        "assembler": assembler(),
        "cache": cache(),
    }


if __name__ == "__main__":
    json.dump(look(), sys.stdout, sort_keys=True)
