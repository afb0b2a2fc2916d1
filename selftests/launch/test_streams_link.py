"""A fabric NIC that loses its link says so, whoever writes the kernel's log."""

from __future__ import annotations

from typing import Any

import pytest

from shakedown.launch.scripts.link import EVERY_S, Link


class Heard:
    """A channel that keeps the lines that are sent."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def send(self, kind: str, **fields: Any) -> None:
        assert (kind, fields["s"]) == ("rows", "kernel log")
        self.lines += [text for _, text in fields["rows"]]


def test_only_changes_of_the_link_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(["up", "up", "down", "down", "up"])
    monkeypatch.setattr(Link, "_now", lambda _self: next(states))
    heard = Heard()
    link = Link(heard, "fab0")  # type: ignore[arg-type]
    for look in range(1, 5):
        link.poll(look * EVERY_S)
        link.poll(look * EVERY_S + EVERY_S / 2)  # too soon
    assert heard.lines == ["fab0: link was up, is down", "fab0: link was down, is up"]


def test_a_nic_that_is_not_there_is_told_when_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    link = Link(heard, "lo")  # type: ignore[arg-type]
    monkeypatch.setattr(link, "_file", "/nowhere")
    link.poll(EVERY_S)
    assert heard.lines == ["lo: link was unknown, is gone"]
