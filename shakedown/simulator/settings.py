"""What a simulator is told: which model, what it is called, how fast it is, what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MODEL_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
MODEL_FOLDER = Path(__file__).parents[1] / "embedded" / "model"


@dataclass(frozen=True, slots=True)
class Timing:
    """When tokens leave the server, counted from a request's arrival, or from its place in the batch if it had to wait.

    Token i (from 0) of a stream belongs to chunk ``i // tokens_per_chunk``; chunk c leaves at
    ``ttft_s + c * tokens_per_chunk * itl_s``: a step of a speculating engine brings several tokens at once and takes
    as much longer. An answer that comes whole leaves when its last chunk would.

    Attributes:
        ttft_s: seconds to the first token.
        itl_s: seconds from token to token.
        tokens_per_chunk: tokens that arrive together.
    """

    ttft_s: float = 0.03
    itl_s: float = 0.002
    tokens_per_chunk: int = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that makes one simulator differ from another.

    Attributes:
        model: folder with at least ``MODEL_FILES`` in it.
        served_name: the id of the model on the wire.
        root: the path that ``/v1/models`` says the model was loaded from.
        max_model_len: longest prompt and answer together, tokens.
        timing: see there.
        max_concurrency: requests that are worked on at once; the others queue in order of arrival.
        reasoning_parser: whether reasoning is told from the answer; else it stands in the content, tags and all.
        api_key: required as bearer token under ``/v1`` if given.
        fault: name of what is wrong with it.
    """

    model: Path = MODEL_FOLDER
    served_name: str = "shakedown-tiny"
    root: str = "/run/shakedown/model"
    max_model_len: int = 4096
    timing: Timing = Timing()
    max_concurrency: int = 256
    reasoning_parser: bool = True
    api_key: str | None = None
    fault: str | None = None
