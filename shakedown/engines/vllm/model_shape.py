"""What a model's ``config.json`` says about the memory that serving it takes: layers, heads, widths.

Sources: vLLM 0.32.0, ``v1/kv_cache_interface.py`` (bytes of a block and of a state), ``model_executor/layers/mamba/
mamba_utils.py`` (shape of the states of a gated delta net), ``v1/core/kv_cache_utils.py`` (what one request needs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BYTES = {
    **dict.fromkeys(("float32", "float"), 4.0),
    **dict.fromkeys(("bfloat16", "float16", "half"), 2.0),
    **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "int8"), 1.0),
}
"""Bytes of one number, by the names that configurations and ``--kv-cache-dtype`` use."""

BLOCK_TOKENS = 16
"""Tokens of a block of KV cache, vLLM's default; a request holds whole blocks."""

_LINEAR = ("linear_attention", "mamba", "linear", "recurrent", "conv")
_WINDOWED = ("sliding_attention", "chunked_attention")
_STATES_A_SEQUENCE = 2
"""With prefix caching a sequence holds the state of its last whole block and the one in the making (MambaSpec)."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder, as far as memory goes.

    Attributes:
        layers: of all kinds.
        full: layers with full attention, whose cache grows with the context.
        windowed: layers whose cache ends with a window.
        window: tokens of that window; 0 where there is none.
        kv_heads: heads of keys and values.
        head_size: numbers of one head.
        latent: numbers that a token and layer take with latent attention (MLA), the same on every rank; 0 for none.
        state_bytes: of one sequence and one layer with linear attention, all ranks together.
        hidden: width of the residual stream.
        widest: numbers that a token takes in the widest feed-forward layer, all ranks together.
        vocabulary: tokens of it.
        number_bytes: bytes of one number of the model's own type.
    """

    layers: int
    full: int
    windowed: int
    window: int
    kv_heads: int
    head_size: int
    latent: int
    state_bytes: float
    hidden: int
    widest: int
    vocabulary: int
    number_bytes: float

    @property
    def linear(self) -> int:
        """Layers that keep a state of constant size instead of a cache."""
        return self.layers - self.full - self.windowed

    def cache_bytes(self, tokens: int, tensor_parallel: int, kv_dtype: str, batched_tokens: int) -> float:
        """Bytes of KV cache and states that one sequence of that length takes on one rank of a pipeline of one.

        Heads are split over the ranks; with fewer heads than ranks each rank holds one. A latent cache is not split.

        Args:
            tokens: of the sequence.
            tensor_parallel: ranks that share the heads.
            kv_dtype: as given to the engine; ``auto`` is the model's own type.
            batched_tokens: of one step, which a window keeps beyond its length.
        """
        number = BYTES.get(kv_dtype, self.number_bytes)
        heads = max(1, self.kv_heads // tensor_parallel)
        per_token = (self.latent or 2 * heads * self.head_size) * number
        windowed = min(tokens, self.window + batched_tokens) if self.window else tokens
        states = _STATES_A_SEQUENCE * self.linear * self.state_bytes / tensor_parallel
        return per_token * (self.full * _blocks(tokens) + self.windowed * _blocks(windowed)) + states

    def activation_bytes(self, batched_tokens: int, sequences: int, tensor_parallel: int) -> float:
        """Bytes that one step takes at its peak on one rank, roughly: widest layer, residual stream, logits in float32.

        An estimate: the engine measures it when it profiles. The logits are counted three times, as the sampler holds
        them, their softmax and a sorted copy.
        """
        layer = batched_tokens * (4 * self.hidden + self.widest / tensor_parallel) * self.number_bytes
        return layer + 3 * sequences * self.vocabulary * BYTES["float32"]


def _blocks(tokens: int) -> int:
    return -(-tokens // BLOCK_TOKENS) * BLOCK_TOKENS


def shape_of(config: Mapping[str, Any]) -> ModelShape | None:
    """``config.json`` -> shape; None where it does not even say how many layers and heads there are.

    A model whose layers are of no known kind counts as one with full attention in each: the cache is overestimated.
    """
    text = config.get("text_config") or config.get("llm_config") or config
    try:
        layers, heads = int(text["num_hidden_layers"]), int(text["num_attention_heads"])
        hidden = int(text["hidden_size"])
    except (KeyError, TypeError, ValueError):
        return None
    if min(layers, heads, hidden) < 1:
        return None
    kinds = _kinds(text, layers)
    return ModelShape(
        layers=layers,
        full=sum(kind not in (*_LINEAR, *_WINDOWED) for kind in kinds),
        windowed=sum(kind in _WINDOWED for kind in kinds),
        window=_number(text, "sliding_window") or _number(text, "attention_chunk_size"),
        kv_heads=_number(text, "num_key_value_heads") or heads,
        head_size=_number(text, "head_dim") or hidden // heads,
        latent=_latent(text),
        state_bytes=_state_bytes(text),
        hidden=hidden,
        widest=_widest(text),
        vocabulary=_number(text, "vocab_size") or _number(config, "vocab_size"),
        number_bytes=_number_bytes(config, text),
    )


def own_length(config: Mapping[str, Any]) -> int | None:
    """Tokens of one request where ``--max-model-len`` is left out; None where ``config.json`` alone does not tell.

    Releases differ in what they make of a factor by which positions are scaled.
    Source: vLLM 0.32.0, ``vllm/config/model.py`` (_get_and_verify_max_len).
    """
    text = config.get("text_config") or config.get("llm_config") or config
    if not isinstance(text, Mapping) or "factor" in str([text.get("rope_scaling"), text.get("rope_parameters")]):
        return None
    return _number(text, "max_position_embeddings") or None


def own_heads(config: Mapping[str, Any]) -> int | None:
    """Attention heads, which the ranks of a tensor-parallel group share evenly; None where they are not told."""
    text = config.get("text_config") or config.get("llm_config") or config
    return (_number(text, "num_attention_heads") or None) if isinstance(text, Mapping) else None


def _kinds(text: Mapping[str, Any], layers: int) -> Sequence[str]:
    """Kind of every layer: as listed, or by the interval of the full ones (every fourth, say), or all full."""
    listed = text.get("layer_types") or text.get("layers_block_type")
    if isinstance(listed, list) and len(listed) == layers:
        return [str(kind) for kind in listed]
    interval = _number(text, "full_attention_interval")
    if interval:
        return ["linear_attention" if (layer + 1) % interval else "full_attention" for layer in range(layers)]
    return ["full_attention"] * layers


def _latent(text: Mapping[str, Any]) -> int:
    rank = _number(text, "kv_lora_rank")
    return rank + _number(text, "qk_rope_head_dim") if rank else 0


def _state_bytes(text: Mapping[str, Any]) -> float:
    """State of a gated delta net: a matrix a value head, and the last inputs of its convolution."""
    values, keys = _number(text, "linear_num_value_heads"), _number(text, "linear_num_key_heads")
    value_size, key_size = _number(text, "linear_value_head_dim"), _number(text, "linear_key_head_dim")
    kept = max(0, _number(text, "linear_conv_kernel_dim") - 1)
    matrix = values * value_size * key_size * BYTES.get(str(text.get("mamba_ssm_dtype")), 4.0)
    return matrix + kept * (2 * keys * key_size + values * value_size) * 2.0


def _widest(text: Mapping[str, Any]) -> int:
    """Gate and up of a dense layer, or those of all experts that one token visits with their inputs."""
    dense = 2 * _number(text, "intermediate_size")
    experts = _number(text, "num_experts_per_tok") * (
        2 * _number(text, "moe_intermediate_size") + _number(text, "hidden_size")
    )
    return max(dense, experts)


def _number_bytes(*configs: Mapping[str, Any]) -> float:
    named = (str(config.get(key)) for config in configs for key in ("torch_dtype", "dtype"))
    return next((BYTES[name] for name in named if name in BYTES), 2.0)


def _number(table: Mapping[str, Any], key: str) -> int:
    value = table.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0
