"""From trained weights to the model folder that is served, checked against ``transformers``."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from shakedown.embedded import shards
from train import chat, weights
from train.model import Model
from train.shape import GENERATION_CONFIG, SHARDS, Shape

GREATEST_DIFFERENCE = 1e-3
"""Between the logits here and those of ``transformers``, both in single precision; logits reach about 30."""


@dataclass(frozen=True)
class Checked:
    """How far two implementations are apart: greatest difference of logits, and greatest logit."""

    difference: float
    scale: float


def export(trained: Path, tokenizer: Path, target: Path) -> Checked:
    """Write the model folder: weights in bfloat16 in 39 shards, configurations, tokenizer, chat template.

    Args:
        trained: what training wrote: weights and ``run.json``.
        tokenizer: folder with ``tokenizer.json`` and ``tokenizer_config.json``.
        target: folder; files of the same names are replaced.

    Raises:
        ValueError: ``transformers`` computes other logits.
    """
    shape = Shape(**json.loads((trained / "run.json").read_text())["shape"])
    rounded = {name: tensor.to(torch.bfloat16) for name, tensor in weights.load(trained).items()}
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch)
        weights.save(rounded, source)
        _write_json(source / "config.json", shape.config)
        _write_json(source / "generation_config.json", GENERATION_CONFIG)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(tokenizer / name, source / name)
        shutil.copyfile(chat.TEMPLATE, source / "chat_template.jinja")
        shards.split(source, target, SHARDS)
    checked = compare(target, rounded, shape)
    if checked.difference > GREATEST_DIFFERENCE:
        raise ValueError(f"logits differ by {checked.difference:.2g} from those of transformers")
    return checked


def compare(folder: Path, rounded: dict[str, Tensor], shape: Shape) -> Checked:
    """The logits of two packed documents of random tokens, here and by ``transformers``."""
    from transformers import AutoModelForCausalLM

    model: Any = Model(shape)
    model.load_state_dict(weights.state(rounded, shape))
    other = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, shape.vocabulary, (300,), generator=generator)
    lengths = (180, 120)
    positions = torch.cat([torch.arange(length) for length in lengths])
    starts = torch.tensor([0, lengths[0], sum(lengths)], dtype=torch.int32)
    with torch.no_grad():
        here, _ = model(ids, positions, starts, torch.arange(len(ids)))
        there = torch.cat([other(part[None]).logits[0] for part in ids.split(lengths)])
    return Checked(float((here - there).abs().max()), float(there.abs().max()))


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
