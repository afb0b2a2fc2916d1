"""The follower as a shell script that a transport can carry, and the frames that come back."""

from __future__ import annotations

import base64
import json
import shlex
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

PACKAGE = "shakedown.launch.scripts"
MODULES = (
    "channel",
    "sieve",
    "tails",
    "files",
    "children",
    "kernel",
    "docker",
    "printed",
    "ports",
    "processes",
    "samples",
    "link",
    "follow",
)
"""What is sent, each before who needs it."""

OLDEST = (3, 8)

NO_PYTHON = f"no Python {OLDEST[0]}.{OLDEST[1]} or later is there, without which nothing can be followed"

_BOOT = """
import base64, json, sys, types, zlib
for name, text in json.loads(zlib.decompress(base64.b64decode(sys.argv[1]))):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""

_SCRIPT = """
for python in {pythons}; do
    "$python" -c 'import sys; sys.exit(sys.version_info < {oldest})' 2>/dev/null || continue
    exec "$python" -I -S -B -c {boot} {modules}
done
echo {complaint} >&2
exit 127
"""


def script(pythons: Sequence[str]) -> str:
    """A shell script that becomes a follower; it takes its order from stdin.

    Args:
        pythons: interpreters to try, the best first.
    """
    return _SCRIPT.format(
        pythons=shlex.join(dict.fromkeys(pythons)),
        oldest=OLDEST,
        boot=shlex.quote(_BOOT),
        modules=_packed(),
        complaint=shlex.quote(NO_PYTHON),
    )


def data_of(frame: Mapping[str, Any]) -> bytes:
    """The bytes in a frame."""
    if "z" in frame:
        return zlib.decompress(base64.b64decode(frame["z"]))
    return str(frame["t"]).encode("latin-1")


@cache
def _packed() -> str:
    folder = resources.files(PACKAGE)
    modules = [(f"{PACKAGE}.{name}", folder.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in MODULES]
    return base64.b64encode(zlib.compress(json.dumps(modules).encode(), 9)).decode("ascii")
