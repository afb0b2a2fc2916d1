"""Which tests claim what: read from the source of the suites, so that nobody keeps a list beside them.

The tests are parsed and never imported: this needs no pytest, no deployment and no particular working directory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shakedown.errors import CatalogueError
from shakedown.outcomes import Stage

SUITES = ("infra", "serving", "perf")
ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the package and, in every checkout, the suites beside it."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A check as its test declares it.

    Attributes:
        id: of the entry that it is about.
        test: file and name, as pytest takes them.
        claim: the first paragraph of the test's docstring.
        stages: at which the claim means something; empty where the marker does not write them down literally.
        tier: 0 only reads; a higher one acts on the nodes and is asked for by ``--tier``.
    """

    id: str
    test: str
    claim: str
    stages: tuple[Stage, ...] = ()
    tier: int = 0

    @property
    def when(self) -> str:
        """Stages, and the option that it takes, in words."""
        return ", ".join(self.stages) + (f", with --tier {self.tier}" if self.tier else "")


@cache
def declared_checks(root: Path = ROOT) -> tuple[Declared, ...]:
    """Every test of the three suites that carries the marker ``check``, in the order of the files.

    Raises:
        CatalogueError: the suites do not lie beside the package, as where it was installed without them.
    """
    files = [file for suite in SUITES for file in sorted(root.glob(f"tests_{suite}/test_*.py"))]
    if not files:
        raise CatalogueError(f"no tests_infra in {root}: install shakedown from its checkout with `pip install -e`")
    return tuple(declared for file in files for declared in _in_file(file, root))


def checks_of(id: str) -> tuple[Declared, ...]:
    """The checks that are about one entry, in the order of the files."""
    return tuple(declared for declared in declared_checks() if declared.id == id)


def _in_file(file: Path, root: Path) -> Iterator[Declared]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    constants = {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function in body:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for marker in filter(None, map(_marker, function.decorator_list)):
            claim = " ".join((ast.get_docstring(function) or "").split("\n\n")[0].split())
            test = f"{file.relative_to(root)}::{function.name}"
            yield Declared(_id(marker), test, claim, tuple(_stages(marker, constants)), _tier(marker))


def _marker(decorator: ast.expr) -> ast.Call | None:
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
        return None
    literal = bool(decorator.args) and isinstance(decorator.args[0], ast.Constant)
    return decorator if decorator.func.attr == "check" and literal else None


def _id(marker: ast.Call) -> str:
    first = marker.args[0]
    assert isinstance(first, ast.Constant)
    return str(first.value)


def _stages(marker: ast.Call, constants: dict[str, ast.expr]) -> Iterator[Stage]:
    for keyword in marker.keywords:
        if keyword.arg == "stages":
            yield from (Stage(name) for name in _names(keyword.value, constants))


def _tier(marker: ast.Call) -> int:
    tiers = [keyword.value for keyword in marker.keywords if keyword.arg == "tier"]
    return next((tier.value for tier in tiers if isinstance(tier, ast.Constant) and isinstance(tier.value, int)), 0)


def _names(value: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    """The strings of a tuple, of a constant of the same file that is one, or of both together (``*CLUSTER``)."""
    if isinstance(value, ast.Constant):
        yield str(value.value)
    elif isinstance(value, ast.Tuple):
        for element in value.elts:
            yield from _names(element, constants)
    elif isinstance(value, ast.Starred):
        yield from _names(value.value, constants)
    elif isinstance(value, ast.Name) and value.id in constants:
        yield from _names(constants[value.id], constants)
