"""No secret gets past the place where answers are recorded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.nodes.redact import BLOT, redact

SECRET = "Xq7secretvalue93"


@pytest.mark.parametrize(
    "line",
    [
        f"HF_TOKEN={SECRET}",
        f"env VLLM_API_KEY={SECRET} and more words",
        f"export AWS_SECRET_ACCESS_KEY={SECRET}",
        f"sh -c SHAKEDOWN_API_KEY={SECRET} vllm serve",
        f"vllm serve --api-key {SECRET} --port 1",
        f"vllm serve --api-key={SECRET}",
        f"arg --api-key\narg {SECRET}",
        f"ray start --redis-password={SECRET}",
        f"Authorization: Bearer {SECRET}",
        f'{{"authorization": "Bearer {SECRET}"}}',
        f'{{"api_key": "{SECRET}", "n": 1}}',
        f"http://user:{SECRET}@proxy:3128/",
        "hf_" + SECRET,
        "sk-proj-" + SECRET,
        f"RAY_AUTH_TOKEN={SECRET}",
        f"non-default args: {{'port': 8000, 'api_key': ['{SECRET}'], 'model': 'x'}}",
        f"non-default args: {{'api_key': ['first', '{SECRET}']}}",
        f"args: Namespace(port=8000, api_key=['{SECRET}'], model='x')",
        f"args: Namespace(hf_token='{SECRET}', model='x')",
        f"{{'hf_token': '{SECRET}'}}",
        f"x-api-key: {SECRET}",
    ],
)
def test_a_secret_is_blotted_out(line: str) -> None:
    redacted = redact(line.encode())
    assert SECRET.encode() not in redacted
    assert BLOT in redacted


@pytest.mark.parametrize(
    "line",
    [
        "TOKENIZERS_PARALLELISM=false",
        "VLLM_MAX_TOKENS=5",
        '{"max_tokens": 5, "tokenizer.json": "d9d476fbda36"}',
        "--tokenizer /models/x --max-model-len 65536",
        "VLLM_HOST_IP=192.168.200.12",
        "non-default args: {'api_key': None, 'model': 'x', 'tokenizer': 'y', 'max_tokens': [1, 2]}",
        "Namespace(tokenizer='y', max_num_batched_tokens=8192)",
        "http://192.168.200.12:30000/v1/models",
        "key=value",
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    assert redact(line.encode()) == line.encode()


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=40))
def test_any_value_of_a_secret_variable_goes(value: str) -> None:
    assert redact(f"X_API_KEY={value}\nA=1\n".encode()) == b"X_API_KEY=" + BLOT + b"\nA=1\n"


@given(st.binary())
def test_twice_is_once(data: bytes) -> None:
    assert redact(redact(data)) == redact(data)
