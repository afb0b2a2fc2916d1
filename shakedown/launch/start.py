"""The start of a declared deployment, step by step: Ray on the head, Ray on the workers, the API server."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from shakedown.errors import LaunchError
from shakedown.inventory.model import Deployment, Node
from shakedown.launch import commands
from shakedown.launch.commands import StartCommand
from shakedown.nodes.advice import advice
from shakedown.nodes.answer import Place
from shakedown.nodes.redact import redact
from shakedown.nodes.transport import Transport, machine_transport, transport_for
from shakedown.outcomes import Stage

Progress = Callable[[str], None]

LIMIT_S = 180.0
"""A `ray start` takes 3 to 10 s, and gives up by itself after some 60 s where the head does not answer."""

TAIL_LINES = 15


def steps_to(stage: Stage, deployment: Deployment) -> tuple[tuple[StartCommand, ...], ...]:
    """What is run to get from the stage before to that one: groups, one after the other; a group at the same time.

    Raises:
        LaunchError: a command is not given and cannot be made.
    """
    if stage is Stage.RAY:
        workers = tuple(commands.ray_worker(deployment, node) for node in deployment.workers)
        return ((commands.ray_head(deployment),), workers)
    if stage is Stage.SERVING:
        return ((commands.serve(deployment),),)
    return ()


def run_steps(stage: Stage, deployment: Deployment, progress: Progress) -> None:
    """Run these commands; each must end well before the next group begins.

    Raises:
        LaunchError: one did not end well, or not in time; with what it said.
    """
    for group in steps_to(stage, deployment):
        for command in group:
            progress(command.what)
        with ThreadPoolExecutor(max_workers=len(group)) as pool:
            failures = [why for why in pool.map(lambda command: _run(deployment, command), group) if why]
        if failures:
            raise LaunchError("\n".join(failures))


def shown(command: StartCommand) -> str:
    """The command for people: who made it, where it runs, its text; secrets are named and not told."""
    where = "in the container" if command.place is Place.ENGINE else "on the machine"
    whose = "made from the deployment file" if command.ours else "from [launch]"
    secret = "".join(f"export {name}=...\n" for name in command.secrets)
    return f"# {command.what} ({command.node.name}, {where}; {whose})\n{secret}{command.text.strip()}"


def _run(deployment: Deployment, command: StartCommand) -> str | None:
    """Run one command; returns why it did not end well, None where it did."""
    transport = _transport(deployment, command)
    try:
        done = subprocess.run(
            transport.argv("exec sh -s"),
            input=command.script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        said = late.output.decode(errors="replace") if isinstance(late.output, bytes) else late.output or ""
        return _failure(command, f"no end after {LIMIT_S:.0f} s", said)
    except OSError as error:
        return _failure(command, str(error), "")
    return None if done.returncode == 0 else _failure(command, f"exit status {done.returncode}", done.stdout)


def _failure(command: StartCommand, how: str, said: str) -> str:
    tail = redact(said.encode()).decode(errors="replace").strip().splitlines()[-TAIL_LINES:]
    words = "".join(f"\n  {line}" for line in tail) or "\n  it said nothing"
    return f"{command.what}: {how} on {command.node.name}{words}{advice(said)}"


def _transport(deployment: Deployment, command: StartCommand) -> Transport:
    """The way in, as the login user: `sudo` of a node is for reading, what runs on would belong to root."""
    node: Node = command.node.model_copy(update={"sudo": False})
    return transport_for(node, deployment) if command.place is Place.ENGINE else machine_transport(node)
