"""A launch before the eyes of people: both nodes live at a terminal, one line an event everywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from shakedown.launch.status import Bar, Explanation, NodeStatus, State, Status
from shakedown.text import printable
from shakedown.units import gib

Show = Callable[[Status], None]
"""Told every status."""

Display = Callable[[], AbstractContextManager[Show]]
"""Something that shows a launch for as long as it is entered, such as `shown`."""

STEP = 0.1
"""Share of a bar after which a line is written where there is no terminal ..."""

PAUSE_S = 30.0
"""... and the time after which one is written as long as it moves at all."""

BAR_WIDTH = 28
PHASE_WIDTH, NAME_WIDTH = 12, 12
"""Characters that these columns keep where a terminal is narrow: the bar gives way first."""

_TONE = {State.READY: "green", State.FAILED: "red", State.STALLED: "yellow", State.ENDED: "yellow"}


@contextmanager
def shown(console: Console | None = None, *, redrawn: bool | None = None) -> Iterator[Show]:
    """Show a launch on stderr while the block runs; gives the callback to tell each status to.

    Args:
        console: another than that of stderr.
        redrawn: whether in place or line by line; None: in place where that can be done.
    """
    console = console or Console(stderr=True)
    lines = Lines()

    def write(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    if not (_can_redraw(console) if redrawn is None else redrawn):

        def tell(status: Status) -> None:
            for line in lines.of(status):
                write(line)

        yield tell
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def draw(status: Status) -> None:
            for line in lines.of(status, bars=False):
                write(line)
            live.update(picture(status), refresh=True)

        yield draw


def _can_redraw(console: Console) -> bool:
    """Asked of the file itself: CI systems set ``FORCE_COLOR``, by which rich takes a log for a terminal."""
    return console.file.isatty() and not console.is_dumb_terminal


def lines_to(write: Callable[[str], None]) -> Display:
    """Shows a launch line by line by a function that writes one."""

    @contextmanager
    def display() -> Iterator[Show]:
        lines = Lines()

        def tell(status: Status) -> None:
            for line in lines.of(status):
                write(line)

        yield tell

    return display


def picture(status: Status) -> RenderableType:
    """The live view: the launch in one line, a row for each node, and why it failed."""
    head = Text(f"{printable(status.deployment)}: ", "bold")
    head.append(status.state.value, f"bold {_TONE.get(status.state, 'cyan')}")
    head.append(f"  {_elapsed(status)}{_left(status)}")
    table = Table(box=None, pad_edge=False)
    table.add_column("node", no_wrap=True, min_width=min(NAME_WIDTH, max(len(node.name) for node in status.nodes)))
    table.add_column("phase", min_width=PHASE_WIDTH)
    table.add_column("", max_width=BAR_WIDTH)
    for name in ("progress", "for", "free", "lowest"):
        table.add_column(name, no_wrap=True)
    for node in status.nodes:
        table.add_row(*_row(node, status.updated_at))
        if not node.reached or node.missing:
            table.add_row("", Text("; ".join(_troubles(node)), "yellow"))
    return Group(head, table)


def _row(node: NodeStatus, now: float) -> tuple[RenderableType, ...]:
    bar: RenderableType = ""
    if node.bar:
        bar = ProgressBar(total=max(1, node.bar.total), completed=node.bar.done)
    doing = [node.phase, node.activity if not node.bar else ""]
    return (
        printable(node.name),
        printable(", ".join(filter(None, doing)) or "nothing seen"),
        bar,
        _progress(node.bar) if node.bar else "",
        duration(now - node.since) if node.since is not None else "",
        gib(node.available_bytes) if node.available_bytes is not None else "?",
        gib(node.lowest_bytes) if node.lowest_bytes is not None else "?",
    )


class Lines:
    """What is worth a line since the status before: nothing is told twice."""

    def __init__(self) -> None:
        self._before: Status | None = None
        self._told_bars: dict[str, tuple[float, float]] = {}

    def of(self, status: Status, *, bars: bool = True) -> Iterator[str]:
        """The lines, without colours; ``bars``: progress, too."""
        before, self._before = self._before, status
        for line in self._news(before, status, bars=bars):
            yield f"{_clock(status)}  {printable(line)}"
        if status.explanation and (before is None or _in_short(before) != _in_short(status)):
            yield f"{_clock(status)}  {printable(_in_short(status))}"

    def _news(self, before: Status | None, status: Status, *, bars: bool) -> Iterator[str]:
        known = {node.name: node for node in before.nodes} if before else {}
        if before and status.starts > before.starts > 0:
            yield f"the server was started again (start {status.starts})"
            self._told_bars = {}
        for note in status.notes:
            if before is None or note not in before.notes:
                yield note
        for node in status.nodes:
            yield from _contact(known.get(node.name), node)
            yield from _phases(known.get(node.name), node, new=before is None or status.starts > before.starts)
            if bars and node.bar and self._worth(node, status.updated_at):
                yield f"{node.name}: {node.phase}, {_progress(node.bar)}{_left(status)}"
        if before is None or status.state is not before.state:
            yield in_words(status)

    def _worth(self, node: NodeStatus, now: float) -> bool:
        assert node.bar is not None
        share = node.bar.done / max(1, node.bar.total)
        key = f"{node.name} {node.phase} {node.bar.unit}"
        told, at = self._told_bars.get(key, (-1.0, float("-inf")))
        worth = share > told and (share - told >= STEP or now - at >= PAUSE_S or share >= 1)
        if worth:
            self._told_bars[key] = (share, now)
        return worth


def _in_short(status: Status) -> str:
    """Why, in a line; what was said after it (`explained`) comes once, when the last word is spoken."""
    told = status.explanation
    return f"{told.fault or 'unknown fault'} on {told.node or 'no known node'}: {told.title}" if told else ""


def explained(explanation: Explanation) -> list[str]:
    """A diagnosis in lines: what, where, which line, why, what to do, and what would have found it before."""
    parts = (
        ("node", explanation.node or "not known"),
        ("line", f"{explanation.stream}: {explanation.line}" if explanation.line else explanation.stream),
        ("why", explanation.why),
        ("remedy", explanation.remedy),
        ("before", explanation.check),
        ("evidence", "\n".join(explanation.evidence)),
    )
    indent = "\n" + " " * 12
    body = [f"  {name:<9} {text.strip().replace(chr(10), indent)}" for name, text in parts if text.strip()]
    return [f"{explanation.fault or 'unknown fault'}  {explanation.title}", *body]


def duration(seconds: float) -> str:
    """A duration as it runs: ``0:07``, ``12:05``, ``1:02:03``."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _contact(before: NodeStatus | None, node: NodeStatus) -> Iterator[str]:
    if node.why and not node.reached and (before is None or before.reached or not before.why):
        yield f"{node.name}: contact lost: {node.why}"
    elif node.reached and before is not None and not before.reached and before.why:
        yield f"{node.name}: contact is back"
    for missing in node.missing:
        if before is None or missing not in before.missing:
            yield f"{node.name}: {missing}"


