"""What docker says when there is no running container to ask."""

from __future__ import annotations

import re

_DOWN = re.compile(r"No such container|container \S+ is (?:not running|paused|restarting)", re.IGNORECASE)


def down(complaint: str, container: str, node: str) -> str | None:
    """Why nothing can be asked in a container, and what to do; None if ``complaint`` is about something else.

    Args:
        complaint: what ``docker exec`` wrote to stderr.
        container: name that the deployment file declares.
        node: where.
    """
    if not _DOWN.search(complaint):
        return None
    return (
        f"container {container} does not run on {node} ({complaint.strip().splitlines()[-1]}): "
        f"`docker start {container}` there; `docker ps -a` lists the containers that there are"
    )
