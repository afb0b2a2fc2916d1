"""What a start tells beside its phases: versions, addresses, memory, durations."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from shakedown.engines.vllm.phases.wording import NUMBER, TAG, TOOK

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one start; None where the log has not told it. Of what ranks tell differently, the one that limits is kept.

    Attributes:
        version: of the engine.
        model: path or name that is served.
        world_size: ranks in all.
        init_method: where the ranks meet (``tcp://10.0.0.1:41213``).
        eager: compilation and graphs are off.
        checkpoint_gib: size of the checkpoint, GiB.
        download_s: time of its download, s.
        weights_s: time of the slowest rank for the weights, s.
        weights_gib: memory of the largest rank for the model, GiB.
        model_s: time of the slowest rank for the whole model, s.
        compile_s: time of the slowest rank for the compilation, s.
        compile_cached: every graph came from the compile cache; False if one had to be compiled.
        graph_estimate_gib: memory that the graphs were estimated to take, GiB.
        graph_gib: memory that they took, GiB.
        graph_s: time of their capture, s.
        kv_gib: memory of the smallest rank for the KV cache, GiB.
        kv_tokens: what the KV cache holds, tokens.
        max_concurrency: requests of full length that fit in it.
        engine_s: ``init engine``: profiling, KV cache, warm-up, s.
        address: where the API listens (``http://0.0.0.0:8000``).
    """

    version: str | None = None
    model: str | None = None
    world_size: int | None = None
    init_method: str | None = None
    eager: bool | None = None
    checkpoint_gib: float | None = None
    download_s: float | None = None
    weights_s: float | None = None
    weights_gib: float | None = None
    model_s: float | None = None
    compile_s: float | None = None
    compile_cached: bool | None = None
    graph_estimate_gib: float | None = None
    graph_gib: float | None = None
    graph_s: float | None = None
    kv_gib: float | None = None
    kv_tokens: int | None = None
    max_concurrency: float | None = None
    engine_s: float | None = None
    address: str | None = None

    def learnt(self, message: str) -> Facts:
        """These facts, and what one more message tells."""
        told = self
        for source in _SOURCES:
            if source.word in message and (match := source.message.match(message)) is not None:
                told = told.with_(source.read(match))
        return told

    def with_(self, found: dict[str, Value]) -> Facts:
        """These facts with new ones; of two values the one that limits stays."""
        kept = {name: _KEEP.get(name, _first)(getattr(self, name), value) for name, value in found.items()}
        return replace(self, **kept)


def _first(old: Any, new: Any) -> Any:
    return new if old is None else old


def _greatest(old: Any, new: Any) -> Any:
    return new if old is None else max(old, new)


def _least(old: Any, new: Any) -> Any:
    return new if old is None else min(old, new)


_KEEP: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("weights_s", "weights_gib", "model_s", "compile_s"), _greatest),
    **dict.fromkeys(("graph_estimate_gib", "graph_gib", "graph_s"), _greatest),
    "kv_gib": _least,
    "compile_cached": _least,
}
_TYPES = {field.name: str(field.type).split(" ")[0] for field in fields(Facts)}


@dataclass(frozen=True, slots=True)
class _Source:
    """A message that tells facts: its named groups are their names; ``says`` are told by its being there."""

    word: str
    message: re.Pattern[str]
    says: dict[str, Value]

    def read(self, match: re.Match[str]) -> dict[str, Value]:
        found = {name: _value(_TYPES[name], text) for name, text in match.groupdict().items() if text}
        return {**self.says, **{name: value for name, value in found.items() if value is not None}}


def _value(kind: str, text: str) -> Value | None:
    try:
        if kind == "int":
            return int(text.replace(",", ""))
        return float(text) if kind == "float" else text
    except ValueError:
        return None


def _number(name: str) -> str:
    return rf"(?P<{name}>{NUMBER})"


_WORDED: tuple[tuple[str, str], ...] = (
    ("█  version", r".{0,60}█  version (?P<version>\S{1,64})"),
    ("█  model", r".{0,60}█  model   (?P<model>\S.{0,300})"),
    ("server version", r"vLLM (?:API )?server version (?P<version>[^\s,]{1,64})"),
    ("serving model", r"vLLM server version .{1,64}, serving model (?P<model>\S{1,300})"),
    ("LLM engine", r"Initializing a V\d LLM engine \(v(?P<version>[^)\s]{1,64})\)"),
    ("LLM engine", r"Initializing a V\d LLM engine .{0,80}\bmodel='(?P<model>[^']{1,300})'"),
    ("distributed_init_method=", r"world_size=(?P<world_size>\d{1,6}) rank=\d+ "),
    ("distributed_init_method=", r"world_size=.{1,60} distributed_init_method=(?P<init_method>\S{1,100})"),
    ("is assigned as DP rank", r"rank \d+ in world size (?P<world_size>\d{1,6}) is assigned"),
    ("load model", r"Starting to load model (?P<model>\S{1,300}?)\.\.\."),
    ("Checkpoint size:", rf".{{0,100}}Checkpoint size: {_number('checkpoint_gib')} GiB"),
    ("downloading weights", rf"Time spent downloading weights for .{{0,300}}: {_number('download_s')} s"),
    ("Loading weights", rf"Loading weights {TOOK} {_number('weights_s')} s"),
    ("Model loading", rf"Model loading {TOOK} {_number('weights_gib')} GiB"),
    ("Model loading", rf"Model loading {TOOK} .{{0,40}} and {_number('model_s')} s"),
    ("torch.compile", rf"torch\.compile (?:and .{{0,60}} )?{TOOK} {_number('compile_s')} s"),
    ("Estimated CUDA graph memory", rf"Estimated CUDA graph memory: {_number('graph_estimate_gib')} GiB"),
    ("Graph capturing", rf"Graph capturing finished in {_number('graph_s')} s"),
    ("Graph capturing", rf"Graph capturing finished in .{{0,40}}, {TOOK} {_number('graph_gib')} GiB"),
    ("KV cache memory", rf"Available KV cache memory: {_number('kv_gib')} GiB"),
    ("GiB for KV cache", rf"\w+ set \({_number('kv_gib')}/"),
    ("memory for KV Cache", rf"Initial free memory .{{0,40}}reserved {_number('kv_gib')} GiB"),
    ("KV cache size", r"[\w +]{1,20} KV cache size: (?P<kv_tokens>[\d,]{1,20}) tokens"),
    ("Maximum concurrency", rf".{{0,80}}Maximum concurrency for .{{1,40}}: {_number('max_concurrency')}x"),
    ("init engine (", rf"init engine \(.{{0,80}}?\) {TOOK} {_number('engine_s')} s"),
    ("vLLM server", r"Starting vLLM server(?: \d+)? on (?P<address>\S{1,200})"),
    ("vLLM API server", r"Starting vLLM API server(?: \d+)? on (?P<address>\S{1,200})"),
)
"""Word and message; the name of the group is that of the fact."""

_SAID: tuple[tuple[str, str, dict[str, Value]], ...] = (
    ("Enforce eager set", r"Enforce eager set", {"eager": True}),
    ("Compiling a graph", r"Compiling a graph for ", {"compile_cached": False}),
    ("Directly load", r"Directly load (?:the compiled graph|AOT compilation)", {"compile_cached": True}),
)
"""Word, message, and what its being there tells."""

_SOURCES = (
    *(_Source(word, re.compile(TAG + message), {}) for word, message in _WORDED),
    *(_Source(word, re.compile(TAG + message), says) for word, message, says in _SAID),
)

FACT_WORDS = tuple(source.word for source in _SOURCES)
"""Every line with a fact holds one."""
