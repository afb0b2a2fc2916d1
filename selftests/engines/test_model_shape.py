"""What is read from a model's configuration, held against vLLM's own formulas where the numbers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.proofs.bundle_memory import HYBRID
from shakedown.engines.vllm.model_shape import ModelShape, own_heads, own_length, shape_of

TINY = Path(__file__).parents[2] / "shakedown" / "embedded" / "model" / "config.json"
DENSE = {"num_hidden_layers": 32, "num_attention_heads": 32, "hidden_size": 4096, "num_key_value_heads": 8}


def shape(config: dict[str, Any]) -> ModelShape:
    found = shape_of(config)
    assert found is not None
    return found


def test_keys_and_values_of_all_layers() -> None:
    """32 layers * 2 * 8 heads * 128 * 2 bytes are 128 KiB for each token; half of it on each of two ranks."""
    assert shape(DENSE).cache_bytes(1024, 1, "auto", 8192) == 1024 * 128 * 1024
    assert shape(DENSE).cache_bytes(1024, 2, "auto", 8192) == 1024 * 64 * 1024
    assert shape(DENSE).cache_bytes(1024, 1, "fp8", 8192) == 1024 * 64 * 1024


def test_a_rank_holds_one_head_at_least() -> None:
    assert shape(DENSE).cache_bytes(16, 16, "auto", 1) == shape(DENSE).cache_bytes(16, 8, "auto", 1)


def test_a_request_holds_whole_blocks() -> None:
    assert shape(DENSE).cache_bytes(1, 1, "auto", 1) == shape(DENSE).cache_bytes(16, 1, "auto", 1)


def test_of_a_hybrid_only_the_full_layers_grow() -> None:
    """12 of 48 layers; the others keep a matrix a value head and three inputs of the convolution, twice."""
    hybrid = shape(HYBRID)
    assert (hybrid.full, hybrid.linear, hybrid.windowed) == (12, 36, 0)
    grown = hybrid.cache_bytes(65536 + 16, 2, "auto", 8192) - hybrid.cache_bytes(65536, 2, "auto", 8192)
    assert grown == 16 * 12 * 2 * 256 * 2
    state = 64 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 64 * 128) * 2
    assert hybrid.state_bytes == state
    assert hybrid.cache_bytes(0, 2, "auto", 8192) == 2 * 36 * state / 2


def test_layers_may_be_listed_one_by_one() -> None:
    kinds = ["sliding_attention", "full_attention"] * 16
    listed = shape({**DENSE, "layer_types": kinds, "sliding_window": 128})
    assert (listed.full, listed.windowed) == (16, 16)
    assert listed.cache_bytes(100_000, 1, "auto", 64) < shape(DENSE).cache_bytes(100_000, 1, "auto", 64)
    assert listed.cache_bytes(100, 1, "auto", 64) == shape(DENSE).cache_bytes(100, 1, "auto", 64)


def test_a_latent_cache_is_on_every_rank() -> None:
    latent = shape({**DENSE, "kv_lora_rank": 512, "qk_rope_head_dim": 64})
    assert latent.cache_bytes(16, 1, "auto", 1) == latent.cache_bytes(16, 8, "auto", 1) == 16 * 32 * 576 * 2


def test_the_embedded_model_is_read() -> None:
    tiny = shape(json.loads(TINY.read_text()))
    assert (tiny.layers, tiny.full, tiny.kv_heads, tiny.head_size) == (4, 4, 4, 32)
    assert tiny.widest == max(2 * 384, 2 * (2 * 192 + 384))


NO_HEADS = {"num_hidden_layers": 1, "num_attention_heads": 0, "hidden_size": 64}


@pytest.mark.parametrize("config", [{}, {"num_hidden_layers": "many"}, {"text_config": {"hidden_size": 1}}, NO_HEADS])
def test_what_does_not_tell_has_no_shape(config: dict[str, Any]) -> None:
    assert shape_of(config) is None


@given(
    st.dictionaries(
        st.sampled_from([*DENSE, "head_dim", "layer_types", "text_config"]), st.none() | st.text() | st.booleans()
    )
)
def test_no_configuration_breaks_it(config: dict[str, Any]) -> None:
    found = shape_of(config)
    assert found is None or found.layers >= 0


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ({"max_position_embeddings": 262144, "rope_scaling": None}, 262144),
        ({"text_config": {"max_position_embeddings": 4096, "rope_parameters": {"rope_type": "default"}}}, 4096),
        ({"max_position_embeddings": 32768, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, None),
        ({"text_config": 7}, None),
        ({}, None),
    ],
)
def test_the_length_of_a_model_is_told_where_nothing_scales_it(config: dict[str, Any], length: int | None) -> None:
    assert own_length(config) == length


def test_heads_are_those_of_the_text() -> None:
    assert own_heads(DENSE) == own_heads({"text_config": DENSE, "num_attention_heads": 7}) == 32
    assert own_heads({}) is None
