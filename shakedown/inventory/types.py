"""Values of a deployment file that are narrower than their TOML type; each refusal says what is allowed.

Much of a file ends on a command line or in a URL, so nothing here may look like an option or hide a control character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

MOST_TEXT = 4096


def _matching(pattern: str, allowed: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if compiled.fullmatch(value) is None:
            raise ValueError(allowed)
        return value

    return check


def _parses_as(kind: type[IPv4Address | IPv4Network], allowed: str) -> Callable[[object], object]:
    def check(value: object) -> object:
        if isinstance(value, str):  # anything else is refused by the field itself
            try:
                kind(value)
            except ValueError:
                raise ValueError(allowed) from None
        return value

    return check


def _text(value: str) -> str:
    if not value.strip() or len(value) > MOST_TEXT or not value.isprintable():
        raise ValueError(f"one line of printable text, at most {MOST_TEXT} characters")
    return value


def _commands(value: str) -> str:
    if not value.strip() or not value.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError("shell commands, in one or several lines")
    return value


def _absolute(value: PurePosixPath) -> PurePosixPath:
    if not value.is_absolute() or not str(value).isprintable():
        raise ValueError("an absolute path")
    return value


def _base_url(value: str) -> str:
    allowed = "http:// or https:// with a host, such as http://10.1.230.180:30000"
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s\x00-\x20\x7f]", value) or not value.isprintable():
        raise ValueError(allowed)
    if parts.username is not None or parts.query or parts.fragment or "?" in value or "#" in value:
        raise ValueError(f"{allowed}, without user, password, query and fragment (a key goes into serve.api_key_env)")
    path = parts.path.rstrip("/")
    if path.endswith("/v1"):
        raise ValueError(f"{allowed}, without the /v1 at its end: the suite asks for routes beside it, too")
    return value.rstrip("/")


Name = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
            "1 to 63 letters, digits, dots, underscores and hyphens, the first a letter or a digit",
        )
    ),
]
Interface = Annotated[
    str,
    AfterValidator(
        _matching(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,14}", "the name of a network interface, 1 to 15 characters")
    ),
]
Device = Annotated[
    str,
    AfterValidator(
        _matching(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", "the name of an RDMA device, as in /sys/class/infiniband")
    ),
]
Destination = Annotated[
    str,
    AfterValidator(
        _matching(r"[A-Za-z0-9_][^\s\x00-\x20\x7f'\"`$;&|<>()\\]{0,254}", "an OpenSSH destination such as user@host")
    ),
]
Program = Annotated[
    str,
    AfterValidator(
        _matching(r"[A-Za-z0-9_./][A-Za-z0-9_./+@:-]{0,1023}", "a program's name or path, without arguments")
    ),
]
VariableName = Annotated[
    str, AfterValidator(_matching(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, not its value"))
]
CheckId = Annotated[
    str, AfterValidator(_matching(r"[A-Z]{2,4}-[0-9]{2}", "an id as it stands in a finding, such as NET-07"))
]
Address = Annotated[IPv4Address, BeforeValidator(_parses_as(IPv4Address, "an IPv4 address such as 192.168.200.12"))]
Subnet = Annotated[
    IPv4Network,
    BeforeValidator(_parses_as(IPv4Network, "an IPv4 network such as 192.168.200.0/24, its host bits zero")),
]
Text = Annotated[str, AfterValidator(_text)]
Commands = Annotated[str, AfterValidator(_commands)]
AbsolutePath = Annotated[PurePosixPath, AfterValidator(_absolute)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Port = Annotated[int, Field(ge=1, le=65535)]
