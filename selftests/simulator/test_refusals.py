"""Refusals: the status, the shape, the field that is named."""

from __future__ import annotations

from typing import Any

import pytest

from selftests.simulator.talk import CHAT, MESSAGES, MODEL, SUM, inside, posted, told, tool_item

TOOLS = list(tool_item().tools or ())
LONG = {"messages": [{"role": "user", "content": "x " * 4000}]}
JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "nonsense"}}}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "body.messages"),
        ({"messages": "hello"}, "body.messages"),
        ({"messages": []}, None),
        ({**SUM, "temperature": "warm"}, "body.temperature"),
        ({**SUM, "temperature": -1}, "temperature"),
        ({**SUM, "temperature": 2.5}, "temperature"),
        ({**SUM, "top_p": 0}, "top_p"),
        ({**SUM, "top_p": 2}, "top_p"),
        ({**SUM, "n": 0}, "n"),
        ({**SUM, "n": 2, "temperature": 0}, None),
        ({**SUM, "max_tokens": 0}, "max_tokens"),
        ({**SUM, "max_tokens": -1}, "max_tokens"),
        ({**SUM, "max_tokens": 5000}, "max_tokens"),
        ({**SUM, "max_completion_tokens": 5000}, "max_completion_tokens"),
        ({**SUM, "seed": 2**80}, "body.seed"),
        ({**SUM, "stop": ["a"] * 5}, "body.stop"),
        ({**SUM, "stop": ""}, None),
        ({**SUM, "logprobs": True, "top_logprobs": 10**6}, "logprobs"),
        ({**SUM, "top_logprobs": 2}, "top_logprobs"),
        ({**SUM, "stream_options": {"include_usage": True}}, "stream_options"),
        ({**SUM, "tool_choice": "required"}, "tool_choice"),
        ({**SUM, "tools": []}, "tools"),
        ({**SUM, "tools": TOOLS, "tool_choice": "sometimes"}, "tool_choice"),
        ({**SUM, "tools": TOOLS, "tool_choice": {"type": "function"}}, "tool_choice.function"),
        ({**SUM, "tools": TOOLS, "tool_choice": {"function": {"name": "absent"}}}, "tool_choice"),
        ({**SUM, "response_format": {"type": "json_schema"}}, "response_format"),
        ({**SUM, "response_format": JSON_SCHEMA}, "response_format"),
        ({**SUM, "structured_outputs": {"regex": "("}}, "structured_outputs"),
        ({**SUM, "structured_outputs": {"regex": "a", "choice": ["a"]}}, None),
        ({**SUM, "reasoning_effort": "heroic"}, "body.reasoning_effort"),
        ({**SUM, "chat_template": "x"}, None),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages"),
        (LONG, "input_tokens"),
    ],
)
async def test_a_bad_request_is_400_and_names_the_field(body: dict[str, Any], param: str | None) -> None:
    async with inside() as client:
        response = await client.post(CHAT, json=body)
        assert response.status_code == 400, response.text
        error = response.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["code"] == 400
        assert error["param"] == param
        assert error["message"]
        await told(client, CHAT, SUM)


async def test_the_limit_is_named_and_exact() -> None:
    async with inside() as client:
        error = (await client.post(CHAT, json=LONG)).json()["error"]
        huge = (await client.post(CHAT, json={"messages": [{"role": "user", "content": "x " * 50_000}]})).json()[
            "error"
        ]
        overhead = (await told(client, "/tokenize", {"messages": [{"role": "user", "content": ""}]}))["count"]
        fits = {"messages": [{"role": "user", "content": "7" * (4096 - overhead - 1)}]}
        body = await told(client, CHAT, fits)
        full = await posted(client, CHAT, {"messages": [{"role": "user", "content": "7" * (4096 - overhead)}]})
    assert "maximum context length is 4096 tokens" in error["message"]
    assert "at least 4097 input tokens" in error["message"]
    assert "maximum context length is 4096 tokens" in huge["message"]
    assert huge["param"] == "input_text"
    assert body["usage"]["prompt_tokens"] == 4095
    assert body["usage"]["completion_tokens"] == 1
    assert full.status_code == 400
    assert full.json()["error"]["param"] == "max_tokens"


@pytest.mark.parametrize("path", [CHAT, "/v1/completions", "/tokenize", "/detokenize"])
async def test_an_unknown_model_is_404(path: str) -> None:
    async with inside() as client:
        response = await client.post(path, json={**SUM, "prompt": "x", "tokens": [1], "model": "other"})
    assert response.status_code == 404
    assert response.json()["error"]["type"] == "NotFoundError"
    assert response.json()["error"]["param"] == "model"


async def test_messages_refuse_in_the_anthropic_shape() -> None:
    async with inside() as client:
        unknown = await client.post(MESSAGES, json={**SUM, "model": "other", "max_tokens": 5})
        oversize = await client.post(MESSAGES, json={**LONG, "model": MODEL, "max_tokens": 5})
        counted = await client.post(MESSAGES + "/count_tokens", json={**SUM, "model": "other"})
        invalid = await client.post(MESSAGES, json={**SUM, "model": MODEL})
    for response, status in ((unknown, 404), (counted, 404), (oversize, 400)):
        assert response.status_code == status
        assert response.json()["type"] == "error"
        assert set(response.json()["error"]) == {"type", "message"}
    assert invalid.status_code == 400
    assert invalid.json()["error"]["param"] == "body.max_tokens"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b"[" * 100_000])
async def test_what_is_not_a_json_object_is_400(content: bytes) -> None:
    async with inside() as client:
        response = await client.post(CHAT, content=content, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == 400


async def test_another_content_type_is_400() -> None:
    async with inside() as client:
        response = await client.post(CHAT, content=b"{}", headers={"content-type": "text/plain"})
    assert response.status_code == 400
    assert "application/json" in response.json()["error"]["message"]


async def test_unknown_routes_and_methods() -> None:
    async with inside() as client:
        assert (await client.post("/v1/embeddings", json={})).status_code == 404
        assert (await client.get("/sleep")).json() == {"detail": "Not Found"}
        assert (await client.get(CHAT)).status_code == 405


async def test_a_key_guards_what_begins_with_v1() -> None:
    async with inside(api_key="right") as client:
        assert (await client.get("/v1/models")).status_code == 401
        assert (await client.get("/v1/models", headers={"Authorization": "Bearer wrong"})).status_code == 401
        assert (await client.get("/v1/models", headers={"Authorization": "Bearer right"})).status_code == 200
        assert (await client.get("/health")).status_code == 200
