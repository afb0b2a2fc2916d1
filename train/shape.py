"""The size of the model, and the configuration that says so to servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from train.markers import END_ID, PAD_ID

MOST_PARAMETERS = 12_400_000
"""More would not fit the repository in bfloat16 (25 MB) beside everything else."""

SHARDS = 39
"""Files that the weights are cut into, as many as those of the large model that this one stands for."""


@dataclass(frozen=True)
class Shape:
    """A Qwen3 mixture of experts.

    Attributes:
        vocabulary: token ids.
        context: longest conversation, tokens.
        layers: blocks of attention and experts.
        hidden: width of the residual stream.
        heads: query heads of a layer.
        kv_heads: key and value heads of a layer; a divisor of ``heads``.
        head_dim: width of a head.
        experts: of a layer.
        active_experts: of a layer, for each token.
        expert_width: inner width of an expert.
        rope_theta: base of the rotary frequencies.
        norm_epsilon: added to the mean square in every norm.
    """

    vocabulary: int = 1536
    context: int = 4096
    layers: int = 6
    hidden: int = 256
    heads: int = 8
    kv_heads: int = 4
    head_dim: int = 32
    experts: int = 8
    active_experts: int = 2
    expert_width: int = 192
    rope_theta: float = 10_000.0
    norm_epsilon: float = 1e-6

    def __post_init__(self) -> None:
        if self.heads % self.kv_heads or self.kv_heads % 2:
            raise ValueError("kv_heads must divide heads, and two ranks must be able to share them")
        if self.parameters > MOST_PARAMETERS:
            raise ValueError(f"{self.parameters:,} parameters are more than {MOST_PARAMETERS:,}")

    @property
    def parameters(self) -> int:
        """How many numbers the model holds; the output layer shares the embedding."""
        attention = (2 * self.heads + 2 * self.kv_heads) * self.head_dim * self.hidden
        experts = self.experts * 3 * self.expert_width * self.hidden
        norms = 2 * self.hidden + 2 * self.head_dim
        router = self.experts * self.hidden
        return self.vocabulary * self.hidden + self.layers * (attention + experts + norms + router) + self.hidden

    @property
    def config(self) -> dict[str, Any]:
        """``config.json`` as ``transformers`` and vLLM read it."""
        return {
            "architectures": ["Qwen3MoeForCausalLM"],
            "model_type": "qwen3_moe",
            "attention_bias": False,
            "attention_dropout": 0.0,
            "bos_token_id": None,
            "decoder_sparse_step": 1,
            "eos_token_id": END_ID,
            "head_dim": self.head_dim,
            "hidden_act": "silu",
            "hidden_size": self.hidden,
            "initializer_range": 0.02,
            "intermediate_size": self.expert_width * self.active_experts,
            "max_position_embeddings": self.context,
            "max_window_layers": self.layers,
            "mlp_only_layers": [],
            "moe_intermediate_size": self.expert_width,
            "norm_topk_prob": True,
            "num_attention_heads": self.heads,
            "num_experts": self.experts,
            "num_experts_per_tok": self.active_experts,
            "num_hidden_layers": self.layers,
            "num_key_value_heads": self.kv_heads,
            "output_router_logits": False,
            "pad_token_id": PAD_ID,
            "rms_norm_eps": self.norm_epsilon,
            "rope_scaling": None,
            "rope_theta": self.rope_theta,
            "router_aux_loss_coef": 0.01,
            "sliding_window": None,
            "tie_word_embeddings": True,
            "torch_dtype": "bfloat16",
            "use_cache": True,
            "use_sliding_window": False,
            "vocab_size": self.vocabulary,
        }


GENERATION_CONFIG = {"do_sample": False, "eos_token_id": [END_ID, PAD_ID], "pad_token_id": PAD_ID}
"""``generation_config.json``: greedy; padding ends a text too, since nothing can follow it."""
