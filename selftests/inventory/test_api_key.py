"""The key of the API: from the variable that the file names, or a text that names the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.inventory.files import GOOD
from shakedown.errors import MissingPrerequisiteError
from shakedown.inventory.api_key import api_key
from shakedown.inventory.load import load_deployment
from shakedown.load.target import target_of
from shakedown.serving.client import client_for

VARIABLE = "KEY_OF_THE_PAIR"


def file_in(folder: Path, text: str) -> Path:
    file = folder / "deployment.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_no_variable_means_no_key(tmp_path: Path) -> None:
    assert api_key(load_deployment(file_in(tmp_path, GOOD))) is None


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_is_named_alike_by_whoever_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    deployment = load_deployment(file_in(tmp_path, f'{GOOD}api_key_env = "{VARIABLE}"\n'))
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    for needs_it in (api_key, target_of, client_for):
        with pytest.raises(MissingPrerequisiteError, match=rf"\${VARIABLE} is not set.*pair"):
            needs_it(deployment)


def test_the_key_is_what_the_variable_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = load_deployment(file_in(tmp_path, f'{GOOD}api_key_env = "{VARIABLE}"\n'))
    monkeypatch.setenv(VARIABLE, "s3cret")
    assert api_key(deployment) == target_of(deployment).api_key == "s3cret"
    assert "s3cret" not in repr(target_of(deployment))
