"""The file in which evidence is kept: one gzip-compressed JSON document.

    {"format": "shakedown evidence", "version": 1, "written_by": "0.1.0", "recorded": "2026-01-31T12:00:00+00:00",
     "deployment": NAME, "stage": "hosts|ray|serving", "unverified": [TEXT, ...], "nodes": {NODE: [ANSWER, ...]}}

An answer has the fields of :class:`shakedown.nodes.answer.Answer`; ``stdout`` and ``stderr`` are text, or
``{"base64": ...}`` where the bytes are not UTF-8. Secrets were blotted out when the answers were recorded.
``unverified`` is there only where nodes were dressed as machines that nobody here has: what they showed whose form
follows no public capture of such a machine.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError

from shakedown import __version__
from shakedown.errors import BundleError
from shakedown.nodes.answer import Answer, Place
from shakedown.outcomes import Stage

FORMAT: Literal["shakedown evidence"] = "shakedown evidence"
VERSION: Literal[1] = 1


def _to_json(data: bytes) -> object:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _to_bytes(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str):
        return base64.b64decode(value["base64"], validate=True)
    return value


Output = Annotated[bytes, BeforeValidator(_to_bytes), PlainSerializer(_to_json)]


class KeptAnswer(BaseModel):
    """One answer as the file has it."""

    model_config = ConfigDict(extra="forbid")

    key: str
    place: Place
    exit_code: int
    stdout: Output
    stderr: Output
    started: float | None
    duration_s: float | None
    asked: float
    answered: float
    ahead: bool

    @classmethod
    def of(cls, answer: Answer) -> KeptAnswer:
        """The answer, to be written."""
        return cls.model_validate({name: getattr(answer, name) for name in cls.model_fields})

    def answer(self) -> Answer:
        """The answer, as it was given."""
        return Answer(**{name: getattr(self, name) for name in type(self).model_fields})


class Bundle(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["shakedown evidence"] = FORMAT
    version: Literal[1] = VERSION
    written_by: str = __version__
    recorded: str
    deployment: str
    stage: Stage
    unverified: tuple[str, ...] = ()
    nodes: dict[str, list[KeptAnswer]]


def write(
    file: Path,
    *,
    recorded: str,
    deployment: str,
    stage: Stage,
    nodes: Mapping[str, Iterable[Answer]],
    unverified: Iterable[str] = (),
) -> None:
    """Write a bundle; equal evidence gives an equal file, and a reader never sees half of one."""
    bundle = Bundle(
        recorded=recorded,
        deployment=deployment,
        stage=stage,
        unverified=tuple(unverified),
        nodes={name: [KeptAnswer.of(answer) for answer in answers] for name, answers in nodes.items()},
    )
    document = bundle.model_dump(mode="json", exclude=None if bundle.unverified else {"unverified"})
    text = json.dumps(document, ensure_ascii=False, indent=1)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".partial")
    partial.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    partial.replace(file)


def read(file: Path) -> Bundle:
    """Read a bundle.

    Raises:
        BundleError: it is not there, cut off, no bundle, or of a newer version; the text says which.
    """
    document = _document(file)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BundleError(f"{file} is no bundle of evidence: it lacks `format: {FORMAT}`")
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise BundleError(
            f"{file} has bundle version {version}, written by shakedown {document.get('written_by', '?')}; "
            f"this one ({__version__}) reads up to {VERSION}: update it"
        )
    try:
        return Bundle.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BundleError(f"{file} is no bundle that can be read: {where}: {first['msg']}") from error


def _document(file: Path) -> Any:
    try:
        return json.loads(gzip.decompress(file.read_bytes()))
    except FileNotFoundError as error:
        raise BundleError(f"{file}: there is no such bundle") from error
    except (EOFError, zlib.error) as error:
        raise BundleError(f"{file} is cut off or damaged ({error}); record it again with --evidence") from error
    except (OSError, ValueError) as error:
        raise BundleError(f"{file} cannot be read as a bundle of evidence: {error}") from error
