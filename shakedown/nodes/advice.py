"""What to do about a way that does not lead to a node, and about a command that gave no answer, by what was said."""

from __future__ import annotations

import re

AS_ROOT = "set `sudo = true` for the node"
"""What makes readable what belongs to root or to another user; see docs/attaching.md."""

_MISSING = re.compile(r"(?:^|[\s:])([\w.+-]+): (?:command )?not found\s*$", re.MULTILINE)
_PACKAGES = {"ip": "iproute2", "ss": "iproute2", "ping": "iputils-ping"}
"""Of Debian and Ubuntu, where it has another name than the tool."""

_FORBIDDEN = re.compile(r"permission denied|operation not permitted|must be root|are you root", re.IGNORECASE)

_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "another machine answers there, or this one was set up anew: find out which, then remove its old key with "
        "`ssh-keygen -R HOST`",
    ),
    (
        r"Host key verification failed",
        "its key is not known to this machine: connect once by hand and compare the fingerprint",
    ),
    (
        r"Permission denied \(",
        "no password is ever asked for (BatchMode), so that user must accept a key of yours: `ssh-copy-id`, and "
        "`ssh-add` for a key with a passphrase",
    ),
    (
        r"sudo: (?:a password is required|a terminal is required)|not in the sudoers file",
        "`sudo = true` needs a user whom sudo asks for no password: NOPASSWD, by visudo; or leave `sudo` out",
    ),
    (r"\bsudo: (?:command )?not found", "there is no sudo: leave `sudo` out of the deployment file, or install it"),
    (
        r"permission denied while trying to connect to the (?:Docker daemon|docker API)",
        "let that user use docker (group docker), or set `sudo = true` for the node",
    ),
    (r"Cannot connect to the Docker daemon", "start docker there: `systemctl start docker`"),
    (r"\bdocker: (?:command )?not found", "there is no docker: leave [container] out, or install its client"),
    (
        r"UNKNOWN port",  # of a connection without a socket: ssh keeps to itself what its proxy said
        "the jump host or proxy command on the way does not get through: try `ssh` to the jump host alone",
    ),
    (
        r"Could not resolve hostname|Connection (?:refused|timed out|reset)|No route to host|Network is unreachable|"
        r"Connection closed|not responding",
        "is the machine up, and is this its address? `ssh -v` shows every step of the way",
    ),
)


def advice(said: str) -> str:
    """A remedy as one sentence in parentheses behind a blank, or nothing where none is known.

    Args:
        said: what the program on the way wrote to stderr.
    """
    text = remedy(said)
    return f" ({text})" if text else ""


def remedy(said: str) -> str:
    """What to do about what the program on the way wrote to stderr; empty where nothing is known."""
    return next((text for pattern, text in _ADVICE if re.search(pattern, said, re.IGNORECASE)), "")


def to_read(said: str) -> str:
    """What would make readable what a command could not tell, or nothing where that is not known.

    Args:
        said: what the command wrote to stderr.
    """
    missing = _MISSING.search(said)
    if missing:
        tool = missing[1]
        return f"install {tool} there" + (f": package {_PACKAGES[tool]}" if tool in _PACKAGES else "")
    return AS_ROOT if _FORBIDDEN.search(said) else ""