def _phases(before: NodeStatus | None, node: NodeStatus, *, new: bool) -> Iterator[str]:
    known = 0 if before is None or new else len(before.spans)
    for span in node.spans[known:]:
        yield f"{node.name}: {span.phase}"


def in_words(status: Status) -> str:
    """What has become of it, how fast it answered, and how long it took."""
    first = f", first request {status.first_request_s:.1f} s" if status.first_request_s is not None else ""
    if status.began is None:
        return status.state.value
    why = status.explanation if status.state is State.FAILED else None
    ended = why.at if why else status.updated_at
    return f"{status.state.value}{first} ({duration(ended - status.began)} since it began)"


def _progress(bar: Bar) -> str:
    return f"{bar.done} of {bar.total} {bar.unit}"


def _troubles(node: NodeStatus) -> list[str]:
    return [*([f"not reached: {node.why}"] if not node.reached and node.why else []), *node.missing]


def _elapsed(status: Status) -> str:
    return f"{duration(status.elapsed_s)} since it began" if status.elapsed_s is not None else "nothing has begun"


def _left(status: Status) -> str:
    if status.state is not State.RUNNING:
        return ""
    if status.left_s is not None:
        return f", about {duration(status.left_s)} left"
    if status.phase_left_s is not None:
        return f", about {duration(status.phase_left_s)} left of this phase, the rest unknown"
    return ", time left unknown"


def _clock(status: Status) -> str:
    return f"{datetime.fromtimestamp(status.updated_at, UTC):%H:%M:%S}Z"
