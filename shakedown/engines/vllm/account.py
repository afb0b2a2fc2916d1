"""The memory budget of a node for people: what a rank takes, what is left after each phase, and what would fit."""

from __future__ import annotations

from shakedown.engines.vllm.budget import Budget, Settings
from shakedown.units import GIB, gib


def table(budget: Budget) -> str:
    """The account of a budget, a line each; the last line is what would fit."""
    asked = budget.settings
    need = budget.kv_need(asked.max_model_len)
    rows = [
        ("available now", budget.machine.host.available, f"of {gib(budget.machine.host.total)}"),
        ("weights of a rank", budget.rank_weights, f"1/{asked.tensor_parallel} of the tensors"),
        ("one step at its peak", budget.activation, f"{asked.max_num_batched_tokens} tokens, estimated"),
        ("CUDA graphs", budget.graphs, "profile"),
        ("KV cache of a rank", budget.kv_room, _needed(need, asked.max_model_len)),
        ("a rank takes", budget.requested, f"{_size(asked)}, by {asked.known_from}"),
        *((f"left: {phase}", left, "") for phase, left in budget.phases[1:]),
    ]
    lines = [f"{name:<26}{amount / GIB:>8.1f} GiB  {note}".rstrip() for name, amount, note in rows]
    return "\n".join([*lines, _advice(budget)])


def _needed(need: float | None, tokens: int) -> str:
    return "need unknown" if need is None else f"one request of {tokens} tokens needs {gib(need)}"


def _size(asked: Settings) -> str:
    if asked.kv_cache_bytes is not None:
        return "KV cache of a given size"
    return f"gpu_memory_utilization = {asked.utilization:g}"


def _advice(budget: Budget) -> str:
    if budget.fits:
        return f"to spare: {gib(budget.low_water - budget.least_left)} at the worst moment"
    alone = f"if nothing else ran on this node: others hold {gib(budget.held)}"
    if budget.idle.fits:
        return f"would fit: as it is {alone}"
    smaller = _smaller(budget)
    if smaller is not None:
        return f"would fit: {smaller}"
    smaller = _smaller(budget.idle)
    if smaller is not None:
        return f"would fit: {smaller} {alone}"
    return "would fit: nothing at this length; a shorter max_model_len, more nodes or a smaller model"


def _smaller(budget: Budget) -> str | None:
    cache = budget.fitting_cache if budget.settings.kv_cache_bytes is not None else None
    if cache is not None:
        return f"kv_cache_memory_gib = {cache / GIB:.2f}"
    utilization = budget.fitting_utilization
    return None if utilization is None else f"gpu_memory_utilization = {utilization:.2f}"
