"""``down`` and ``status`` of embedded deployments."""

from __future__ import annotations

from typing import Annotated

import typer

from shakedown.embedded import state
from shakedown.embedded.deployment import EmbeddedDeployment
from shakedown.embedded.up import DEFAULT_NAME, attach


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
