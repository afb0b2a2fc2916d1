"""The start of a declared deployment, step by step: Ray on the head, Ray on the workers, the API server."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from shakedown.errors import LaunchError
from shakedown.faults import exit_codes
from shakedown.inventory.model import Deployment
from shakedown.launch import commands
from shakedown.launch.commands import StartCommand
from shakedown.launch.status import Explanation
from shakedown.launch.step import Step
from shakedown.nodes.answer import Place
from shakedown.outcomes import Stage

Progress = Callable[[str], None]


class StartError(LaunchError):
    """Commands of a start that did not end well; the text has what each said.

    Attributes:
        explanation: why, from the words of the first of which the catalogue knows something; None where there is none.
    """

    def __init__(self, failures: list[str], explanation: Explanation | None) -> None:
        super().__init__("\n".join(failures))
        self.explanation = explanation
        if explanation is not None:
            self.exit_code = exit_codes.exit_code(explanation.fault)


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
        StartError: one did not end well, or not in time; with what it said.
        LaunchError: a command is not given and cannot be made.
    """
    for group in steps_to(stage, deployment):
        for command in group:
            progress(command.what)
        steps = [Step(deployment, command, progress) for command in group]
        with ThreadPoolExecutor(max_workers=len(steps)) as pool:
            failures = [why for why in pool.map(Step.run, steps) if why]
        if failures:
            raise StartError(failures, next((step.explanation for step in steps if step.explanation), None))


def shown(command: StartCommand) -> str:
    """The command for people: who made it, where it runs, its text; secrets are named and not told."""
    where = "in the container" if command.place is Place.ENGINE else "on the machine"
    whose = "made from the deployment file" if command.ours else "from [launch]"
    secret = "".join(f"export {name}=...\n" for name in command.secrets)
    return f"# {command.what} ({command.node.name}, {where}; {whose})\n{secret}{command.text.strip()}"
