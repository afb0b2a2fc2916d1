"""One command of a start: run where it belongs, listened to meanwhile, and ended when it says that it gets nowhere."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator

from shakedown.engines.vllm.phases import Splitter
from shakedown.faults.diagnose import Diagnostician
from shakedown.faults.lines import LogLine
from shakedown.inventory.model import Deployment, Node
from shakedown.launch.commands import StartCommand
from shakedown.launch.explain import of_diagnosis
from shakedown.launch.live import explained
from shakedown.launch.status import Explanation
from shakedown.nodes.advice import advice
from shakedown.nodes.answer import Place
from shakedown.nodes.redact import redact
from shakedown.nodes.transport import Transport, machine_transport, transport_for

LIMIT_S = 180.0
"""A `ray start` takes 3 to 10 s."""

PATIENCE_S = 10.0
"""A command that has said what is in its way is given so long to get on all the same: `ray start` tries for minutes."""

NUMBER = "shakedown: process "
"""Before all else the shell says its number in these words: what is given up has to be ended where it runs."""

END_S = 15.0

TAIL_LINES = 15
_TURN_S = 0.2


class Step:
    """A command, and what it says.

    Args:
        deployment: whose.
        command: which.
        progress: told what is in its way as soon as it says so.

    Attributes:
        explanation: why it failed, from its own words; None where it did not, or where they say nothing known.
    """

    def __init__(self, deployment: Deployment, command: StartCommand, progress: Callable[[str], None]) -> None:
        self._deployment = deployment
        self._command = command
        self._progress = progress
        self._diagnosis = Diagnostician(deployment)
        self._lines: list[str] = []
        self._told: str | None = None
        self._hindered: float | None = None
        self._number: int | None = None
        self.explanation: Explanation | None = None

    def run(self) -> str | None:
        """Run it; returns why it did not end well, for people, None where it did."""
        try:
            how = self._run()
        except OSError as error:
            how = str(error)
        if how is None:
            return None
        diagnosis = self._diagnosis.verdict(time.time(), failed=True)
        self.explanation = of_diagnosis(diagnosis) if diagnosis else None
        return self._failure(how)

    def _run(self) -> str | None:
        transport = _transport(self._deployment, self._command)
        with subprocess.Popen(
            transport.argv("exec sh -s"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        ) as process:
            try:
                how = self._listen(process)
            finally:
                process.kill()
        if how is not None:
            self._end(transport)
        elif process.returncode:
            how = f"exit status {process.returncode}"
        return how

    def _end(self, transport: Transport) -> None:
        """End it on the node, with what it has begun: the end of its connection would not."""
        if self._number is None:
            return
        script = f"kill -TERM -{self._number} 2>/dev/null || kill -TERM {self._number}"
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(transport.argv(script), capture_output=True, timeout=END_S, check=False)

    def _listen(self, process: subprocess.Popen[bytes]) -> str | None:
        """Until it says no more; returns why it is not waited for any longer, None where it has ended."""
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
            process.stdin.write(f"echo '{NUMBER}'$$\n{self._command.script}".encode())
            process.stdin.close()
        end = time.monotonic() + LIMIT_S
        splitter = Splitter()
        for data in _pieces(process.stdout.fileno()):
            for line in splitter.feed(data or b""):
                self._take(line)
            now = time.monotonic()
            if self._hindered is not None and now > self._hindered + PATIENCE_S:
                return f"ended, since it gets nowhere for {PATIENCE_S:.0f} s"
            if now > end:
                return f"no end after {LIMIT_S:.0f} s"
        for line in splitter.flush():
            self._take(line)
        process.wait()
        return None

    def _take(self, line: str) -> None:
        if self._number is None and line.startswith(NUMBER):
            self._number = int(line.removeprefix(NUMBER))
            return
        text = redact(line.encode()).decode(errors="replace")
        self._lines.append(text)
        node: Node = self._command.node
        self._diagnosis.feed(LogLine(node.name, "command", self._command.what, time.time(), text))
        found = self._diagnosis.verdict(time.time(), failed=True)
        if found and found.kind in ("root", "suspect") and found.fault != self._told:
            self._told = found.fault
            self._progress(f"{found.fault} on {found.node}: {found.title}; {text.strip()}")
            self._hindered = self._hindered or time.monotonic()

    def _failure(self, how: str) -> str:
        tail = "\n".join(self._lines).strip().splitlines()[-TAIL_LINES:]
        words = "".join(f"\n  {line}" for line in tail) or "\n  it said nothing"
        why = "\n".join(["", *explained(self.explanation)]) if self.explanation else advice("\n".join(self._lines))
        return f"{self._command.what}: {how} on {self._command.node.name}{words}{why}"


def _pieces(descriptor: int) -> Iterator[bytes | None]:
    """What comes out of a pipe until its end; None where nothing has come for a while."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(_TURN_S):
                yield None
                continue
            data = os.read(descriptor, 2**16)
            if not data:
                return
            yield data


def _transport(deployment: Deployment, command: StartCommand) -> Transport:
    """The way in, as the login user: `sudo` of a node is for reading, what runs on would belong to root.

    Where there is a container, it belongs to the container's user anyhow, and `sudo` may be the way to docker.
    """
    by_docker = command.ours and deployment.container is not None
    node: Node = command.node if by_docker else command.node.model_copy(update={"sudo": False})
    return transport_for(node, deployment) if command.place is Place.ENGINE else machine_transport(node)
