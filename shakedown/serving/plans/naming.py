"""How requests of a plan are named, and which of a series are streamed."""

from __future__ import annotations

from collections.abc import Mapping

from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request


def streamed(number: int) -> bool:
    """Every second request of a series is streamed, so that both ways are judged at the price of one."""
    return number % 2 == 1


def way(stream: bool) -> str:
    """How the answer comes, as it stands in the names of requests."""
    return "streamed" if stream else "whole"


def named(group: str, requests: Mapping[str, Request]) -> Plan:
    """The requests under the name of their group."""
    return {f"{group}/{name}": request for name, request in requests.items()}
