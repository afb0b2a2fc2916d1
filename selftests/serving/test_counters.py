"""Reading the server's counters: at rest, settled, and refused where they are not what they should be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from selftests.serving.examples import exchange
from shakedown.errors import ServerError
from shakedown.serving import counters
from shakedown.serving.client import Client
from shakedown.serving.counters import Reading, Work
from shakedown.serving.exchange import Exchange, Request


def metrics(generated: int, *, running: int = 0, requests: int = 1) -> str:
    return (
        f"vllm:prompt_tokens_total 10.0\nvllm:generation_tokens_total {generated}\n"
        f'vllm:request_success_total{{finished_reason="stop"}} {requests}\n'
        f"vllm:num_requests_running {running}\nvllm:num_requests_waiting 0.0\n"
    )


class Scripted(Client):
    """Answers with one text after the other; the last one for ever."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__("http://127.0.0.1:9")
        self._texts = list(texts)

    async def send(self, name: str, request: Request) -> Exchange:
        """What comes next."""
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        return exchange(text.encode(), name=name)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "SETTLE_S", 0.3)
    monkeypatch.setattr(counters, "POLL_S", 0.01)


async def test_rest_is_waited_for() -> None:
    async with Scripted([metrics(4, running=1), metrics(5), metrics(6), metrics(6), metrics(9)]) as client:
        assert await counters.read_at_rest(client) == Reading(Work(10, 6, 1), busy=0)


async def test_a_server_that_never_rests_is_told_as_busy() -> None:
    async with Scripted([metrics(4, running=2)]) as client:
        assert (await counters.read_at_rest(client)).busy == 2


async def test_late_booking_is_waited_for_and_an_undercount_is_not_hidden() -> None:
    before, expected = Work(0, 0, 0), Work(10, 6, 1)
    async with Scripted([metrics(4), metrics(6)]) as client:
        assert await counters.read_settled(client, before, expected) == Reading(expected, busy=0)
    async with Scripted([metrics(5)]) as client:
        assert await counters.read_settled(client, before, expected) == Reading(Work(10, 5, 1), busy=0)


async def test_work_of_others_is_told() -> None:
    before, expected = Work(0, 0, 0), Work(10, 6, 1)
    async with Scripted([metrics(6, running=1)]) as client:
        assert await counters.read_settled(client, before, expected) == Reading(expected, busy=1)
    async with Scripted([metrics(6, running=1), metrics(9, requests=2)]) as client:
        assert await counters.read_settled(client, before, expected) == Reading(Work(10, 9, 2), busy=0)


async def test_missing_series_are_named() -> None:
    async with Scripted(["vllm:prompt_tokens_total 10.0\n"]) as client:
        with pytest.raises(ServerError, match="lacks vllm:generation_tokens_total, vllm:request_success_total"):
            await counters.read(client)
