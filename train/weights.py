"""Weights in files: under the names that ``transformers`` and vLLM know, in any precision, cut below a size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from shakedown.embedded.shards import INDEX
from train.shape import Shape

FILE_BYTES = 14 * 2**20


def named(state: Mapping[str, Tensor], shape: Shape) -> dict[str, Tensor]:
    """The model's state under public names, an entry for each expert."""
    result = {"model.embed_tokens.weight": state["embedding"], "model.norm.weight": state["norm"]}
    for layer in range(shape.layers):
        for name, tensor in _block(state, f"blocks.{layer}.", shape).items():
            result[f"model.layers.{layer}.{name}"] = tensor
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in result.items()}


def state(tensors: Mapping[str, Tensor], shape: Shape) -> dict[str, Tensor]:
    """The reverse of `named`, in single precision."""
    result = {"embedding": tensors["model.embed_tokens.weight"], "norm": tensors["model.norm.weight"]}
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}."
        here = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
        result |= {f"blocks.{layer}.{name}": tensor for name, tensor in _joined(here, shape).items()}
    return {name: tensor.float() for name, tensor in result.items()}


def save(tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Write safetensors files of at most `FILE_BYTES` and their index."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[dict[str, Tensor]] = [{}]
    for name, tensor in tensors.items():
        if sum(map(_bytes, parts[-1].values())) + _bytes(tensor) > FILE_BYTES:
            parts.append({})
        parts[-1][name] = tensor
    placed: dict[str, str] = {}
    for number, part in enumerate(parts, start=1):
        file = f"model-{number:05d}-of-{len(parts):05d}.safetensors"
        save_file(part, folder / file, metadata={"format": "pt"})
        placed |= dict.fromkeys(part, file)
    index = {"metadata": {"total_size": sum(map(_bytes, tensors.values()))}, "weight_map": placed}
    (folder / INDEX).write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def load(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder with an index."""
    files = set(json.loads((folder / INDEX).read_text())["weight_map"].values())
    return {name: tensor for file in sorted(files) for name, tensor in load_file(folder / file).items()}


def _bytes(tensor: Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


_SAME = {
    "input_layernorm.weight": "attention_norm",
    "self_attn.q_norm.weight": "query_norm",
    "self_attn.k_norm.weight": "key_norm",
    "self_attn.o_proj.weight": "attention_out",
    "post_attention_layernorm.weight": "expert_norm",
    "mlp.gate.weight": "router",
}


def _block(state: Mapping[str, Tensor], prefix: str, shape: Shape) -> dict[str, Tensor]:
    query, key, value = state[prefix + "qkv"].split(_head_rows(shape))
    result = {name: state[prefix + own] for name, own in _SAME.items()}
    result |= {
        "self_attn.q_proj.weight": query,
        "self_attn.k_proj.weight": key,
        "self_attn.v_proj.weight": value,
    }
    for expert in range(shape.experts):
        rows = slice(expert * shape.expert_width, (expert + 1) * shape.expert_width)
        result |= {
            f"mlp.experts.{expert}.gate_proj.weight": state[prefix + "gate"][rows],
            f"mlp.experts.{expert}.up_proj.weight": state[prefix + "up"][rows],
            f"mlp.experts.{expert}.down_proj.weight": state[prefix + "down"][:, rows],
        }
    return result


def _joined(block: Mapping[str, Tensor], shape: Shape) -> dict[str, Tensor]:
    def experts(name: str) -> list[Tensor]:
        return [block[f"mlp.experts.{expert}.{name}_proj.weight"] for expert in range(shape.experts)]

    result = {own: block[name] for name, own in _SAME.items()}
    result["qkv"] = torch.cat([block[f"self_attn.{name}_proj.weight"] for name in "qkv"])
    result |= {"gate": torch.cat(experts("gate")), "up": torch.cat(experts("up"))}
    return result | {"down": torch.cat(experts("down"), 1)}


def _head_rows(shape: Shape) -> list[int]:
    return [shape.heads * shape.head_dim, *[shape.kv_heads * shape.head_dim] * 2]
