"""What the embedded deployment needs of this machine, each with how to get it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from shakedown.embedded.engine import install
from shakedown.errors import MissingPrerequisiteError

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MODEL = HERE / "model"
PLUGIN = HERE / "engine" / "plugin"
MEMORY_GIB = 8  # a deployment that serves takes about 5 GiB
ENGINE_VARIABLE = "SHAKEDOWN_ENGINE_PYTHON"

_TOOLS = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setsid": "util-linux",
    "mount": "mount (or util-linux)",
}
_HIDDEN = ("/tmp", "/var/tmp", "/run", "/dev/shm", "/var/log")  # noqa: S108 - every node has its own of these
_PROBE = (
    "mount -n -t sysfs sysfs /sys && ip link add name hub type bridge && ip link add name one type veth peer name two"
)
_ASK = """
import importlib.util, json, sys
names = [name for name in ("vllm", "ray") if importlib.util.find_spec(name) is None]
print(json.dumps({"prefix": sys.prefix, "base": sys.base_prefix, "missing": names}))
"""


def outer_namespaces() -> list[str]:
    """Options of ``unshare`` for the outer namespace; without root, a user namespace in which we are root."""
    namespaces = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return namespaces if os.geteuid() == 0 else ["--user", "--map-root-user", *namespaces]


def check_tools() -> None:
    """Raises:
    MissingPrerequisiteError: a program is missing; names the package.
    """
    missing = {tool: package for tool, package in _TOOLS.items() if shutil.which(tool) is None}
    if missing:
        names = ", ".join(f"{tool} (package {package})" for tool, package in missing.items())
        raise MissingPrerequisiteError(f"the embedded deployment needs {names}; install it with the system's packages")


def check_memory(meminfo: Path = Path("/proc/meminfo")) -> None:
    """Raises:
    MissingPrerequisiteError: less memory is available than a deployment takes.
    """
    fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    available_gib = int(fields["MemAvailable"].split()[0]) / 2**20
    if available_gib < MEMORY_GIB:
        raise MissingPrerequisiteError(
            f"{available_gib:.1f} GiB of memory are available and the embedded deployment needs {MEMORY_GIB} GiB; "
            "close something, end another deployment (python -m shakedown down --all), or take a larger machine"
        )


def check_namespaces() -> None:
    """Raises:
    MissingPrerequisiteError: namespaces, or the networks in them, are not to be had; says which setting it is.
    """
    probe = subprocess.run(
        ["unshare", *outer_namespaces(), "sh", "-c", _PROBE], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        raise MissingPrerequisiteError(
            f"this machine does not let us make network namespaces: {probe.stderr.strip()}. {_why_forbidden()}"
        )


def _why_forbidden(sysctl: Path = Path("/proc/sys")) -> str:
    if os.geteuid() == 0:
        return (
            "As root this happens in containers; run the container with --privileged (or --cap-add SYS_ADMIN "
            "--cap-add NET_ADMIN and without a seccomp and AppArmor profile), or use the machine itself."
        )
    settings = {
        "kernel/apparmor_restrict_unprivileged_userns": "1",
        "kernel/unprivileged_userns_clone": "0",
        "user/max_user_namespaces": "0",
    }
    for setting, forbidding in settings.items():
        path = sysctl / setting
        if path.exists() and path.read_text().strip() == forbidding:
            name = setting.replace("/", ".")
            return f"{name} is {forbidding}: change it with sysctl as root, or run as root."
    return "Run as root, or allow unprivileged user namespaces."


def engine(python: Path | None, tell: Callable[[str], None]) -> Path:
    """The prefix of the Python that has vLLM and Ray; the nodes are shown this folder as theirs.

    It is that of the given Python, else of ``$SHAKEDOWN_ENGINE_PYTHON``, else of ``.venv-engine``, which is made when
    it is missing or out of date; that takes minutes.

    Raises:
        MissingPrerequisiteError: it does not run, lacks a package, or lies where nodes cannot see it.
    """
    chosen = python or (Path(os.environ[ENGINE_VARIABLE]) if os.environ.get(ENGINE_VARIABLE) else None)
    if chosen is None:
        if not install.installed(ROOT):
            tell(f"vLLM and Ray are installed into {install.FOLDER}: about 4 GB, some minutes, once")
        try:
            chosen = install.ensure(ROOT)
        except install.InstallError as error:
            raise MissingPrerequisiteError(str(error)) from error
    try:
        answer = subprocess.run([chosen, "-c", _ASK], capture_output=True, text=True, check=True, timeout=60)
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise MissingPrerequisiteError(f"the engine's Python {chosen} does not run: {error}") from error
    if facts["missing"]:
        raise MissingPrerequisiteError(
            f"{chosen} has no {' and no '.join(facts['missing'])}; install it there, give another Python with "
            f"--engine-python or ${ENGINE_VARIABLE}, or leave both away to let us make .venv-engine"
        )
    base = Path(facts["base"]).resolve()
    if any(base.is_relative_to(folder) for folder in _HIDDEN):
        raise MissingPrerequisiteError(f"the engine's Python is installed in {base}, which every node has its own of")
    if not (Path(facts["prefix"]) / "bin/python").exists():
        raise MissingPrerequisiteError(f"{facts['prefix']} has no bin/python; take the Python of a virtual environment")
    return Path(facts["prefix"])


def check(python: Path | None, tell: Callable[[str], None]) -> Path:
    """Look at everything; the engine is installed if need be, which is told.

    Returns:
        The prefix of the engine's Python.

    Raises:
        MissingPrerequisiteError: something is missing; says how to get it.
    """
    if not sys.platform.startswith("linux"):
        raise MissingPrerequisiteError(f"the embedded deployment is made of Linux namespaces; this is {sys.platform}")
    check_tools()
    check_namespaces()
    check_memory()
    return engine(python, tell)
