"""RE: where the thinking is, and where it must not be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from shakedown.serving.answer import Answer
from shakedown.serving.exchange import shortened

MARKERS = re.compile(
    r"</?think>|</?tool_call>|<\|im_(?:start|end)\|>|<\|endoftext\|>|<\|(?:assistant|user|system)\|>"
    r"|<\|(?:turn|end|result|pad)\|>"
)
"""What the template or the model writes between the parts of a conversation and a parser must take away."""


def present(answer: Answer) -> Iterator[str]:
    """RE-01: thinking and answer are both there, each in its own field; cut-off thinking owes no answer."""
    if not answer.reasoning.strip():
        yield f"no reasoning; content is {shortened(answer.content, 80)!r}"
    elif answer.finish != "length" and not answer.content.strip() and not answer.tool_calls:
        yield f"no content (finish {answer.finish}); reasoning ends with {shortened(answer.reasoning[-80:], 80)!r}"


def markers(answer: Answer) -> Iterator[str]:
    """RE-02: no tag or role marker in any field, unless the prompt holds it, too."""
    prompt = str(answer.exchange.request.body)
    for field, text in answer.texts.items():
        for found in dict.fromkeys(MARKERS.findall(text)):
            if found not in prompt:
                at = text.index(found)
                yield f"{found} in {field}: {shortened(text[max(0, at - 30) : at + 50], 80)!r}"


def absent(answer: Answer) -> Iterator[str]:
    """RE-03: with thinking off there is an answer, and nothing that counts as thinking."""
    if answer.reasoning.strip():
        seen = shortened(answer.reasoning, 60), shortened(answer.content, 40)
        yield f"reasoning though it is off: {seen[0]!r}; content {seen[1]!r}"
    elif not answer.content.strip() and not answer.tool_calls:
        yield f"neither content nor a call (finish {answer.finish})"


def free(answer: Answer) -> Iterator[str]:
    """SO-04: the thinking beside an answer that is bound to a schema is there, and is no JSON itself."""
    text = answer.reasoning.strip()
    if not text:
        yield f"no reasoning; content is {shortened(answer.content, 80)!r}"
    elif _is_json_object(text):
        yield f"the reasoning is JSON: {shortened(text, 80)!r}"


def truncated(answer: Answer) -> Iterator[str]:
    """RE-04: thinking that ran into max_tokens is reasoning, and nothing of it is content."""
    limit = (answer.exchange.request.body or {}).get("max_tokens")
    if answer.finish != "length":
        yield f"finish is {answer.finish}, expected length"
    if not answer.reasoning.strip():
        yield f"no reasoning; content is {shortened(answer.content, 80)!r}"
    elif answer.content.strip():
        yield f"content is {shortened(answer.content, 80)!r}, expected none"
    if answer.completion_tokens != limit:
        yield f"completion_tokens is {answer.completion_tokens}, max_tokens was {limit}"


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
