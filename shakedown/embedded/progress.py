"""How the start of a deployment is shown: a live line at a terminal, one line a phase elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from shakedown.embedded.deployment import Progress


@contextmanager
def shown(console: Console | None = None) -> Iterator[Progress]:
    """Show phases on stderr while the block runs; gives the callback to tell them to."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True)
        return
    with Bar(SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"), console=console) as bar:
        task = bar.add_task("", total=None)

        def tell(line: str) -> None:
            bar.console.print(line, highlight=False, markup=False)
            bar.update(task, description=escape(line.partition(" s  ")[2]))

        yield tell
