"""``up``, ``down`` and ``status`` of embedded deployments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shakedown.embedded import state
from shakedown.embedded.deployment import EmbeddedDeployment
from shakedown.embedded.faults import FAULTS, shape_of
from shakedown.embedded.progress import shown
from shakedown.embedded.up import DEFAULT_NAME, Options, attach, start
from shakedown.errors import LaunchError, ShakedownError
from shakedown.outcomes import Stage

_FAULTS = "Build in a fault:\n\n" + "\n\n".join(f"{fault.name}: {fault.text}" for fault in FAULTS)


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
    """Bring up the embedded two-node deployment on this machine, and print its deployment file."""
    record = state.StateFolder(name).read()
    with shown() as progress:
        if record and record.running:
            _refuse_other(record, name, fault, slow_load)
            deployment = attach(name)
        else:
            options = Options(name=name, slow_load_s=slow_load, fault=fault, engine_python=engine_python)
            deployment = start(options, progress)
        with deployment:
            deployment.reach(until, progress)
    typer.echo(deployment.file)


def _refuse_other(record: state.Record, name: str, fault: str | None, slow_load: float) -> None:
    if (record.fault, record.slow_load_s) != (fault, slow_load):
        raise LaunchError(
            f"the embedded deployment '{name}' stands and was made with fault {record.fault} and --slow-load "
            f"{record.slow_load_s:g}; end it first: python -m shakedown down {name}"
        )


def down(
    name: Annotated[str, typer.Argument(help="Which deployment.")] = DEFAULT_NAME,
    all_: Annotated[bool, typer.Option("--all", help="All of this user's deployments.")] = False,
) -> None:
    """End an embedded deployment and remove whatever is left of it, also after a kill -9."""
    for folder in state.known() if all_ else [state.StateFolder(name)]:
        there = folder.path.exists()
        folder.remove()
        typer.echo(f"{folder.name}: {'ended' if there else 'was not there'}")


def status() -> None:
    """List the embedded deployments of this user."""
    folders = state.known()
    if not folders:
        typer.echo("no embedded deployment")
    for folder in folders:
        typer.echo(f"{folder.name}: {_state(folder)}")


def _state(folder: state.StateFolder) -> str:
    record = folder.read()
    if record and record.starting:
        return f"being made by process {record.starter.pid}"
    if record is None or not record.running:
        return f"dead; remove it: python -m shakedown down {folder.name}"
    return _facts(attach(folder.name))


def _facts(deployment: EmbeddedDeployment) -> str:
    record = deployment.record
    fault = f", fault {record.fault}" if record.fault else ""
    return f"{record.stage}{fault}, http://127.0.0.1:{record.port}, --deployment {deployment.file}"


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(up)
app.command()(down)
app.command()(status)

if __name__ == "__main__":
    try:
        app()
    except ShakedownError as error:
        raise SystemExit(f"shakedown: {error}") from error
