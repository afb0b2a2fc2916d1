"""``/v1/completions``: text in, text out, no template."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from shakedown.serving.tasks import solve
from shakedown.simulator.constrain import constraint_of
from shakedown.simulator.errors import ApiError, invalid_request
from shakedown.simulator.job import Job
from shakedown.simulator.logprobs import completion_logprobs
from shakedown.simulator.output import decide
from shakedown.simulator.paths import DONE
from shakedown.simulator.requests import CompletionRequest
from shakedown.simulator.server import FINGERPRINT, Server, new_id

_CONTINUATION = " and this is where the text goes on, as plainly as a simulator can put it."


@dataclass(slots=True)
class Completion:
    """A completion request on its way; every prompt has ``request.choices`` outputs of its own."""

    request: CompletionRequest
    jobs: list[Job]
    id: str
    created: int
    model: str


def parse(body: dict[str, Any]) -> CompletionRequest:
    """The body as a request.

    Raises:
        ApiError: 400, it does not validate.
    """
    try:
        return CompletionRequest.model_validate(body)
    except ValidationError as error:
        raise invalid_request(error) from error


async def start(server: Server, request: CompletionRequest, arrived: float) -> Completion:
    """Everything about an answer except the passing of time.

    Raises:
        ApiError: the request is refused, or the engine cannot take it.
    """
    server.check_model(request.model)
    jobs = [_job(server, request, prompt, arrived) for prompt in _prompts(request)]
    for job in jobs:
        await server.engine.admit(job)
    return Completion(request, jobs, f"cmpl-{new_id()}", int(time.time()), server.settings.served_name)


def _prompts(request: CompletionRequest) -> list[str | list[int]]:
    prompt = request.prompt
    if isinstance(prompt, str):
        return [prompt]
    if prompt and isinstance(prompt[0], int):
        return [[int(id) for id in prompt if isinstance(id, int)]]
    return [part for part in prompt or [] if isinstance(part, str | list)]


def _job(server: Server, request: CompletionRequest, prompt: str | list[int], arrived: float) -> Job:
    ids = server.encode(prompt) if isinstance(prompt, str) else prompt
    text = prompt if isinstance(prompt, str) else server.model.decode(prompt)
    limits = request.limits(server.room(len(ids), request.max_tokens, "max_tokens"))
    answer = solve([{"role": "user", "content": text}])
    content = answer.content if answer else _CONTINUATION
    constraint = constraint_of(request)
    if constraint and not server.fault.ignores_schema():
        content = constraint.fit(content)
    outputs = [decide(server.model, content, limits) for _ in range(request.choices)]
    return Job(ids, outputs, arrived)


async def body(server: Server, completion: Completion) -> dict[str, Any]:
    """The answer in one piece.

    Raises:
        ApiError: generation failed.
    """
    request, choices = completion.request, list[dict[str, Any]]()
    for job in completion.jobs:
        await server.engine.finish(job)
        for output in job.outputs:
            shown = [*job.prompt_ids, *output.ids] if request.echo else output.ids
            text = "".join(output.pieces)
            choices.append(
                {
                    "index": len(choices),
                    "text": server.model.decode(job.prompt_ids) + text if request.echo else text,
                    "logprobs": _logprobs(server, request, shown, 0, 0, first_unknown=bool(request.echo)),
                    "finish_reason": output.finish_reason,
                    "stop_reason": output.stop_reason,
                    "token_ids": list(output.ids) if request.return_token_ids else None,
                    "prompt_logprobs": _prompt_logprobs(server, request, job.prompt_ids),
                    "prompt_token_ids": list(job.prompt_ids) if request.return_token_ids else None,
                    "routed_experts": None,
                }
            )
    return {
        "id": completion.id,
        "object": "text_completion",
        "created": completion.created,
        "model": completion.model,
        "choices": choices,
        "service_tier": None,
        "system_fingerprint": FINGERPRINT,
        "usage": {**_usage(completion), "prompt_tokens_details": None, "completion_tokens_details": None},
        "kv_transfer_params": None,
        "ec_transfer_params": None,
        "metrics": None,
    }


async def events(server: Server, completion: Completion) -> AsyncGenerator[dict[str, Any] | bytes, None]:
    """The answer in chunks, prompt after prompt, then `DONE`; a failure of the engine is one of them."""
    try:
        for place, job in enumerate(completion.jobs):
            async with aclosing(server.engine.steps(job)) as steps:
                async for positions in steps:
                    for chunk in _chunks(server, completion, place * len(job.outputs), job, positions):
                        yield chunk
        if completion.request.usage_at_end:
            yield {**_chunk(completion, []), "usage": _usage(completion), "system_fingerprint": FINGERPRINT}
    except ApiError as error:
        yield error.body
    yield DONE


def _chunks(server: Server, completion: Completion, first: int, job: Job, positions: range) -> list[dict[str, Any]]:
    request, chunks = completion.request, []
    for index, output in enumerate(job.outputs, first):
        ids = output.ids[positions.start : positions.stop]
        if not ids:
            continue
        last = positions.stop >= len(output.ids)
        offset = sum(map(len, output.pieces[: positions.start]))
        choice = {
            "index": index,
            "text": "".join(output.pieces[positions.start : positions.stop]),
            "logprobs": _logprobs(server, request, ids, positions.start, offset),
            "finish_reason": output.finish_reason if last else None,
            "stop_reason": output.stop_reason if last else None,
            "prompt_token_ids": list(job.prompt_ids) if request.return_token_ids and positions.start == 0 else None,
            "token_ids": list(ids) if request.return_token_ids else None,
        }
        chunk = _chunk(completion, [choice])
        if request.usage_in_chunks:
            done = min(positions.stop, len(output.ids))
            chunk["usage"] = _counts(len(job.prompt_ids), done)
        chunks.append(chunk)
    return chunks


def _chunk(completion: Completion, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": completion.id,
        "object": "text_completion",
        "created": completion.created,
        "model": completion.model,
        "choices": choices,
    }


def _logprobs(
    server: Server,
    request: CompletionRequest,
    ids: Sequence[int],
    start: int,
    offset: int,
    *,
    first_unknown: bool = False,
) -> dict[str, Any] | None:
    if request.logprobs is None:
        return None
    result = completion_logprobs(server.model, ids, start, request.logprobs, offset)
    if first_unknown:  # nothing comes before the first token of the prompt, so nothing is known about it
        result["token_logprobs"][0] = result["top_logprobs"][0] = None
    return result


def _prompt_logprobs(server: Server, request: CompletionRequest, ids: Sequence[int]) -> list[Any] | None:
    if request.prompt_logprobs is None:
        return None
    ranked = completion_logprobs(server.model, ids, 0, 1, 0)
    known = [
        {str(id): {"logprob": logprob, "rank": 1, "decoded_token": token}}
        for id, logprob, token in zip(ids, ranked["token_logprobs"], ranked["tokens"], strict=True)
    ]
    return [None, *known[1:]]


def _usage(completion: Completion) -> dict[str, Any]:
    prompt = sum(len(job.prompt_ids) for job in completion.jobs)
    return _counts(prompt, sum(len(output.ids) for job in completion.jobs for output in job.outputs))


def _counts(prompt: int, generated: int) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "total_tokens": prompt + generated, "completion_tokens": generated}
