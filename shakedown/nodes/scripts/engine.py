# revision: 2
"""Whether this Python finds Ray and the engine, and what the engine's sources tell of its release; as JSON.

Argument: the engine's package. Nothing is imported, which would take seconds and gigabytes: packages are looked for as
an import would, and the parsers' names and the traits of a release are read from the sources as text.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

REGISTRIES = {
    "reasoning": ("_REASONING_PARSERS_TO_REGISTER", ("reasoning",)),
    "tools": ("_TOOL_PARSERS_TO_REGISTER", ("tool_parsers", "entrypoints/openai/tool_parsers")),
}
"""Kind of parser -> the dictionary whose keys are their names, and the folders of the package it may stand in."""

SECOND = '"VLLM_USE_RAY_V2_EXECUTOR_BACKEND"'
TRAITS = (
    ("second executor", "envs.py", SECOND),
    ("second executor by default", "envs.py", SECOND + r',\s*"1"'),
    ("VLLM_NIXL_SIDE_CHANNEL_HOST", "v1/executor/ray*.py", r'(?m)^\s*"VLLM_NIXL_SIDE_CHANNEL_HOST",$'),
    ("FLASH_ATTENTION_", "ray/ray_env.py", r'(?m)^\s*"FLASH_ATTENTION_",$'),
)
"""How a release hands its environment over to the workers: name of the trait, files that may have it, and its text."""


def folder_of(package: str) -> Path | None:
    """The folder of a package that an import would take; None where it would fail."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec and spec.origin else []
    return Path(places[0]) if places else None


def registered(source: str, name: str) -> list[str] | None:
    """The keys of a dictionary that a module assigns to ``name``; None where it assigns none."""
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Dict):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return sorted(str(key.value) for key in statement.value.keys if isinstance(key, ast.Constant))
    return None


def parsers(package: Path, kind: str) -> list[str] | None:
    """Names of the parsers of one kind; None where the release keeps them elsewhere."""
    name, folders = REGISTRIES[kind]
    for folder in folders:
        file = package / folder / "__init__.py"
        if file.is_file():
            return registered(file.read_text(encoding="utf-8"), name)
    return None


def traits(package: Path) -> list[str] | None:
    """Names of the traits that the sources have; None where the sources are not there."""
    if not (package / "envs.py").is_file():
        return None
    return [name for name, files, text in TRAITS if any(re.search(text, source) for source in read(package, files))]


def read(package: Path, files: str) -> list[str]:
    """The text of every file of the package that fits the pattern."""
    return [file.read_text(encoding="utf-8") for file in package.glob(files)]


def main() -> None:
    """Print the answer."""
    engine = folder_of(sys.argv[1])
    answer: dict[str, Any] = {"ray": folder_of("ray") is not None, "engine": engine is not None}
    answer["parsers"] = {kind: parsers(engine, kind) if engine else None for kind in REGISTRIES}
    answer["traits"] = traits(engine) if engine else None
    json.dump(answer, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
