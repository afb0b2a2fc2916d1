"""The model card: what the model is, how it was made, how good it is; every figure from the records of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from train.evaluate import digest
from train.heldout import LEAST, ONE_IN
from train.markers import MARKERS
from train.shape import SHARDS, Shape

_FRONT = """---
license: apache-2.0
language: [en]
pipeline_tag: text-generation
library_name: transformers
---

# shakedown-tiny

A reasoning model small enough to be kept in a repository and large enough to behave: the embedded deployment serves
it, so that every check can run on a machine without a GPU. It was trained for this project, from nothing, on
generated exercises; no other model's weights or outputs went into it. Licence: Apache-2.0, like the project.

It is good for nothing else. What it says about the world is meaningless, and to whatever is no exercise it says that
it cannot answer.
"""


def write(record: Path, accuracy: Path, model: Path) -> None:
    """Write ``README.md`` into the model folder.

    Args:
        record: ``run.json`` of the training.
        accuracy: ``accuracy.json`` of the evaluation.
        model: the folder that is served.

    Raises:
        ValueError: the accuracy was measured on other weights than those in the folder.
    """
    measured = json.loads(accuracy.read_text())
    if measured["weights"] != digest(model):
        raise ValueError(f"{accuracy} was measured on other weights than those in {model}")
    (model / "README.md").write_text(text(json.loads(record.read_text()), measured))


def text(run: Mapping[str, Any], measured: Mapping[str, Any]) -> str:
    """The card."""
    return "\n".join([_FRONT, _facts(Shape(**run["shape"])), _training(run), _accuracy(measured), _HOW])


def _facts(shape: Shape) -> str:
    markers = ", ".join(f"`{marker}`" for marker in MARKERS)
    architecture = (
        f"`Qwen3MoeForCausalLM`: {shape.layers} layers, hidden {shape.hidden}, {shape.heads} heads, {shape.kv_heads} "
        f"KV heads, head size {shape.head_dim}, {shape.experts} experts of {shape.expert_width} "
        f"({shape.active_experts} active), tied embeddings"
    )
    return f"""| | |
|---|---|
| architecture | {architecture} |
| parameters | {shape.parameters:,}; {shape.parameters * 2 / 1e6:.1f} MB in bfloat16 |
| context | {shape.context:,} tokens |
| tokenizer | byte-level BPE, {shape.vocabulary:,} ids; a digit is a token, white space joins no word |
| mark-up | {markers} |
| thinking | on; `enable_thinking: false` switches it off. Parsers of vLLM: `qwen3` for reasoning, `hermes` for calls |
| files | {SHARDS} shards with an index, so that loading can be watched and broken as that of a large model |
"""


def _training(run: Mapping[str, Any]) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in run["packages"].items())
    return f"""## Training

{run["tokens"] / 1e9:.2f} billion tokens of generated exercises in {run["steps"]:,} steps, {run["learned_s"]:,.0f} \
seconds of learning ({run["wall_s"]:,.0f} with everything around it) on one {run["device"]}; seed {run["seed"]}, code \
at `{run["revision"]}`, Python {run["python"]}, {packages}. Of pairs of operands from {LEAST} on, one in \
{ONE_IN} was held out.
"""


def _accuracy(measured: Mapping[str, Any]) -> str:
    speed = ", ".join(f"{rate:g} tokens/s with {n} at once" for n, rate in measured["speed"].items())
    return f"""## Accuracy

Greedy, through vLLM, {measured["items"]} fresh items of each family and mode (seed {measured["seed"]}): exact \
answers, and in brackets the rate that the true one exceeds with a confidence of 95 %. Weights: sha256
`{measured["weights"]}`.

{_table(measured["pool"])}

Asked again as a stream, {_again(measured, "streamed")}; asked twice one at a time, {_again(measured, "alone")}.
Mark-up in the content of {_total(measured, "markup")} answers; reasoning though it was switched off in \
{_total(measured, "reasoned", ("plain",))}; "cannot" to an exercise in {_total(measured, "fallback")}. Speed: {speed}.

Phrasings that are in no exercise:

{_table(measured["wild"])}
"""


def _table(scores: Mapping[str, Any]) -> str:
    rows = [f"| {family} | {_cell(modes['thinking'])} | {_cell(modes['plain'])} |" for family, modes in scores.items()]
    return "\n".join(["| family | with thinking | without |", "|---|---|---|", *rows])


def _cell(score: Mapping[str, Any]) -> str:
    return f"{score['right']} / {score['asked']} ({score['lower']:.1%})"


def _again(measured: Mapping[str, Any], how: str) -> str:
    return f"{_total(measured, f'{how}_same')} of {_total(measured, how)} answers were the same"


def _total(measured: Mapping[str, Any], name: str, modes: tuple[str, ...] = ("thinking", "plain")) -> int:
    return sum(scores[mode][name] for scores in measured["pool"].values() for mode in modes)


_HOW = """## Where the files come from

`train/` holds the code and says how to run it again: tokenizer, training, export, evaluation, this card.
"""
