"""PF-05: the start of the served model, as it was followed, else as its log tells it."""

from __future__ import annotations

import pytest

from fixtures.baseline import AgainstRecord
from shakedown.engines.vllm.phases import Start
from shakedown.load.cold_start import phases_text
from shakedown.verdict.judge import Measurement

pytestmark = pytest.mark.perf


@pytest.mark.check("PF-05", stages=("serving",))
@pytest.mark.requires("serve log")
def test_start_takes_no_longer_than_recorded(
    start: Start | None,
    cold_start: Measurement | None,
    against_record: AgainstRecord,
) -> None:
    """The latest start of the server took no longer than those of its kind, cold or warm, and than was promised."""
    if start is None or cold_start is None:
        pytest.skip(f"the log tells of no start that ended: {phases_text(start) if start else 'no start at all'}")
    detail = f"{cold_start.variant}: {phases_text(start)}"
    against_record(cold_start, gated=("total_s",), families=tuple(cold_start.metrics), detail=detail)
