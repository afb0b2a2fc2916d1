"""A prompt that is too long, and the canary that shows whether the server took it well."""

from __future__ import annotations

from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request
from shakedown.serving.plans.naming import named
from shakedown.serving.requests import ask, chat
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate

TIMES_TOO_LONG = 2
"""In words of one token at least: safely above the limit for every tokenizer, far below what could hurt a server."""


def oversize(setting: Setting) -> Plan:
    """One prompt of twice the model length, whole and streamed."""
    words = "1 " * (TIMES_TOO_LONG * setting.max_model_len)
    talk = [{"role": "user", "content": words}]
    requests: dict[str, Request] = {
        name: chat(setting, talk, max_tokens=4, thinking=False, stream=stream)
        for name, stream in (("whole", False), ("streamed", True))
    }
    return named("oversize", requests)


def canary(setting: Setting) -> Plan:
    """Copies of nonces: all four must be right, and a healthy model can be wrong about a sum."""
    items = generate("nonce", seed=setting.seed + 6, n=4)
    return named("canary", {item.id: ask(setting, item, thinking=False, stream=False) for item in items})
