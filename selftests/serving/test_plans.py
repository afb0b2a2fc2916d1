"""What is sent: bounded, repeatable by its seed, graded by its own keys, decided by the declared gate."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from selftests.inventory.files import GOOD
from selftests.serving.examples import whole
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.serving.answer import Answer
from shakedown.serving.client import AT_ONCE, Client
from shakedown.serving.corpus import Corpus
from shakedown.serving.exchange import Arrival, Exchange, Request
from shakedown.serving.gates import LIGHT, StageRule, TwoStageGate
from shakedown.serving.grading import gated, grade, misses
from shakedown.serving.plans import GROUPS
from shakedown.serving.plans.conversations import CONVERSATIONS, conversations
from shakedown.serving.plans.items import ANSWERED, more_answers
from shakedown.serving.plans.limits import oversize
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate, solve

SETTING = Setting(model="tiny", max_model_len=4096, reasoning=True, tools=True, switch="enable_thinking", seed=7)
GATE = TwoStageGate(p0=0.95, first=StageRule(4, 2), second=StageRule(8, 6))


def everything(setting: Setting) -> dict[str, Request]:
    return {name: request for group in GROUPS.values() for name, request in group.plan(setting).items()}


def test_the_plan_follows_from_the_seed() -> None:
    assert everything(SETTING) == everything(SETTING)
    assert everything(SETTING) != everything(replace(SETTING, seed=8))


def of_file(folder: Path, *keys: str) -> Setting:
    """The setting of a deployment file with these keys in ``[serve]``."""
    file = folder / "deployment.toml"
    file.write_text(GOOD + "".join(f"{key}\n" for key in keys), encoding="utf-8")
    return Setting.of(load_deployment(file), seed=7)


def sent_to(setting: Setting) -> dict[str, Request]:
    """What is sent without the groups that need a capability that the setting lacks."""
    has = {None: True, "tools": setting.tools, "reasoning": setting.reasoning}
    groups = [group for group in GROUPS.values() if has[group.requires]]
    return {name: request for group in groups for name, request in group.plan(setting).items()}


def test_without_parsers_nothing_is_sent_that_needs_one(tmp_path: Path) -> None:
    plan = sent_to(of_file(tmp_path))
    assert "conversations/plain-chat" in plan
    for request in plan.values():
        body = request.body or {}
        assert "tools" not in body
        assert not any({"tool_calls", "reasoning"} & set(turn) for turn in body.get("messages", ()))
        assert not any((body.get("chat_template_kwargs") or {}).values())


def test_with_parsers_all_conversations_are_sent(tmp_path: Path) -> None:
    setting = of_file(tmp_path, 'reasoning_parser = "qwen3"', 'tool_call_parser = "hermes"')
    names = {name.removesuffix("-chat") for name in conversations(setting) if name.endswith("-chat")}
    assert names == {f"conversations/{name}" for name in CONVERSATIONS}


def test_thinking_is_switched_by_the_argument_that_the_template_has(tmp_path: Path) -> None:
    plan = sent_to(of_file(tmp_path, 'reasoning_parser = "deepseek_v3"', 'thinking_switch = "thinking"'))
    switches = [(request.body or {}).get("chat_template_kwargs", {}) for request in plan.values()]
    assert {key for switch in switches for key in switch} == {"thinking"}
    assert {Answer(_answered(name, request, "1")).thinking for name, request in plan.items()} == {True, False}


def test_a_model_that_always_thinks_is_given_room_and_not_asked_for_plain_answers(tmp_path: Path) -> None:
    setting = of_file(tmp_path, 'reasoning_parser = "deepseek_r1"', 'thinking_switch = "none"')
    plan = sent_to(setting)
    assert not any(name.startswith("answers/") for name in plan)
    assert not any("chat_template_kwargs" in (request.body or {}) for request in plan.values())
    for name, request in plan.items():
        if name.startswith(("nonces/", "bound/", "against_the_prompt/")):
            assert (request.body or {})["max_tokens"] == setting.thinking_room
            assert Answer(_answered(name, request, "1")).thinking


def test_a_model_without_thinking_and_switch_is_not_taken_to_think(tmp_path: Path) -> None:
    plan = sent_to(of_file(tmp_path, 'thinking_switch = "none"'))
    asked = {name: request for name, request in plan.items() if name.startswith("answers/")}
    assert asked
    assert not any("chat_template_kwargs" in (request.body or {}) for request in plan.values())
    assert not any(Answer(_answered(name, request, "1")).thinking for name, request in asked.items())


def test_every_name_belongs_to_its_group_and_stands_once() -> None:
    names = [name for group in GROUPS.values() for name in group.plan(SETTING)]
    assert len(names) == len(set(names))
    assert {name.split("/")[0] for name in names} == set(GROUPS)


def test_every_request_is_json_and_says_its_limits() -> None:
    for request in everything(SETTING).values():
        body = json.loads(json.dumps(request.body))
        if request.path in ("/v1/chat/completions", "/v1/messages"):
            assert 1 <= body["max_tokens"] <= SETTING.thinking_room == 2048
            assert request.deadline_s >= 60
            assert "temperature" in body
        assert body["model"] == "tiny"


def test_the_plan_is_modest() -> None:
    assert len(everything(SETTING)) < 400


def test_both_ways_are_asked_of_every_family() -> None:
    for family in ANSWERED:
        asked = [request for request in everything(SETTING).values() if request.about.get("family") == family]
        assert {request.streamed for request in asked} == {True, False}


def test_the_second_stage_asks_nothing_twice() -> None:
    first = {json.dumps(request.body["messages"]) for request in everything(SETTING).values() if request.body}
    second = [json.dumps((request.body or {})["messages"]) for request in more_answers(SETTING, "nonce").values()]
    assert not first & set(second)
    assert len(second) == len(set(second)) == ANSWERED["nonce"].second.n


def test_the_oversize_prompt_is_as_long_as_it_must_be() -> None:
    for request in oversize(SETTING).values():
        words = (request.body or {})["messages"][0]["content"].split()
        assert len(words) == 2 * SETTING.max_model_len


def test_an_answer_is_graded_by_its_own_item() -> None:
    item = generate("arithmetic", seed=3, n=6)[5]
    asked: dict[str, Any] = {
        "about": {"family": "arithmetic", "seed": 3, "index": 5},
        "request": {"messages": list(item.messages)},
    }
    right, wrong = whole(str(item.key), **asked), whole("0", **asked)
    cut, failed = whole("The sum", **asked, finish="length"), whole(**asked, status=500)
    assert grade(right).verdict.right
    classes = [str(grade(answer).verdict.miss) for answer in (wrong, cut, failed)]
    assert classes == ["wrong", "truncated", "http_error"]
    assert misses([grade(right)]) == ""
    assert misses([grade(wrong), grade(wrong), grade(cut)]).splitlines()[0] == "2 wrong, 1 truncated"


def test_a_corpus_of_another_pool_is_not_graded_by_the_wrong_keys() -> None:
    about = {"family": "arithmetic", "seed": 3, "index": 5}
    with pytest.raises(EvidenceError, match="another version of the task pool"):
        grade(whole("7", about=about, request={"messages": [{"role": "user", "content": "What is 3 + 4?"}]}))


class Scripted(Client):
    """Answers items rightly, but for the first few."""

    def __init__(self, wrong: int) -> None:
        super().__init__("http://127.0.0.1:9")
        self._wrong = wrong
        self.sent = 0

    async def send_all(
        self,
        plan: Mapping[str, Request],
        at_once: int = AT_ONCE,
        ended: Callable[[Exchange], None] | None = None,
    ) -> list[Exchange]:
        """As a server would."""
        assert at_once == AT_ONCE
        exchanges = []
        for name, request in plan.items():
            self.sent += 1
            solved = solve((request.body or {})["messages"])
            assert solved is not None
            content = "0" if self.sent <= self._wrong else solved.content
            exchanges.append(_answered(name, request, content))
            if ended:
                ended(exchanges[-1])
        return exchanges


def _answered(name: str, request: Request, content: str) -> Exchange:
    body = {"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]}
    arrival = Arrival(0.1, json.dumps(body).encode())
    return Exchange(name, request, "2026-01-02T03:04:05.000+00:00", 200, {}, (arrival,), 0.1)


def items(n: int, seed: int) -> dict[str, Request]:
    return {
        f"g/{item.id}": Request(
            "POST", "/x", {"messages": list(item.messages)}, about={"family": item.family, "seed": seed, "index": i}
        )
        for i, item in enumerate(generate("arithmetic", seed=seed, n=n))
    }


@pytest.mark.parametrize(
    ("wrong", "sent", "passed"),
    [(0, 4, True), (1, 4, True), (2, 12, True), (5, 12, True), (6, 12, False), (12, 12, False)],
)
async def test_fresh_items_are_sent_only_where_the_first_stage_failed(wrong: int, sent: int, passed: bool) -> None:
    corpus = Corpus()
    async with Scripted(wrong) as client:
        first = [grade(Answer(exchange)) for exchange in await corpus.send(client, items(4, seed=1))]
        outcome = await gated(GATE, first, client, corpus, lambda: items(8, seed=2))
        assert (client.sent, outcome.passed) == (sent, passed)
    assert outcome.metric("x").samples == sent
    assert ("wrong" in outcome.found) == (wrong > 0)


async def test_a_plan_of_another_size_than_declared_is_refused() -> None:
    corpus = Corpus()
    async with Scripted(0) as client:
        first = [grade(Answer(exchange)) for exchange in await corpus.send(client, items(4, seed=1))]
        with pytest.raises(ValueError, match="wants 16 items, planned were 4"):
            await gated(LIGHT, first, client, corpus, dict)
