"""`python -m shakedown`: everything that is not a pytest run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shakedown.embedded import cli as embedded
from shakedown.errors import ShakedownError
from shakedown.faults import cli as faults
from shakedown.launch import acceptance as acceptance_run
from shakedown.launch import cli as launching

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Acceptance of a large language model served from several machines. The suites themselves are pytest: "
    "pytest -m infra, -m serving, -m perf.",
)
app.command()(launching.launch)
app.command()(launching.watch)
app.command()(launching.up)
app.command()(embedded.down)
app.command()(embedded.status)
app.command()(faults.faults)
app.command()(faults.explain)


@app.command()
def acceptance(
    keep: Annotated[bool, typer.Option(help="Leave the deployment running afterwards.")] = False,
) -> None:
    """Take the embedded deployment through its stages: infra at hosts and at ray, launch, serving, perf."""
    sys.exit(acceptance_run.run(keep=keep))


def main() -> None:
    """Run the command line; an error made for people is printed as text, not as a traceback."""
    try:
        app()
    except ShakedownError as error:
        typer.echo(f"shakedown: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
