"""A deployment that is written is the one that is read."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.inventory.files import GOOD
from shakedown.inventory.load import load_deployment
from shakedown.inventory.write import toml, write_deployment

text = st.text(st.characters(codec="utf-8"), max_size=20)
scalars = text | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
values = scalars | st.lists(scalars, max_size=4)
tables = st.recursive(
    st.dictionaries(text, values, max_size=4),
    lambda inner: st.dictionaries(text, values | inner | st.lists(inner, min_size=1, max_size=3), max_size=4),
    max_leaves=12,
)


@given(tables)
def test_any_tables_come_back(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml(table)) == table


def test_deployment_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "written.toml"
    document = tomllib.loads(GOOD)
    document["node"][1]["namespace"] = {"pid": 4711, "started": 123456}
    del document["node"][1]["ssh"]
    document["serve"]["log"] = Path('/tmp/a "quoted" \\ log')
    document["serve"]["reasoning_parser"] = None
    write_deployment(document, file)
    deployment = load_deployment(file)
    target = deployment.named("spark-b").namespace
    assert target is not None
    assert (target.pid, target.started) == (4711, 123456)
    assert str(deployment.serve.log) == '/tmp/a "quoted" \\ log'
    assert deployment.serve.reasoning_parser is None


def test_infinity_is_written_as_toml_has_it() -> None:
    assert tomllib.loads(toml({"a": math.inf, "b": -math.inf})) == {"a": math.inf, "b": -math.inf}


@pytest.mark.parametrize("value", ["\ud800", [1, {"a": 1}], [None]])
def test_what_toml_cannot_say_is_refused(value: object, tmp_path: Path) -> None:
    file = tmp_path / "written.toml"
    with pytest.raises(ValueError, match=r"deployment file|stand in a file"):
        write_deployment({"a": value}, file)
    assert list(tmp_path.iterdir()) == []
