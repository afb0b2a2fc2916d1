"""The container as its engine sees it: what happens to it, and how it stands."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from shakedown.launch.scripts.channel import Channel
from shakedown.launch.scripts.children import Lines

STREAM = "container"
TELLING = ("create", "start", "restart", "pause", "unpause", "kill", "oom", "die", "stop", "destroy", "health_status")
"""Kinds of event that say something; those of ``docker exec``, ours among them, do not."""

PAST_S = 3600.0
AGAIN_S = 5.0

EXCERPT = 100
"""Characters of an answer that is not understood; the machine is followed all the same."""


class Container:
    """Events and state of one container, each as a line that says it in words.

    Args:
        channel: where the lines go.
        name: of the container.
        position: ``at`` of the last event that the other side has.
    """

    def __init__(self, channel: Channel, name: str, position: Mapping[str, float] | None) -> None:
        self.running = False
        self._channel = channel
        self.name = name
        self._at = position["at"] if position else time.time() - PAST_S
        self._began = time.time()
        self._events: Lines | None = None
        self._state: Lines | None = None
        self._events_at = self._state_at = 0.0
        self._told: str | None = None
        self._whys: dict[str, str | None] = {}

    def poll(self, now: float) -> bool:
        """Send what has happened since."""
        if self._events:
            self._read_events(self._events, now)
        elif now >= self._events_at:
            self._events = _started(self._events_command())
            self._events_at = now + AGAIN_S
            self._tell("docker events", None if self._events else "there is no docker")
        if self._state:
            self._read_state(self._state)
        elif now >= self._state_at:
            self._state_at = now + 2 * AGAIN_S
            self._state = _started(["docker", "inspect", "--type=container", "--format={{json .State}}", self.name])
        return False

    def close(self) -> None:
        """End what was started."""
        for lines in (self._events, self._state):
            if lines:
                lines.child.close()

    def _events_command(self) -> list[str]:
        filters = [f"--filter=container={self.name}", *(f"--filter=event={kind}" for kind in TELLING)]
        return ["docker", "events", f"--since={self._at:.9f}", *filters, "--format={{json .}}"]

    def _read_events(self, events: Lines, now: float) -> None:
        said = ""
        for line in events.read():
            if not line.startswith("{"):
                said = line.strip() or said
                continue
            try:
                event = json.loads(line)
                at, text = event["timeNano"] / 1e9, _event(event["Action"], event["Actor"]["Attributes"])
            except (ValueError, KeyError, TypeError):  # of another program by that name, or half a line
                self._tell("docker events", f"not understood: {line.strip()[:EXCERPT]}")
                continue
            if at > self._at:
                self._at = at
                self._say(at, text)
                self._state_at = now
        if events.child.ended:
            events.child.close()
            self._events = None
            self._tell("docker events", said or "docker events has ended")

    def _read_state(self, state: Lines) -> None:
        lines = state.read()
        if not state.child.ended:
            return
        state.child.close()
        self._state = None
        said = next((line for line in lines if line.startswith("{")), None)
        if said is None:
            self.running = False
            self._told = None
            self._tell("docker inspect", " ".join(lines).strip() or "docker inspect said nothing")
            return
        try:
            told = json.loads(said)
            self.running, text = bool(told["Running"]), _state(told)
        except (ValueError, KeyError, TypeError):
            self._tell("docker inspect", f"not understood: {said.strip()[:EXCERPT]}")
            return
        if said != self._told:
            self._tell("docker inspect", None)
            self._told = said
            self._say(time.time(), text)

    def _say(self, at: float, text: str) -> None:
        row = [at, f"container {self.name}: {text}"]
        old = at < self._began
        self._channel.send(
            "rows", s=STREAM, f=f"docker events {self.name}", key=STREAM, pos={"at": self._at}, old=old, rows=[row]
        )

    def _tell(self, program: str, why: str | None) -> None:
        if self._whys.get(program, "") != why:
            self._whys[program] = why
            self._channel.send("open", s=STREAM, f=f"{program} {self.name}", why=why)


def _started(argv: Sequence[str]) -> Lines | None:
    try:
        return Lines(argv)
    except OSError:
        return None


def _event(action: str, attributes: Mapping[str, str]) -> str:
    told = {"exitCode": "exit code", "signal": "signal"}
    return ", ".join([action, *(f"{words} {attributes[key]}" for key, words in told.items() if key in attributes)])


def _state(state: Mapping[str, Any]) -> str:
    """One line; what is not so is not named, lest somebody finds the word and takes it for the thing."""
    parts = [f"status {state['Status']}"]
    if state["Running"]:
        parts.append(f"started {state['StartedAt']}")
    elif state["Status"] == "exited":
        parts.append(f"exit code {state['ExitCode']}, finished {state['FinishedAt']}")
    if state.get("OOMKilled"):
        parts.append("OOMKilled")
    if state.get("Error"):
        parts.append(f"error: {state['Error']}")
    return ", ".join(parts)
