"""What is said of an embedded deployment before it is made is what `up` then writes, beside how it is started."""

from __future__ import annotations

import pytest

from shakedown.embedded.describe import PLANNED
from shakedown.embedded.up import Options, start
from shakedown.inventory.load import load_deployment


@pytest.mark.embedded
def test_the_planned_file_is_the_file_that_up_writes() -> None:
    with start(Options(owned=True)) as running:
        made = load_deployment(running.file)
    planned = load_deployment(PLANNED)
    nodes = [
        node.model_copy(update={"namespace": was.namespace}) for node, was in zip(planned.node, made.node, strict=True)
    ]
    serve = planned.serve.model_copy(update={"base_url": made.serve.base_url})
    assert made.launch is not None
    assert None not in (made.launch.ray_head, made.launch.ray_worker, made.launch.serve)
    assert planned.model_copy(update={"node": tuple(nodes), "serve": serve, "launch": made.launch}) == made
