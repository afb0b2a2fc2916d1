"""The API is asked once a second, and what it says is told when it changes."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from selftests.inventory.files import changed
from selftests.launch.following import Told
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch import api
from shakedown.launch.api import ApiThread
from shakedown.launch.events import Answered

MODELS = json.dumps({"data": [{"id": "tiny"}, {"id": "other"}]})


class Server(ThreadingHTTPServer):
    """Answers as it is told; keeps the keys that it was shown."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, tuple[int, str]] = {}
        self.keys: set[str | None] = set()
        self.waits = threading.Event()
        self.waits.set()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.waits.wait(30)
        server.keys.add(self.headers["Authorization"])
        status, text = server.answers.get(self.path, (404, ""))
        with contextlib.suppress(BrokenPipeError):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.waits.set()
        made.shutdown()
        thread.join()


@contextlib.contextmanager
def asking(deployment: Deployment) -> Iterator[Told]:
    told = Told()
    stopped = threading.Event()
    thread = ApiThread(deployment, told.queue.put, stopped)
    thread.start()
    try:
        yield told
    finally:
        stopped.set()
        thread.join()


@pytest.fixture
def deployment(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setattr(api, "EVERY_S", 0.05)
    file = tmp_path / "deployment.toml"
    url = f"http://127.0.0.1:{server.server_port}"
    file.write_text(changed(('base_url = "http://10.1.230.180:30000"', f'base_url = "{url}"\napi_key_env = "THE_KEY"')))
    return load_deployment(file)


def test_every_change_is_told_once(server: Server, deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "sesame")
    with asking(deployment) as told:
        told.wait(Answered, lambda event: event.health == 404)
        server.answers = {"/health": (503, ""), "/v1/models": (200, MODELS)}
        told.wait(Answered, lambda event: event.health == 503)
        server.answers["/health"] = (200, "")
        assert told.wait(Answered, lambda event: event.health == 200).models == ("tiny", "other")
        count = len(told.all(Answered))
        threading.Event().wait(0.4)
        assert len(told.all(Answered)) == count
    assert server.keys == {"Bearer sesame"}


def test_an_answer_that_stays_is_told_again(
    server: Server, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "TELL_S", 0.2)
    with asking(deployment) as told:
        told.wait(Answered, lambda event: len(told.all(Answered)) > 2)
        first, second, *_ = told.all(Answered)
        assert 0.2 <= second.at - first.at < 5


def test_what_is_wrong_is_said(server: Server, deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THE_KEY", raising=False)
    monkeypatch.setattr(api, "TIMEOUT_S", 0.5)
    with asking(deployment) as told:
        server.answers = {"/health": (200, ""), "/v1/models": (401, "")}
        told.wait(Answered, lambda event: event.why == "GET /v1/models: 401; $THE_KEY is not set")
        server.answers["/v1/models"] = (200, "[]")
        told.wait(Answered, lambda event: event.why.startswith("GET /v1/models: no list of models"))
        server.waits.clear()
        silent = told.wait(Answered, lambda event: event.why == "no answer within 0.5 s")
        assert silent.health is None


def test_nobody_there_is_an_answer_too(deployment: Deployment) -> None:
    closed = deployment.serve.model_copy(update={"base_url": "http://127.0.0.1:1"})
    with asking(deployment.model_copy(update={"serve": closed})) as told:
        answer = told.wait(Answered)
        assert (answer.health, answer.models) == (None, ())
        assert "refused" in answer.why
