"""However a deployment ends, no process, namespace, mount, link or file of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from selftests.embedded.conftest import Cli
from selftests.embedded.leftovers import Footprint, links, wait_for_record
from shakedown.embedded import describe, machine
from shakedown.embedded.machine import ROOT
from shakedown.embedded.state import StateFolder
from shakedown.embedded.up import EmbeddedDeployment, Options, attach, start
from shakedown.errors import LaunchError
from shakedown.inventory.load import load_deployment
from shakedown.outcomes import Stage

pytestmark = pytest.mark.embedded


def hostname(deployment: EmbeddedDeployment) -> list[str]:
    """What each node calls itself."""
    argv = [node.enter(["cat", "/proc/sys/kernel/hostname"], {}) for node in deployment.nodes]
    return [subprocess.run(one, capture_output=True, text=True, check=True).stdout.strip() for one in argv]


def test_two_at_once_do_not_meet(runtime: Path) -> None:
    before = links()
    with start(Options(name="one", owned=True)) as one, start(Options(name="two", owned=True)) as two:
        files = [load_deployment(deployment.file) for deployment in (one, two)]
        assert files[0].serve.base_url != files[1].serve.base_url
        assert [node.fabric_address for node in files[0].node] == [node.fabric_address for node in files[1].node]
        footprints = [Footprint.of("one"), Footprint.of("two")]
        assert not footprints[0].namespaces & footprints[1].namespaces
        assert links() == before
        one.close()
        footprints[0].wait_until_gone()
        assert hostname(two) == ["node-a", "node-b"]
    footprints[1].wait_until_gone()
    assert list(runtime.iterdir()) == []


def test_a_deployment_that_is_not_owned_stands_after_its_block_and_is_attached_to(runtime: Path) -> None:
    with start(Options(name="one")) as deployment:
        file = deployment.file
    footprint = Footprint.of("one")
    again = attach("one")
    assert again.file == file
    assert again.stage is Stage.HOSTS
    again.close()
    footprint.wait_until_gone()
    assert list(runtime.iterdir()) == []


def test_a_start_that_fails_leaves_nothing(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Footprint] = []

    def fail(*_: object) -> None:
        seen.append(Footprint.of("one"))
        raise LaunchError("fails late")

    monkeypatch.setattr(describe, "write", fail)
    with pytest.raises(LaunchError, match="fails late"):
        start(Options(name="one"))
    assert len(seen[0].namespaces) == 3 + 2 * 5  # net, mnt and pid of the hub, and all five of each node
    seen[0].wait_until_gone()
    assert list(runtime.iterdir()) == []


def test_nodes_that_cannot_be_made_say_why_and_leave_nothing(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PLUGIN", runtime / "no-plugin")
    with pytest.raises(LaunchError, match=r"could not be made\n(.*\n)*.*no-plugin"):
        start(Options(name="one"))
    assert list(runtime.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_start_that_is_interrupted_leaves_nothing(cli: Cli, runtime: Path, number: signal.Signals) -> None:
    up = cli("up", "--name", "one", "--until", "ray")
    wait_for_record("one")
    footprint = Footprint.of("one")
    up.send_signal(number)
    up.communicate(timeout=60)
    assert up.returncode != 0
    footprint.wait_until_gone()
    down = cli("down", "one")
    assert down.communicate()[0] == "one: was not there\n"
    assert list(runtime.glob("shakedown/*")) == []


def test_down_removes_what_kill_9_of_everything_left(cli: Cli, runtime: Path) -> None:
    up = cli("up", "--name", "one", "--until", "hosts")
    printed, _ = up.communicate(timeout=60)
    assert printed.splitlines()[-1] == str(StateFolder("one").deployment_file)
    record = wait_for_record("one")
    footprint = Footprint.of("one")
    assert record.hub
    os.kill(record.hub.pid, signal.SIGKILL)
    assert "dead; remove it" in cli("status").communicate()[0]
    assert cli("down", "one").communicate()[0] == "one: ended\n"
    footprint.wait_until_gone()
    assert list(runtime.iterdir()) == []


def test_an_owned_deployment_ends_with_its_owner(runtime: Path) -> None:
    script = (
        "import signal\n"
        "from shakedown.embedded.up import Options, start\n"
        "deployment = start(Options(name='one', owned=True))\n"
        "print(deployment.file, flush=True)\n"
        "signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        assert owner.stdout.readline().strip().endswith("deployment.toml")
        footprint = Footprint.of("one")
        owner.kill()
    footprint.wait_until_gone()
    assert list(runtime.iterdir()) == []
