"""The model in plain PyTorch: Qwen3-MoE over packed documents.

All experts of a layer are computed as one wide layer whose inner activations are scaled by the router (zero for the
experts that are not chosen). At this size that is faster than moving tokens to experts, and the result is the same.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention.varlen import varlen_attn

from train.shape import Shape

LONGEST = 3584
"""Longest document in training, tokens; leaves room for an answer within the context."""


_RENAMED = "is_causal" not in inspect.signature(varlen_attn).parameters
_CAUSAL: dict[str, Any] = {"window_size": (-1, 0)} if _RENAMED else {"is_causal": True}
"""How this version of PyTorch is told to look backwards only."""


class Block(nn.Module):
    """Attention and experts, each behind a norm and beside the residual stream."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        inner, wide = shape.heads * shape.head_dim, shape.experts * shape.expert_width
        into = 0.67 / math.sqrt(shape.hidden)
        back = 0.48 / math.sqrt(shape.hidden * 2 * shape.layers)  # the residual stream sums 2 * layers of these
        self.attention_norm = nn.Parameter(torch.ones(shape.hidden))
        self.query_norm = nn.Parameter(torch.ones(shape.head_dim))
        self.key_norm = nn.Parameter(torch.ones(shape.head_dim))
        self.qkv = _normal(inner + 2 * shape.kv_heads * shape.head_dim, shape.hidden, into)
        self.attention_out = _normal(shape.hidden, inner, back)
        self.expert_norm = nn.Parameter(torch.ones(shape.hidden))
        self.router = _normal(shape.experts, shape.hidden, 0.02)
        self.gate = _normal(wide, shape.hidden, into)
        self.up = _normal(wide, shape.hidden, into)
        self.down = _normal(shape.hidden, wide, back)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], starts: Tensor) -> tuple[Tensor, Tensor]:
        """The stream after the block, and the router's loss of balance."""
        x = x + self._attend(_norm(x, self.attention_norm, self.shape), rotation, starts)
        experts, imbalance = self._experts(_norm(x, self.expert_norm, self.shape))
        return x + experts, imbalance

    def _attend(self, x: Tensor, rotation: tuple[Tensor, Tensor], starts: Tensor) -> Tensor:
        shape = self.shape
        heads = functional.linear(x, self.qkv).view(len(x), shape.heads + 2 * shape.kv_heads, shape.head_dim)
        query, key, value = heads.split([shape.heads, shape.kv_heads, shape.kv_heads], 1)
        query = _rotate(_norm(query, self.query_norm, shape), rotation).to(value.dtype)
        key = _rotate(_norm(key, self.key_norm, shape), rotation).to(value.dtype)
        shared = shape.heads // shape.kv_heads
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
        attended = _attention(query.contiguous(), key.contiguous(), value.contiguous(), starts)
        return functional.linear(attended.reshape(len(x), -1), self.attention_out)

    def _experts(self, x: Tensor) -> tuple[Tensor, Tensor]:
        shape = self.shape
        chances = functional.linear(x, self.router).float().softmax(-1)
        best, chosen = chances.topk(shape.active_experts, -1)
        shares = torch.zeros_like(chances).scatter(-1, chosen, best / best.sum(-1, keepdim=True))
        load = (shares > 0).float().mean(0) / shape.active_experts
        imbalance = shape.experts * (load * chances.mean(0)).sum()
        inner = functional.silu(functional.linear(x, self.gate)) * functional.linear(x, self.up)
        inner = inner.view(len(x), shape.experts, shape.expert_width) * shares.to(inner.dtype)[..., None]
        return functional.linear(inner.flatten(1), self.down), imbalance


class Model(nn.Module):
    """The whole model; the output layer is the embedding."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = _normal(shape.vocabulary, shape.hidden, 0.04)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.Parameter(torch.ones(shape.hidden))
        frequencies = shape.rope_theta ** -(torch.arange(0, shape.head_dim, 2).float() / shape.head_dim)
        angles = torch.outer(torch.arange(shape.context).float(), frequencies).repeat(1, 2)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, ids: Tensor, positions: Tensor, starts: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """Scores for the next token.

        Args:
            ids: token ids of all documents, one after the other; shape (tokens,).
            positions: of each token in its document; shape (tokens,).
            starts: where each document starts, and at the end the number of tokens; int32, ascending.
            wanted: indices of the tokens whose successor is asked for.

        Returns:
            Logits, shape (wanted, vocabulary); and the routers' mean loss of balance, 1 if balanced.
        """
        x = functional.embedding(ids, self.embedding)
        x = x.to(torch.bfloat16 if x.is_cuda else torch.float32)
        rotation = (self.cosines[positions][:, None].to(x.dtype), self.sines[positions][:, None].to(x.dtype))
        imbalances = []
        for block in self.blocks:
            x, imbalance = block(x, rotation, starts)
            imbalances.append(imbalance)
        logits = functional.linear(_norm(x[wanted], self.norm, self.shape), self.embedding)
        return logits, torch.stack(imbalances).mean()


def _normal(rows: int, columns: int, deviation: float) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns) * deviation)


def _norm(x: Tensor, weight: Tensor, shape: Shape) -> Tensor:
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + shape.norm_epsilon)
    return (wide * scale).to(x.dtype) * weight.to(x.dtype)


def _rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * rotation[0] + turned * rotation[1]


def _attention(query: Tensor, key: Tensor, value: Tensor, starts: Tensor) -> Tensor:
    """Causal attention within each document; all of shape (tokens, heads, head_dim)."""
    if query.is_cuda:
        attended: Tensor = varlen_attn(query, key, value, starts, starts, LONGEST, LONGEST, **_CAUSAL)
        return attended
    documents = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    parts = []
    for first, last in documents:
        if last > first:
            heads = (x[first:last].transpose(0, 1)[None] for x in (query, key, value))
            parts.append(functional.scaled_dot_product_attention(*heads, is_causal=True)[0].transpose(0, 1))
    return torch.cat(parts)
