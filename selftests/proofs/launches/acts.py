"""What is done to a launch on its way: processes are killed or stopped, links cut, memory filled, lines written."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Sequence

from selftests.proofs.launches.model import Scene
from shakedown.embedded.node import MODEL, PYTHON, RunningNode, base_environment
from shakedown.embedded.processes import kill
from shakedown.embedded.server import LOG
from shakedown.faults.signatures import noise
from shakedown.launch.attend import Options, attend
from shakedown.launch.status import State, Status

Do = Callable[[Scene], None]
Choose = Callable[[Scene], RunningNode]

END_S = 15.0
"""An engine that is told to end does so within some seconds; without its server it may live on."""

FOLLOWER = "json.loads(zlib.decompress"
"""In the command line of what follows a node."""

_FILL = """
import time
taken = []
def used():
    fields = dict(line.split(":", 1) for line in open("/proc/meminfo"))
    total, available = (int(fields[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return 1 - available / total
while used() < {share} and len(taken) < 400:
    taken.append(bytearray(b"x" * 2**26))
time.sleep({hold_s})
"""


def head(scene: Scene) -> RunningNode:
    """The node with the API server."""
    return scene.head


def worker(scene: Scene) -> RunningNode:
    """The other one."""
    return scene.worker


def on(node: RunningNode, argv: Sequence[str]) -> None:
    """Run a command on a node, and wait for its end."""
    done = subprocess.run(node.enter(argv, base_environment()), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{shlex.join(argv)} on {node.name}: {done.stderr.strip()}"


def signalled(name: str, choose: Choose, title: str) -> Do:
    """Send a signal to the processes of a node whose command line has that text in it."""

    def do(scene: Scene) -> None:
        node = choose(scene)
        pids = _pids(node, title)
        assert pids, f"nothing on {node.name} is called {title}"
        on(node, ["kill", f"-{name}", *map(str, pids)])

    return do


def paused(choose: Choose, title: str, for_s: float) -> Do:
    """Stop processes for a moment, as a debugger does that looks at their stacks."""

    def do(scene: Scene) -> None:
        signalled("STOP", choose, title)(scene)
        threading.Timer(for_s, signalled("CONT", choose, title), (scene,)).start()

    return do


def link(state: str, choose: Choose = worker) -> Do:
    """Set the fabric NIC of a node ``up`` or ``down``."""
    return lambda scene: on(choose(scene), ["ip", "link", "set", choose(scene).plan.fabric_nic, state])


def flapped(for_s: float) -> Do:
    """The worker's link goes, and comes back."""

    def do(scene: Scene) -> None:
        link("down")(scene)
        threading.Timer(for_s, link("up"), (scene,)).start()

    return do


def vanished(scene: Scene) -> None:
    """The worker ends with everything on it, as a container does that is removed."""
    assert kill(scene.worker.process)


def filled(scene: Scene) -> None:
    """Something else on the worker takes memory, until Ray's monitor there has had enough."""
    share = float(_variable(scene.worker, "raylet", "RAY_memory_usage_threshold")) + 0.02
    script = _FILL.format(share=share, hold_s=60)
    process = subprocess.Popen(
        scene.worker.enter([str(PYTHON), "-c", script], base_environment()), stdout=subprocess.DEVNULL
    )
    scene.ends.append(lambda: _end(process))


def cold(scene: Scene) -> None:
    """The weights are in no page cache any more."""
    for node in (scene.head, scene.worker):
        for shard in sorted(node.file(MODEL).glob("*.safetensors")):
            descriptor = os.open(shard, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def noisy(scene: Scene) -> None:
    """Lines that look like failures and are none come into the serve log."""
    with scene.head.file(LOG).open("a") as log:
        for known in noise():
            log.writelines(f"{line}\n" for line in known.samples)


def watched(scene: Scene) -> None:
    """Somebody else begins to watch, and knows nothing of the begin."""
    seen: list[Status] = []
    thread = threading.Thread(
        target=lambda: attend(scene.deployment, seen.append, Options(deadline_s=200)), daemon=True
    )
    thread.start()

    def end() -> None:
        thread.join(60)
        states = list(dict.fromkeys(status.state for status in seen))
        told = [status.explanation.title for status in seen if status.explanation]
        well = {State.WAITING, State.RUNNING, State.READY}
        assert states[-1:] == [State.READY], f"who came in the middle saw {states} {told[:1]}"
        assert set(states) <= well, f"who came in the middle saw {states} {told[:1]}"

    scene.ends.append(end)


def served_before(name: str) -> Do:
    """The same Ray has served before: that server has become ready, and was then sent a signal."""

    def do(scene: Scene) -> None:
        launch = scene.deployment.launch
        assert launch is not None
        assert launch.serve is not None
        on(scene.head, ["sh", "-c", launch.serve])
        status = attend(scene.deployment, lambda _: None, Options(deadline_s=200), time.time())
        assert status.state is State.READY, status
        signalled(name, head, "vllm.entrypoints")(scene)
        until = time.monotonic() + END_S
        while _pids(scene.head, "VLLM::EngineCore") and time.monotonic() < until:
            time.sleep(0.2)

    return do


def _pids(node: RunningNode, title: str) -> list[int]:
    found = []
    for file in node.proc.glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if title in words:
            found.append(int(file.parent.name))
    return found


def _variable(node: RunningNode, process: str, name: str) -> str:
    for pid in _pids(node, process):
        for setting in (node.proc / str(pid) / "environ").read_bytes().split(b"\0"):
            key, _, value = setting.decode(errors="replace").partition("=")
            if key == name:
                return value
    raise AssertionError(f"{process} on {node.name} has no {name}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
