"""What docker says when there is no running container to ask."""

from __future__ import annotations

import re

from shakedown.errors import EvidenceError

_STATES: tuple[tuple[str, str], ...] = (
    (r"No such container", "`docker ps -a` there lists the containers that there are; [container] names another"),
    (r"container \S+ is paused", "`docker unpause {container}` there"),
    (r"container \S+ is restarting", "`docker logs {container}` there says why it does not stay up"),
    (r"container \S+ is not running", "`docker start {container}` there; `docker ps -a` lists the containers"),
)


def down(complaint: str, container: str, node: str) -> EvidenceError | None:
    """Why nothing can be asked in a container, and what to do; None if ``complaint`` is about something else.

    Args:
        complaint: what ``docker exec`` wrote to stderr.
        container: name that the deployment file declares.
        node: where.
    """
    for pattern, remedy in _STATES:
        if re.search(pattern, complaint, re.IGNORECASE):
            said = complaint.strip().splitlines()[-1]
            return EvidenceError(
                f"container {container} does not run on {node} ({said})", remedy.format(container=container)
            )
    return None
