"""``launch``, ``watch`` and ``up``: what starts a deployment, and what follows a start."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from shakedown.embedded import state
from shakedown.embedded.deployment import EmbeddedDeployment
from shakedown.embedded.faults import FAULTS, shape_of
from shakedown.embedded.up import DEFAULT_NAME, attach, start
from shakedown.embedded.up import Options as Making
from shakedown.engines.vllm.phases import PhaseName
from shakedown.errors import LaunchError
from shakedown.faults import exit_codes
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.attend import Options, attend, exit_code_of, farewell
from shakedown.launch.launching import Declared, Embedded, Launchable, attending
from shakedown.launch.launching import launch as take
from shakedown.launch.limits import Limits
from shakedown.launch.live import shown
from shakedown.launch.reported import reported
from shakedown.launch.start import shown as command_shown
from shakedown.launch.start import steps_to
from shakedown.nodes.redact import redact
from shakedown.outcomes import Stage
from shakedown.text import printable

VARIABLE = "SHAKEDOWN_DEPLOYMENT"
DEFAULT_FILE = Path("deployment.toml")
EMBEDDED = "embedded"

_FAULTS = "Build in a fault:\n\n" + "\n\n".join(f"{fault.name}: {fault.text}" for fault in FAULTS)
_CODES = (
    "Exit codes: 0 ready; by the family of the fault "
    + ", ".join(f"{code} {family}" for family, code in exit_codes.OF_FAMILY.items())
    + f"; {exit_codes.STALL} nothing moves; {exit_codes.UNKNOWN} a crash that the catalogue does not know; "
    f"{exit_codes.ENDED} stopped on purpose, or no server to follow; {exit_codes.DEADLINE} --deadline was up; "
    f"{exit_codes.GATE} the infra checks did not run; 2 anything else."
)

Which = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|embedded",
        help=f"Deployment file (default: ${VARIABLE}, ./{DEFAULT_FILE}, the embedded deployment).",
    ),
]
JsonStatus = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Rewrite this file with the status whenever it changes, for tools.")
]
Deadline = Annotated[
    float | None, typer.Option(min=1, metavar="SECONDS", help="Give up after so long, whatever moves (default: never).")
]
Quiet = Annotated[
    list[str] | None,
    typer.Option(
        "--quiet-limit",
        metavar="PHASE=SECONDS",
        help="How long a phase may show no sign of life before it counts as standing still; may be given again. "
        f"Phases: {', '.join(name.name.lower() for name in PhaseName)}.",
    ),
]


def launch(
    deployment: Which = None,
    until: Annotated[Stage, typer.Option(help="How far; goes on from the stage that it is at.")] = Stage.SERVING,
    gate: Annotated[bool, typer.Option(help="Run the infra checks before each stage and stop at a blocker.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the commands and run none.")] = False,
    json_status: JsonStatus = None,
    deadline: Deadline = None,
    quiet_limit: Quiet = None,
) -> None:
    """Start Ray and the model, with the infra checks before each, and follow the start until a token was generated."""
    options = _options(json_status, deadline, quiet_limit)
    file = _chosen(deployment)
    if dry_run:
        _show_commands(load_deployment(file or _standing()), until)
        return
    with _target(file) as target, reported(target, json_status):
        take(target, until, _tell, shown, options, gate=gate)
    typer.echo(f"{target.stage}: {target.file}")


def watch(
    deployment: Which = None,
    json_status: JsonStatus = None,
    deadline: Deadline = None,
    quiet_limit: Quiet = None,
) -> None:
    """Follow a launch that somebody else has started, from wherever it is; the nodes are only read."""
    options = _options(json_status, deadline, quiet_limit)
    file = _chosen(deployment) or _standing()
    with shown() as show:
        status = attend(load_deployment(file), show, options)
    typer.echo(farewell(status))
    sys.exit(exit_code_of(status))


launch.__doc__ = f"{launch.__doc__}\n\n{_CODES}"
watch.__doc__ = f"{watch.__doc__}\n\n{_CODES}"


def _known(fault: str | None) -> str | None:
    try:
        shape_of(fault)
    except LaunchError as error:
        raise typer.BadParameter(str(error)) from error
    return fault


def up(
    until: Annotated[Stage, typer.Option(help="How far to go; an existing deployment goes on from its stage.")] = (
        Stage.SERVING
    ),
    name: Annotated[str, typer.Option(help="Tells deployments apart.")] = DEFAULT_NAME,
    slow_load: Annotated[float, typer.Option(min=0, help="Seconds that each of the 39 shards takes longer.")] = 0,
    fault: Annotated[str | None, typer.Option(help=_FAULTS, callback=_known)] = None,
    engine_python: Annotated[
        Path | None, typer.Option(help="A Python that has vLLM and Ray, instead of .venv-engine.")
    ] = None,
) -> None:
    """Bring up the embedded two-node deployment on this machine, without any check, and print its deployment file."""
    record = state.StateFolder(name).read()
    if record and record.running:
        _refuse_other(record, name, fault, slow_load)
        running = attach(name)
    else:
        running = start(Making(name=name, slow_load_s=slow_load, fault=fault, engine_python=engine_python), _tell)
    with running:
        if further := _by_file(running):
            raise LaunchError(
                f"the embedded deployment '{name}' was taken to stage {further.stage} by its file: "
                f"python -m shakedown launch --deployment {running.file} goes on from there"
            )
        running.reach(until, _tell, attending(shown))
    typer.echo(running.file)


def _refuse_other(record: state.Record, name: str, fault: str | None, slow_load: float) -> None:
    if (record.fault, record.slow_load_s) != (fault, slow_load):
        made = f"fault {record.fault}" if record.fault else "no fault"
        raise LaunchError(
            f"the embedded deployment '{name}' stands and was made with {made} and --slow-load "
            f"{record.slow_load_s:g}; end it first: python -m shakedown down {name}"
        )


def _options(json_status: Path | None, deadline: float | None, quiet_limits: list[str] | None) -> Options:
    limits = Limits()
    phases = dict(limits.phases)
    for text in quiet_limits or ():
        name, _, seconds = text.partition("=")
        try:
            phase, quiet_s = PhaseName[name.strip().upper()], float(seconds)
        except (KeyError, ValueError):
            phase, quiet_s = PhaseName.READY, 0.0
        if not 0 < quiet_s < inf:
            raise typer.BadParameter(f"{text!r}: PHASE=SECONDS, with a phase of --help", param_hint="--quiet-limit")
        phases[phase] = replace(phases[phase], quiet_s=quiet_s, busy_s=max(quiet_s, phases[phase].busy_s))
    return Options(replace(limits, phases=phases), deadline, json_status)


def _chosen(option: str | None) -> Path | None:
    """The deployment file that was chosen; None for the embedded deployment."""
    choice = option or os.environ.get(VARIABLE) or (str(DEFAULT_FILE) if DEFAULT_FILE.is_file() else EMBEDDED)
    return None if choice == EMBEDDED else Path(choice)


def _standing() -> Path:
    """The file of the embedded deployment that stands.

    Raises:
        LaunchError: there is none.
    """
    try:
        return attach().file
    except LaunchError as error:
        raise LaunchError(
            f"no deployment was named (--deployment FILE, ${VARIABLE}, ./{DEFAULT_FILE}), and {error}"
        ) from error


@contextmanager
def _target(file: Path | None) -> Iterator[Launchable]:
    """What is launched: a declared deployment, or the embedded one, which is made where it does not stand."""
    if file is not None:
        yield Declared(file, load_deployment(file))
        return
    record = state.StateFolder(DEFAULT_NAME).read()
    running = attach() if record and record.running else start(Making(name=DEFAULT_NAME), _tell)
    with running:
        yield _by_file(running) or Embedded(running)


def _by_file(running: EmbeddedDeployment) -> Declared | None:
    """An embedded deployment that was taken further by its file, of which its own record knows nothing."""
    declared = Declared(running.file, load_deployment(running.file))
    return declared if declared.stage.order > running.stage.order else None


def _tell(line: str) -> None:
    typer.echo(printable(line), err=True)


def _show_commands(deployment: Deployment, until: Stage) -> None:
    for stage in (Stage.RAY, Stage.SERVING):
        if stage.order <= until.order:
            for group in steps_to(stage, deployment):
                for command in group:
                    typer.echo(redact(command_shown(command).encode()).decode() + "\n")
