"""From a Ray cluster to a served model: start vLLM on the head and wait until it answers, fails or takes too long."""

from __future__ import annotations

import http.client
import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path

from shakedown.embedded import cluster
from shakedown.embedded.logs import Follower
from shakedown.embedded.network import API_PORT
from shakedown.embedded.node import LOGS, MODEL, PYTHON, RunningNode
from shakedown.embedded.processes import Process
from shakedown.embedded.shape import Shape
from shakedown.errors import LaunchError

SERVED_NAME = "shakedown-tiny"
MAX_MODEL_LEN = 4096
SHARDS = 39
LOG = LOGS / "vllm-serve.log"
PARSERS = {"reasoning": "qwen3", "tool_call": "hermes"}
STALL_S = 180.0  # on two idle cores no phase takes more than 20 s; they may be busy with other things
_POLL_S = 0.2
_TAIL_LINES = 8
_TAIL_WIDTH = 300
_ERRORS = 3
_ERROR = re.compile(r"^(?:.*?\] )?((?:\w+\.)*[A-Z]\w*(?:Error|Exception): \S.*)$", re.MULTILINE)


def command(shape: Shape) -> list[str]:
    """The command line of the API server."""
    return [
        *(str(PYTHON), "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(MODEL), "--served-model-name", SERVED_NAME, "--max-model-len", str(MAX_MODEL_LEN)),
        *("--host", "0.0.0.0", "--port", str(API_PORT)),  # noqa: S104 - inside a network namespace of ours
        *("--tensor-parallel-size", "2", "--distributed-executor-backend", "ray"),
        *("--reasoning-parser", PARSERS["reasoning"]),
        *("--enable-auto-tool-choice", "--tool-call-parser", PARSERS["tool_call"]),
        *("--kv-cache-memory-bytes", str(shape.kv_cache_bytes)),
        "--enforce-eager",  # compilation takes minutes and gains nothing at this size
    ]


def launch(head: RunningNode, shape: Shape, slow_load_s: float) -> Process:
    """Start the API server.

    Returns:
        The process as the head's PID namespace counts it.
    """
    return head.daemon(command(shape), _environment(head, shape, slow_load_s), LOG)


def commanded(head: RunningNode, shape: Shape, slow_load_s: float) -> str:
    """The same start as a shell of the head reads it, for the deployment file."""
    line = cluster.in_environment(_environment(head, shape, slow_load_s), command(shape))
    return f"setsid {line} > {shlex.quote(str(LOG))} 2>&1 < /dev/null &"


def _environment(head: RunningNode, shape: Shape, slow_load_s: float) -> dict[str, str]:
    return cluster.environment(head, shape, slow_load_s) | {
        "VLLM_HOST_IP": head.plan.fabric,
        "RAY_ADDRESS": f"{cluster.address_of(head, shape)}:{cluster.PORT}",
    }


def await_ready(
    head: RunningNode, server: Process, port: int, tell: Callable[[str], None], stall_s: float = STALL_S
) -> None:
    """Wait until the server lives, its health is good and it lists the model.

    Args:
        head: the node it runs on.
        server: the process, as the node counts it.
        port: where it is reached on this machine's loopback.
        tell: gets a line for people when the start has come further.
        stall_s: how long it may stay in one phase (or at one shard), seconds.

    Raises:
        LaunchError: the server ended, or came no further; with the relevant lines of its log.
    """
    follower = Follower(head.file(LOG))
    reached, since = "", time.monotonic()
    while not ready(port):
        if not server.alive(head.proc):
            raise LaunchError(f"the API server ended before it was ready\n{_excerpt(head.file(LOG))}")
        if (now := follower.now()) != reached:
            reached, since = now, time.monotonic()
            tell(f"vLLM: {now}")
        if time.monotonic() - since > stall_s:
            raise LaunchError(f"vLLM came no further than '{reached}' in {stall_s:g} s\n{_excerpt(head.file(LOG))}")
        time.sleep(_POLL_S)


def ready(port: int) -> bool:
    """True if the server is healthy and lists the model."""
    return _get(port, "/health") is not None and SERVED_NAME in (_get(port, "/v1/models") or "")


def _get(port: int, path: str) -> str | None:
    """Body of a 200 answer, or None."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return body if answer.status == http.client.OK else None


def _excerpt(log: Path) -> str:
    """The errors that the log names, the first (mostly the cause) and the last, and its last lines."""
    text = log.read_text(errors="replace") if log.exists() else ""
    errors = list(dict.fromkeys(match[1].strip() for match in _ERROR.finditer(text)))
    named = errors if len(errors) <= _ERRORS else [*errors[: _ERRORS - 1], errors[-1]]
    tail = [line[:_TAIL_WIDTH] for line in text.splitlines()[-_TAIL_LINES:]]
    return "\n".join(
        [*(f"error in the log: {error}" for error in named), f"last lines of {LOG}:", *(f"  {line}" for line in tail)]
    )
