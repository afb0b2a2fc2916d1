"""What is sent: named groups of requests, each planned from the setting alone, sent once, judged by many checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shakedown.serving.corpus import Plan
from shakedown.serving.plans import conversations, items, schemas, tools
from shakedown.serving.setting import Setting

__all__ = ["GROUPS", "Group"]


@dataclass(frozen=True, slots=True)
class Group:
    """One group of the plan.

    Attributes:
        plan: makes its requests.
        requires: capability that the deployment must have for them to mean anything.
        at_once: all in flight together, where that is what the group is about.
    """

    plan: Callable[[Setting], Plan]
    requires: str | None = None
    at_once: int | None = None


GROUPS: dict[str, Group] = {
    "answers": Group(items.answers),
    "thinking": Group(items.thinking, requires="reasoning"),
    "truncated": Group(items.truncated, requires="reasoning"),
    "tool_calls": Group(tools.tool_calls, requires="tools"),
    "streamed_calls": Group(tools.streamed_calls, requires="tools"),
    "required_calls": Group(tools.required_calls, requires="tools"),
    "bound": Group(schemas.bound),
    "against_the_prompt": Group(schemas.against_the_prompt),
    "conversations": Group(conversations.conversations),
    "messages": Group(conversations.messages),
    "counted_messages": Group(conversations.counted_messages),
    "nonces": Group(items.nonces, at_once=items.NONCES),
}
"""Every group that is sent to a healthy server; what provokes it is sent later, by the checks of limits themselves."""
