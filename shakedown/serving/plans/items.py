"""Requests that ask generated items: answers with and without thinking, cut-off thinking, nonces at once."""

from __future__ import annotations

from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request
from shakedown.serving.gates import DEFAULT, LIGHT, TwoStageGate
from shakedown.serving.plans.naming import named, streamed, way
from shakedown.serving.requests import ask, chat
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate

ANSWERED: dict[str, TwoStageGate] = {
    "arithmetic": DEFAULT,
    "exact-word": DEFAULT,
    "nonce": DEFAULT,
    "unicode-line": LIGHT,
    "needle": LIGHT,
    "extraction": LIGHT,
}
"""Families asked with thinking off, each with its gate: a few tokens an item, and between them digits, words, single
characters, random text, other scripts, a page of context and JSON. What takes longer is asked less often.

Reversing is not among them: large models see tokens and not letters, and without thinking they get short random strings
wrong on a server that is in order."""

THOUGHT = ("arithmetic", "exact-word", "reverse", "nonce")
"""Families asked with thinking on, in turns: what needs a handful of sentences of thinking at most."""

NONCES = 32
"""In flight at the same time: enough to fill a batch on any deployment, few enough to be answered in seconds."""

CUT_AFTER = 5
"""Tokens after which thinking is cut off; no model thinks an addition to its end in so few: a sum of single digits that
is written down once (``5+3=8``) takes as many."""

FRESH = 1_000_000
"""Second stages draw their items from a seed of their own, so that no item is asked twice."""


def answers(setting: Setting) -> Plan:
    """Thinking off, half of it streamed, a quarter with logprobs; nothing where thinking cannot be switched off."""
    plan: dict[str, Request] = {}
    if setting.always_thinks:
        return plan
    for family, gate in ANSWERED.items():
        plan |= family_items(setting, family, setting.seed, gate.first.n)
    return named("answers", plan)


def more_answers(setting: Setting, family: str) -> Plan:
    """The second stage of one family: fresh items."""
    return named("answers-second", family_items(setting, family, setting.seed + FRESH, ANSWERED[family].second.n))


def thinking(setting: Setting) -> Plan:
    """Thinking on, half of it streamed."""
    return named("thinking", _thought(setting, setting.seed, LIGHT.first.n))


def more_thinking(setting: Setting) -> Plan:
    """The second stage: fresh items."""
    return named("thinking-second", _thought(setting, setting.seed + FRESH, LIGHT.second.n))


def truncated(setting: Setting) -> Plan:
    """Thinking that runs into max_tokens, twice whole and twice streamed."""
    items = generate("arithmetic", seed=setting.seed + 1, n=4)
    return named(
        "truncated",
        {
            f"{item.id}-{way(streamed(item.index))}": chat(
                setting, item.messages, max_tokens=CUT_AFTER, thinking=True, stream=streamed(item.index)
            )
            for item in items
        },
    )


def nonces(setting: Setting) -> Plan:
    """Every request repeats a nonce of its own; to be sent all at once."""
    requests = {}
    for item in generate("nonce", seed=setting.seed + 2, n=NONCES):
        requests[f"{item.id}-{way(streamed(item.index))}"] = chat(
            setting,
            item.messages,
            max_tokens=setting.room(item.max_tokens.plain),
            thinking=False,
            stream=streamed(item.index),
            about={"nonce": item.key},
        )
    return named("nonces", requests)


def family_items(setting: Setting, family: str, seed: int, n: int) -> Plan:
    """Items of one family with thinking off."""
    plan: dict[str, Request] = {}
    for item in generate(family, seed=seed, n=n):
        fields = {"logprobs": True, "top_logprobs": 2} if item.index % 8 in (0, 1) else {}
        stream = streamed(item.index)
        plan[f"{item.id}-{way(stream)}"] = ask(setting, item, thinking=False, stream=stream, **fields)
    return plan


def _thought(setting: Setting, seed: int, n: int) -> Plan:
    each = n // len(THOUGHT)
    plan: dict[str, Request] = {}
    for family in THOUGHT:
        for item in generate(family, seed=seed, n=each):
            stream = streamed(item.index)
            plan[f"{item.id}-{way(stream)}"] = ask(setting, item, thinking=True, stream=stream)
    return plan
