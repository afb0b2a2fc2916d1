"""The same checks as plain testinfra has them: no evidence, every question live over testinfra's own ssh backend.

    SHAKEDOWN_PLAIN_COUNT=FILE [SHAKEDOWN_PLAIN_CONTROL=SOCKET] pytest -p benchmarks.plain -m infra --deployment FILE

A plugin of pytest. The views stay as they are, but the Host they are given remembers nothing: each check asks what it
wants to know, as often as it wants to know it. The number of questions is written to the file.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from testinfra.backend.ssh import SshBackend
from testinfra.host import Host

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.backend import EvidenceResult

COUNT, CONTROL = "SHAKEDOWN_PLAIN_COUNT", "SHAKEDOWN_PLAIN_CONTROL"


class PlainBackend(SshBackend):  # type: ignore[misc] # testinfra ships no types
    """testinfra's ssh backend, with a count of its runs and the clock beside each, which the check of clocks needs."""

    asked = 0

    def run(self, command: str, *args: str, **kwargs: Any) -> EvidenceResult:
        """Run it over a ``ssh`` of its own."""
        PlainBackend.asked += 1
        asked = time.time()
        done = super().run(command, *args, **kwargs)
        return EvidenceResult(self, done.rc, done.command, done.stdout_bytes, done.stderr_bytes, asked, time.time())


def plain_host(node: Node, control: str | None) -> Host:
    """The Host of a node over plain ssh; with a control path, over the connection that it names."""
    path = control.replace("%", "%%") if control else None  # testinfra makes a format of it
    backend = PlainBackend(node.ssh, node.ssh_config, controlpath=path, controlpersist=60 if control else 0)
    host = Host(backend)
    backend.set_host(host)
    return host


def pytest_configure(config: pytest.Config) -> None:
    """Let the views speak to plain hosts, and fetch nothing ahead."""
    nodes: dict[str, Node] = {}

    @cache
    def host(name: str) -> Host:
        return plain_host(nodes[name], os.environ.get(CONTROL))

    def host_for(_evidence: object, name: str, *_place: object) -> Host:
        return host(name)

    def fetch(deployment: Deployment, _evidence: object) -> None:
        nodes.update({node.name: node for node in deployment.node})

    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    patch.setattr("shakedown.nodes.views.node.host_for", host_for)
    patch.setattr("fixtures.nodes.host_for", host_for)
    patch.setattr("fixtures.nodes.fetch", fetch)


def pytest_sessionfinish() -> None:
    """Write the number of questions."""
    Path(os.environ[COUNT]).write_text(str(PlainBackend.asked))
