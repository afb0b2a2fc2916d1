"""Texts that tokenizers have been caught mangling, sent there and back."""

from __future__ import annotations

from collections.abc import Iterable

from shakedown.engines.vllm import wire
from shakedown.serving.answer import as_dict, as_list
from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Exchange
from shakedown.serving.plans.naming import named
from shakedown.serving.requests import post
from shakedown.serving.setting import Setting

TEXTS = {
    "digits": "0 1 23 456 7890 3.14159 1e-9",
    "code": "def f(x):\n\treturn {'a': x ** 2}  # done\n",
    "accents": "naïve café Ünïcödé Łódź",
    "cjk": "東京都は日本の首都です。你好，世界",
    "korean": "안녕하세요 세계",
    "arabic": "مرحبا بالعالم",
    "emoji": "🚀 👩‍👩‍👧‍👦 🇫🇷 👍🏽",
    "combining": "e\u0301 a\u0308 n\u0303",
    "spaces": "a  b   c\n\n\nd \t e",
    "symbols": "≤ ∑ → € ½ ‰ “quoted” — …",
    "markup": '<p class="x">&amp; </p>',
    "mixed": "Zürich→東京: 12 °C, 90 % 🌧",
}


def texts(setting: Setting) -> Plan:
    """Every text to the tokenizer."""
    requests = {
        name: post(wire.TOKENIZE, {"model": setting.model, "prompt": text, "add_special_tokens": False})
        for name, text in TEXTS.items()
    }
    return named("texts", requests)


def back(setting: Setting, tokenized: Iterable[Exchange]) -> Plan:
    """The tokens of each answer to the detokenizer; what holds no tokens goes back as an empty list."""
    requests = {}
    for exchange in tokenized:
        body = {"model": setting.model, "tokens": list(as_list(as_dict(exchange.json).get("tokens")))}
        requests[exchange.name.partition("/")[2]] = post(wire.DETOKENIZE, body)
    return named("texts-back", requests)
