"""What vLLM's API server says and where, by version: routes, field names, counters, sentinels.

Read in the sources of 0.17.1, 0.32.0 and 0.33.0 unless another source is named. Nothing here talks to a server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, int, int]

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
MODELS = "/v1/models"
MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
TOKENIZE = "/tokenize"
DETOKENIZE = "/detokenize"
HEALTH = "/health"
VERSION = "/version"
METRICS = "/metrics"
OPENAPI = "/openapi.json"


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the API server.

    Attributes:
        method: lower case, as ``/openapi.json`` writes it.
        path: without prefix.
        since: first release that has it.
    """

    method: str
    path: str
    since: Version = (0, 0, 0)

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


ROUTES = (
    Route("post", CHAT),
    Route("post", COMPLETIONS),
    Route("get", MODELS),
    Route("post", TOKENIZE),
    Route("post", DETOKENIZE),
    Route("get", HEALTH),
    Route("get", VERSION),
    Route("post", MESSAGES, since=(0, 11, 1)),
    Route("post", COUNT_TOKENS, since=(0, 17, 0)),
)
"""What clients of a served model rely on; `/metrics` is mounted outside the schema in older releases."""

REASONING_FIELDS = ("reasoning", "reasoning_content")
"""Names under which thinking is served: the old one until 0.11.0, both until 0.15, the new one alone since 0.16
(vllm-project/vllm#27755, #33402)."""

PROMPT_TOKENS = "vllm:prompt_tokens_total"
GENERATION_TOKENS = "vllm:generation_tokens_total"
REQUEST_SUCCESS = "vllm:request_success_total"
REQUESTS_RUNNING = "vllm:num_requests_running"
REQUESTS_WAITING = "vllm:num_requests_waiting"
PROCESS_START = "process_start_time_seconds"

LOGPROB_CLAMP = -9999.0
"""What the server writes for a logprob of minus infinity; never true of a token that was sampled."""


def is_unnumbered(text: str) -> bool:
    """Whether it is what a build from sources without git's tags calls itself: ``0.1.dev12+gabc``, ``0.0.0``, ``dev``.

    Such a build may be of any release. Source: setuptools-scm, default version scheme; vllm/version.py.
    """
    return re.match(r"v?0\.(?:1\.dev|0\b)|dev\b", text) is not None


def parse_version(text: str) -> Version:
    """The three numbers of ``0.17.1``, ``0.32.0.dev12+gabc`` and the like; missing ones are 0.

    Raises:
        ValueError: the text does not begin with a number, or with that of no release.
    """
    if is_unnumbered(text):
        raise ValueError(f"{text!r} is a build from sources without tags, which may be of any release")
    match = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(f"{text!r} is not a version")
    major, minor, patch = (int(part or 0) for part in match.groups())
    return major, minor, patch


def required_routes(version: Version) -> tuple[Route, ...]:
    """The routes that this release must have."""
    return tuple(route for route in ROUTES if route.since <= version)
