# revision: 1
"""Whether this Python finds Ray and the engine, and which parsers the engine's sources register; as JSON.

Argument: the engine's package. Nothing is imported, which would take seconds and gigabytes: packages are looked for as
an import would, and the registries are read as text.
"""

from __future__ import annotations

import ast
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

REGISTRIES = {
    "reasoning": ("_REASONING_PARSERS_TO_REGISTER", ("reasoning",)),
    "tools": ("_TOOL_PARSERS_TO_REGISTER", ("tool_parsers", "entrypoints/openai/tool_parsers")),
}
"""Kind of parser -> the dictionary whose keys are their names, and the folders of the package it may stand in."""


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


def main() -> None:
    """Print the answer."""
    engine = folder_of(sys.argv[1])
    answer: dict[str, Any] = {"ray": folder_of("ray") is not None, "engine": engine is not None}
    answer["parsers"] = {kind: parsers(engine, kind) if engine else None for kind in REGISTRIES}
    json.dump(answer, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
