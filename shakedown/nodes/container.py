"""What docker says when there is no running container to ask, or when it may not be asked itself."""

from __future__ import annotations

import re

from shakedown.errors import ContainerDownError
from shakedown.nodes import advice

_STATES: tuple[tuple[str, str], ...] = (
    (r"No such container", "`docker ps -a` there lists the containers that there are; [container] names another"),
    (r"container \S+ is paused", "`docker unpause {container}` there"),
    (r"container \S+ is restarting", "`docker logs {container}` there says why it does not stay up"),
    (r"container \S+ is not running", "`docker start {container}` there; `docker ps -a` lists the containers"),
    (r"Cannot connect to the Docker daemon", "start docker there: `systemctl start docker`"),
)

_NOTHING_STARTS = "OCI runtime exec failed"
_UNASKED = re.compile(r"permission denied while trying to connect to the docker|\bdocker: .*not found", re.IGNORECASE)
"""What is said where docker is not asked at all; then nothing is known about the container."""


def down(complaint: str, container: str, node: str) -> ContainerDownError | None:
    """Why a container runs no command, and what to do; None if ``complaint`` is about something else.

    Args:
        complaint: what ``docker exec`` wrote to stderr.
        container: name that the deployment file declares.
        node: where.
    """
    for pattern, remedy in _STATES:
        if re.search(pattern, complaint, re.IGNORECASE):
            why = f"container {container} does not run on {node} ({_last_line(complaint)})"
            return ContainerDownError(node, why, remedy.format(container=container))
    return None


def out_of_reach(complaint: str, container: str, node: str) -> ContainerDownError | None:
    """Why nothing can be asked in a container, docker's own troubles among them; None as above."""
    if _UNASKED.search(complaint):
        why = f"docker cannot be asked about container {container} on {node} ({_last_line(complaint)})"
        return ContainerDownError(node, why, advice.remedy(complaint))
    if _NOTHING_STARTS in complaint:
        why = f"no command can be started in container {container} on {node} ({_last_line(complaint)})"
        return ContainerDownError(node, why, "the image needs `sh` and `timeout`; `docker exec` there says the same")
    return down(complaint, container, node)


def _last_line(complaint: str) -> str:
    return complaint.strip().splitlines()[-1]
