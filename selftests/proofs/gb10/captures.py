"""What a GB10 node shows that an embedded one does not: files, links, devices, and what tools print.

Everything stands in ``captures/*.toml``. A capture names the public text that it was modelled on, or says that there is
none, so that what the proofs of GB10 rest on can be counted.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FOLDER = Path(__file__).parent / "captures"

NO_CAPTURE = 90
"""Exit code of a tool that is asked something of which there is no capture."""

AbsolutePath = Annotated[str, Field(pattern=r"^/.+[^/]$")]


class Capture(BaseModel):
    """One ``[[capture]]``: files, links or devices that belong together, or one answer of a tool.

    Attributes:
        source: URL of the public text whose format this has.
        unverified: why there is no source; exactly one of the two is given.
        node: the node that shows it; both do where None.
        files: contents by path; a newline is put at the end where there is none.
        links: targets of symbolic links by path.
        devices: character devices by path, as ``MAJOR MINOR``.
        tool: name of a program on the node's ``PATH``.
        arguments: shell pattern of the arguments that get this answer; the first that fits counts.
        output: what it prints.
        run: shell commands that answer instead; ``$@`` are the arguments.
        exit_code: what it ends with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str | None = Field(default=None, pattern=r"^https://")
    unverified: str | None = None
    node: str | None = None
    files: dict[AbsolutePath, str] = {}
    links: dict[AbsolutePath, str] = {}
    devices: dict[AbsolutePath, str] = {}
    tool: str | None = None
    arguments: str = ""
    output: str = ""
    run: str | None = None
    exit_code: int = 0

    @model_validator(mode="after")
    def _says_where_it_is_from(self) -> Self:
        if bool(self.source) == bool(self.unverified):
            raise ValueError("a capture has either `source` or `unverified`")
        if bool(self.tool) == bool(self.files or self.links or self.devices):
            raise ValueError("a capture is either an answer of a tool or a group of files, links and devices")
        return self

    @property
    def subject(self) -> str:
        """What it shows: the command, or the paths."""
        if self.tool:
            return f"{self.tool} {self.arguments}".strip()
        return ", ".join((*self.files, *self.links, *self.devices))


def captures() -> tuple[Capture, ...]:
    """All captures, in the order of the files' names and of their lines."""
    return tuple(
        Capture.model_validate(capture)
        for file in sorted(FOLDER.glob("*.toml"))
        for capture in tomllib.loads(file.read_text(encoding="utf-8"))["capture"]
    )


def unverified() -> tuple[str, ...]:
    """What is shown without a public source, and why; the bundles hold it, so that whoever judges them reads it."""
    return tuple(f"{capture.subject}: {capture.unverified}" for capture in captures() if capture.unverified)


def of_node(name: str) -> tuple[Capture, ...]:
    """The captures that a node shows."""
    return tuple(capture for capture in captures() if capture.node in (None, name))


def stub(answers: list[Capture]) -> str:
    """The program that stands for a tool: it answers what was captured, and refuses the rest.

    Args:
        answers: all captures of that one tool.
    """
    cases = [f"{_pattern(answer.arguments)})\n{_answer(answer)}\n;;" for answer in answers]
    refusal = f'echo "no capture of: {answers[0].tool} $*" >&2; exit {NO_CAPTURE}'
    return "\n".join(["#!/bin/sh", 'case "$*" in', *cases, "esac", refusal, ""])


def _pattern(arguments: str) -> str:
    """A pattern of ``case`` in which only ``*`` is special."""
    return "*".join("'" + part.replace("'", "'\\''") + "'" for part in arguments.split("*"))


def _answer(answer: Capture) -> str:
    if answer.run is not None:
        return answer.run.strip()
    text = _lines(answer.output)
    return f"cat <<'END OF CAPTURE'\n{text}END OF CAPTURE\nexit {answer.exit_code}"


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def write(name: str, tree: Path, tools: Path) -> None:
    """Write what a node shows.

    Args:
        name: of the node.
        tree: folder that stands for ``/``.
        tools: folder inside it for the tools.
    """
    shown = of_node(name)
    for capture in shown:
        for path, text in capture.files.items():
            _place(tree, path).write_text(_lines(text), encoding="utf-8")
        for path, target in capture.links.items():
            _place(tree, path).symlink_to(target)
    for tool in dict.fromkeys(capture.tool for capture in shown if capture.tool):
        program = _place(tree, str(tools / tool))
        program.write_text(stub([capture for capture in shown if capture.tool == tool]), encoding="utf-8")
        program.chmod(0o755)


def devices(name: str) -> dict[str, tuple[int, int]]:
    """Character devices of a node: major and minor number by path."""
    numbers = {path: value.split() for capture in of_node(name) for path, value in capture.devices.items()}
    return {path: (int(major), int(minor)) for path, (major, minor) in numbers.items()}


def _place(tree: Path, path: str) -> Path:
    place = tree / path.removeprefix("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place
