"""Scripts that run with the node's own Python: as text for any interpreter, and function by function."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from shakedown.nodes.answer import Command, Place, python_script
from shakedown.nodes.scripts import engine, engine_user, ray_cluster, versions

SCRIPTS = Path(ray_cluster.__file__).parent


def answer(command: Command) -> dict[str, object]:
    """What a node prints for a script, run as the node would run it."""
    done = subprocess.run(["sh", "-c", command.text], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", sorted(file.stem for file in SCRIPTS.glob("[a-z]*.py")))
def test_a_script_has_a_revision_and_needs_no_package_of_ours(name: str) -> None:
    text = (SCRIPTS / f"{name}.py").read_text()
    assert text.startswith("# revision: ")
    assert "shakedown" not in text
    command = python_script(name, "/opt/x/python", "it's")
    assert command.place is Place.ENGINE
    assert command.key.startswith(f"python {name}/")
    assert "/opt/x" not in command.key


def test_versions_are_told() -> None:
    found = answer(python_script("versions", sys.executable, "no-such-package,pytest", "neither,nor"))
    assert found == {"no-such-package": pytest.__version__, "neither": None, "python": sys.version.split()[0]}


def test_the_first_installed_name_counts() -> None:
    assert versions.version("pytest,pydantic") == pytest.__version__


def test_an_address_that_listens_is_reachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert ray_cluster.connect(address) == {"reachable": True, "source": "127.0.0.1"}
    refused = ray_cluster.connect(address)
    assert not refused["reachable"]
    assert "refused" in refused["error"]


def test_a_worker_only_connects() -> None:
    found = answer(python_script("ray_cluster", sys.executable, "127.0.0.1:1", "connect"))
    assert found["raylets"] is None
    assert "tables" not in found


def test_every_living_raylets_ports_are_tried() -> None:
    rows = [{"Alive": True, "NodeManagerAddress": "127.0.0.1", "NodeManagerPort": 1, "ObjectManagerPort": 1}]
    state = SimpleNamespace(node_table=lambda: [*rows, {"Alive": False}])
    tried = ray_cluster.raylets(state)
    assert [(port["role"], port["reachable"]) for port in tried] == [("node manager", False), ("object manager", False)]


def test_an_engine_that_is_found_tells_its_parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as text, so that a package which cannot be imported here still tells."""
    for folder in ("made_up_engine", "made_up_engine/reasoning"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("raise ImportError\n")
    registry = '_REASONING_PARSERS_TO_REGISTER: dict = {"qwen3": ("a", "B"), "glm45": ()}\n'
    (tmp_path / "made_up_engine/reasoning/__init__.py").write_text(registry)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = engine.folder_of("made_up_engine")
    assert package is not None
    assert engine.parsers(package, "reasoning") == ["glm45", "qwen3"]
    assert engine.parsers(package, "tools") is None
    assert engine.folder_of("no_such_engine") is None


def test_without_a_gcs_there_are_no_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ray_cluster, "own_gcs", lambda: None)
    monkeypatch.setattr(sys, "argv", ["-c", "127.0.0.1:1", "tables"])
    ray_cluster.main()
    found = json.loads(capsys.readouterr().out)
    assert found["gcs"]["address"] == "127.0.0.1:1"
    assert found["tables"] is None


def test_the_raylets_own_gcs_is_found(tmp_path: Path) -> None:
    """Wherever Ray was started: the declared address may be the very thing that is wrong."""
    for pid, name, arguments in (
        ("7", "python", ["--gcs-address=1.1.1.1:1"]),
        ("9", "raylet", ["raylet", "--node_ip_address=198.18.0.12", "--gcs-address=198.18.0.12:6379"]),
    ):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "comm").write_text(name + "\n")
        (tmp_path / pid / "cmdline").write_text("\0".join(arguments) + "\0")
    assert ray_cluster.own_gcs(tmp_path) == "198.18.0.12:6379"
    (tmp_path / "9" / "comm").write_text("bash\n")
    assert ray_cluster.own_gcs(tmp_path) is None


def test_an_engine_tells_the_traits_of_its_release(tmp_path: Path) -> None:
    assert engine.traits(tmp_path) is None
    for file, text in (
        ("envs.py", 'int(os.getenv("VLLM_USE_RAY_V2_EXECUTOR_BACKEND", "0"))'),
        ("v1/executor/ray_utils.py", 'SPECIFIC = {\n    "VLLM_HOST_IP",\n    "VLLM_NIXL_SIDE_CHANNEL_HOST",\n}\n'),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    assert engine.traits(tmp_path) == ["second executor", "VLLM_NIXL_SIDE_CHANNEL_HOST"]
    (tmp_path / "envs.py").write_text('getenv("VLLM_USE_RAY_V2_EXECUTOR_BACKEND", "1")')
    assert "second executor by default" in (engine.traits(tmp_path) or [])


def seen_by(command: Command, monkeypatch: pytest.MonkeyPatch, caller: str | None) -> dict[str, object]:
    """What a script says that was started by a user's sudo, or without it."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    if caller is not None:
        monkeypatch.setenv("SUDO_UID", caller)
    return answer(command)


EVERYBODYS = shutil.which("python3", path="/usr/bin:/usr/local/bin")


@pytest.mark.skipif(os.getuid() != 0 or EVERYBODYS is None, reason="root, and a Python that others may run")
def test_under_sudo_the_one_whom_it_serves_looks_at_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        tokenizer = Path(folder, "tokenizer.json")
        tokenizer.write_text("{}")
        tokenizer.chmod(0o600)
        command = python_script("model_files", EVERYBODYS or "", folder, as_engine_user=True)
        assert seen_by(command, monkeypatch, None)["unreadable"] == {}
        found = seen_by(command, monkeypatch, str(nobody))
    assert (found["user"], found["unreadable"]) == (nobody, {"tokenizer.json": "mode 600, owner 0"})


def test_the_user_of_a_raylet_is_the_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_user, "PROC", tmp_path)
    for process, files in (("self", "mnt:[1]"), ("76", "mnt:[2]"), ("77", "mnt:[1]")):
        (tmp_path / process / "ns").mkdir(parents=True)
        (tmp_path / process / "ns" / "mnt").symlink_to(files)
    (tmp_path / "76" / "comm").write_text("raylet\n")
    assert engine_user.engine_user(1000) == (1000, {})
    (tmp_path / "77" / "comm").write_text("raylet\n")
    (tmp_path / "77" / "environ").write_text("HOME=/home/ray\0HF_TOKEN=secret\0VLLM_CACHE_ROOT=/cache\0")
    places = {"HOME": "/home/ray", "VLLM_CACHE_ROOT": "/cache"}
    assert engine_user.engine_user(1000) == (tmp_path.stat().st_uid, places)
