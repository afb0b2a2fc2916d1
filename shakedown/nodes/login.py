"""The login of the user who asks, where `sudo` makes root of every command: its environment, and its limits.

Root's own environment and limits say nothing about what Ray or a server gets that the user starts. Those are still
there: the environment in the process ``sudo`` itself, to which the login gave it, the limits in that one's parent.
"""

from __future__ import annotations

import shlex

from shakedown.inventory.model import Deployment, Node

_FIND = r"""
login='' session=$$
while [ "${session:-0}" -gt 1 ]; do
    read -r name <"/proc/$session/comm" || break
    if [ "$name" = sudo ]; then login=$session; elif [ "$login" ]; then break; fi
    session=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$session/status")
done
[ "$login" ] || { echo 'no sudo above this process: whose login it is cannot be told' >&2; exit 1; }
"""
"""``$login``: the outermost sudo above this process, since there may be two in a row; ``$session``: its parent."""

# The variables come as arguments, one each, so that any value arrives as it is.
_AS_GIVEN = 'script=$1; shift; exec env -i "$@" sh -c "$script"'


def is_hidden(deployment: Deployment, node: Node) -> bool:
    """Whether sudo stands between a command and the login; in a container it has no say."""
    return node.sudo and deployment.container is None


def with_environment(script: str, deployment: Deployment, node: Node) -> str:
    """The script as one that runs in the environment of the login, whoever it runs as."""
    if not is_hidden(deployment, node):
        return script
    return f'{_FIND}xargs -0 sh -c {shlex.quote(_AS_GIVEN)} sh {shlex.quote(script)} <"/proc/$login/environ"'


def with_session(script: str, deployment: Deployment, node: Node) -> str:
    """The script with ``$session``: folder in /proc of a process that has the limits of the login."""
    if not is_hidden(deployment, node):
        return f"session=/proc/self\n{script}"
    return f"{_FIND}session=/proc/$session\n{script}"
