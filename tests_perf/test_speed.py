"""PF-02, PF-03, PF-04: as fast as recorded, and as fast as the deployment file promises; alone and in company."""

from __future__ import annotations

import pytest

from fixtures.baseline import AgainstRecord
from shakedown.verdict.judge import FAMILIES, Measurement

pytestmark = [pytest.mark.perf, pytest.mark.parametrize("scenario", ["chat-c1", "chat-c4"])]


@pytest.mark.check("PF-02", stages=("serving",), needs=("PF-01",))
def test_first_token_comes_as_early_as_recorded(load: Measurement, against_record: AgainstRecord) -> None:
    """The first token of an answer comes as early as recorded, and within the promised time."""
    against_record(load, gated=("ttft_s.p50",), families=FAMILIES["PF-02"])


@pytest.mark.check("PF-03", stages=("serving",), needs=("PF-01",))
def test_tokens_follow_each_other_as_fast_as_recorded(load: Measurement, against_record: AgainstRecord) -> None:
    """The tokens of an answer follow each other as fast as recorded, and as fast as promised."""
    against_record(load, gated=("tpot_s.p50",), families=FAMILIES["PF-03"])


@pytest.mark.check("PF-04", stages=("serving",), needs=("PF-01",))
def test_as_many_tokens_a_second_as_recorded(load: Measurement, against_record: AgainstRecord) -> None:
    """All answers together bring as many tokens a second as recorded, and as many as promised."""
    against_record(load, gated=("output_tokens_per_s",), families=FAMILIES["PF-04"])
