"""Whatever a file holds, it is a deployment or it is refused with a text for people."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selftests.inventory.files import GOOD
from shakedown.errors import DeploymentFileError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.inventory.schema import TABLES

KEYS = sorted({key for keys in TABLES.values() for key in keys})
VALUES = [
    *('"x"', '""', "1", "-1", "1.5", "inf", "nan", "true", "[]", "[1]", '["a"]', "{}", "[{}]", "[[]]", "{ pid = 1 }"),
    *("2024-01-01", "07:32:00", "0xffffffffffffffffff", '"10.0.0.0/8"', '"\\u0000"', '"""\n"""', "'''a\n=b'''"),
]
HEADERS = (
    [f"[{key}]" for key in KEYS] + [f"[[{key}]]" for key in KEYS] + ["[a.b]", "[node.namespace]", '["x y"]', "[node"]
)
assignments = st.builds(
    "{} = {}".format, st.sampled_from([*KEYS, "zz", '"q"', "node.x", "a.b.c"]), st.sampled_from(VALUES)
)
lines = st.sampled_from(HEADERS) | assignments | st.text(max_size=12)
once = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)


@once
@given(st.lists(lines, max_size=12).map("\n".join))
def test_toml_like_text(tmp_path: Path, text: str) -> None:
    _judge(text.encode("utf-8", "surrogatepass"), tmp_path)


@once
@given(st.binary(max_size=60))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    _judge(data, tmp_path)


@once
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_good_file_with_lines_changed(tmp_path: Path, seed: int, changes: int) -> None:
    drawn = random.Random(seed)
    text = GOOD.splitlines()
    for _ in range(changes):
        where = drawn.randrange(len(text))
        key = text[where].partition(" =")[0]
        text[where] = drawn.choice([f"{key} = {drawn.choice(VALUES)}", drawn.choice(HEADERS), ""])
    _judge("\n".join(text).encode(), tmp_path)


def test_the_good_file_itself_is_a_deployment(tmp_path: Path) -> None:
    assert _judge(GOOD.encode(), tmp_path) is not None


def _judge(data: bytes, folder: Path) -> Deployment | None:
    file = folder / "deployment.toml"
    file.write_bytes(data)
    try:
        return load_deployment(file)
    except DeploymentFileError as error:
        lines = str(error).splitlines()
        assert lines
        assert all(line.startswith(f"{file}:") and line.isprintable() for line in lines), lines
        return None


@pytest.fixture(scope="module")
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")
