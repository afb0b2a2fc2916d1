"""The proof of readiness, against a real HTTP server that says what a test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from selftests.launch.story import pair
from shakedown.errors import MissingPrerequisiteError
from shakedown.inventory.model import Deployment
from shakedown.launch.ready import prove
from shakedown.simulator.deployment import simulated_deployment
from shakedown.simulator.run import running_simulator

GOOD = {"choices": [{"text": " 4", "finish_reason": "length"}], "usage": {"completion_tokens": 1}}


class Answers(ThreadingHTTPServer):
    """Answers every request with the same; keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.code, self.body, self.wait_s = 200, json.dumps(GOOD), 0.0
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Answers

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body, self.headers.get("Authorization")))
        time.sleep(self.server.wait_s)
        self.send_response(self.server.code)
        self.end_headers()
        self.wfile.write(self.server.body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Answers]:
    with Answers() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def deployment(server: Answers, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setenv("SHAKEDOWN_API_KEY", "key-of-a-test")
    serve = pair().serve.model_copy(update={"base_url": f"http://127.0.0.1:{server.server_port}"})
    return pair().model_copy(update={"serve": serve})


def test_one_token_is_asked_for_and_counted(server: Answers, deployment: Deployment) -> None:
    proof = prove(deployment, clock=lambda: 7.0)
    assert (proof.ok, proof.tokens, proof.at) == (True, 1, 7.0)
    assert 0 < proof.took_s < 5
    path, body, key = server.asked[0]
    assert path == "/v1/completions"
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("qwen3.5-122b", 1, 0)
    assert key == "Bearer key-of-a-test"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("code", "body", "why"),
    [
        (500, '{"error": "EngineDeadError"}', "/v1/completions says 500"),
        (200, "not json", "JSONDecodeError"),
        (200, "[]", "no usage"),
        (200, '{"choices": [{"text": ""}], "usage": null}', "no usage"),
        (200, '{"choices": [{"text": ""}], "usage": {"completion_tokens": 0}}', "0 tokens"),
        (200, '{"choices": [], "usage": {"completion_tokens": 1}}', "0 choices"),
        (200, '{"choices": 3, "usage": {"completion_tokens": 1}}', "no usage or no choices"),
    ],
)
def test_anything_less_than_a_token_is_no_proof(
    server: Answers, deployment: Deployment, code: int, body: str, why: str
) -> None:
    server.code, server.body = code, body
    proof = prove(deployment)
    assert not proof.ok
    assert proof.tokens == 0
    assert why in proof.why


def test_a_first_request_that_does_not_end_is_given_up(server: Answers, deployment: Deployment) -> None:
    server.wait_s = 1.0
    proof = prove(deployment, limit_s=0.2)
    assert "no answer in time" in proof.why


def test_nobody_there_is_no_proof(deployment: Deployment, server: Answers) -> None:
    server.shutdown()  # first: a listener that is polled outlives its closing by half a second
    server.server_close()
    assert "ConnectError" in prove(deployment).why


def test_the_key_is_needed_where_one_is_declared(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHAKEDOWN_API_KEY")
    with pytest.raises(MissingPrerequisiteError):
        prove(deployment)


def test_a_server_that_serves_proves_it() -> None:
    with running_simulator() as simulator:
        proof = prove(simulated_deployment(simulator.base_url))
    assert proof.ok
    assert proof.tokens >= 1
