"""Requests with tools on offer: where a call is due, and where one is demanded."""

from __future__ import annotations

from typing import Any

from shakedown.serving.corpus import Plan
from shakedown.serving.gates import LIGHT
from shakedown.serving.plans.items import FRESH
from shakedown.serving.plans.naming import named, streamed, way
from shakedown.serving.requests import ask
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate
from shakedown.serving.tasks.item import Tool

DEMANDED = 4


def tool_calls(setting: Setting) -> Plan:
    """An obvious tool for every prompt, thinking off, ``tool_choice`` auto; whole."""
    return named("tool_calls", _calls(setting, setting.seed, LIGHT.first.n, stream=False))


def more_tool_calls(setting: Setting) -> Plan:
    """The second stage: fresh items."""
    return named("tool_calls-second", _calls(setting, setting.seed + FRESH, LIGHT.second.n, stream=False))


def streamed_calls(setting: Setting) -> Plan:
    """The same, streamed, with other items."""
    return named("streamed_calls", _calls(setting, setting.seed + 1, LIGHT.first.n, stream=True))


def required_calls(setting: Setting) -> Plan:
    """``tool_choice`` required, whole and streamed; half of them with thinking on where the model thinks.

    The tools are strict: without that, recent releases bind name and frame of a call and leave its arguments to the
    model (``--tool-strict-level`` of vLLM), as the OpenAI API does.
    """
    plan = {}
    for item in generate("tool-call", seed=setting.seed + 2, n=DEMANDED):
        thinking = setting.reasoning and item.index >= DEMANDED // 2
        mode = f"{'thinking' if thinking else 'plain'}-{way(streamed(item.index))}"
        plan[f"{item.id}-{mode}"] = ask(
            setting,
            item,
            thinking=thinking,
            stream=streamed(item.index),
            tool_choice="required",
            tools=[_strict(tool) for tool in item.tools or ()],
        )
    return named("required_calls", plan)


def _strict(tool: Tool) -> dict[str, Any]:
    return {**tool, "function": {**tool["function"], "strict": True}}


def _calls(setting: Setting, seed: int, n: int, *, stream: bool) -> Plan:
    items = generate("tool-call", seed=seed, n=n)
    return {item.id: ask(setting, item, thinking=False, stream=stream) for item in items}
