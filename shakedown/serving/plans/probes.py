"""Small batches that a check sends on its own: one token, and a batch whose tokens are counted."""

from __future__ import annotations

from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request
from shakedown.serving.plans.naming import named, streamed, way
from shakedown.serving.requests import ask, chat
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate

ONE_TOKEN_DEADLINE_S = 30.0
"""Ten times what a deployment takes that has just captured its graphs; one that hangs never comes back."""

COUNTED = 8


def one_token(setting: Setting) -> Request:
    """The least that an engine can be asked for."""
    talk = [{"role": "user", "content": "What is 17 + 25?"}]
    whole = chat(setting, talk, max_tokens=1, thinking=False)
    return Request(whole.method, whole.path, whole.body, deadline_s=ONE_TOKEN_DEADLINE_S)


def counted(setting: Setting) -> Plan:
    """Short answers, whole and streamed, some of them cut off; the first prompts come twice, so that a cache is met."""
    items = generate("nonce", seed=setting.seed + 7, n=COUNTED // 2)
    requests: dict[str, Request] = {}
    for turn in range(2):
        for item in items:
            stream = streamed(item.index)
            fields = {"max_tokens": 3} if item.index >= COUNTED // 4 else {}
            name = f"{item.id}-{way(stream)}-{turn}"
            requests[name] = _limited(ask(setting, item, thinking=False, stream=stream), fields)
    return named("counted", requests)


def _limited(request: Request, fields: dict[str, int]) -> Request:
    return Request(request.method, request.path, {**(request.body or {}), **fields}, request.deadline_s, request.about)
