"""Does a line contain any of many phrases? Asked of every line of every log, so it must cost next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

_PIECE = 6
"""Letters of a mark: few enough for phrases to share one, enough for ordinary lines not to have it."""

_ORDINARY = """
(EngineCore pid=216) INFO 12-01 12:18:21 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config:
(APIServer pid=197) INFO 12-01 12:18:38 [launcher.py:195] Route: /v1/chat/completions, Methods: POST
(RayWorkerProc pid=113, ip=192.168.200.13) Loading safetensors checkpoint shards: 100% Completed | 39/39
[2026-12-01 12:17:55,302 I 94 94] (raylet) node_manager.cc:610: memory usage, node with id, placement group
NodeManager.deadline_timer.debug_state_dump - 6 total (1 active), Execution time: mean = 0.38ms, failed: 0
spark-a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0 comm 0x55 rank 0 nranks 2
request count: 2, the state of an available service in a version that is not on this system; starting to be for
internal local server process: failed to get the store id out of the cache; waiting, was already there, error, memory
"""
"""What most lines of a launch look like; what stands here tells no line from another."""


def sieve(phrases: Iterable[str]) -> Callable[[str], bool]:
    """A test for texts: false means that none of the phrases is in it, true that one may be.

    A phrase of several words is looked for by one of its inner words: these stand between blanks wherever the phrase
    stands, so one look-up in a set answers for all of them. The others are looked for by a piece of them.
    """
    inner = {phrase: set(phrase.split(" ")[1:-1]) - set(_ORDINARY.split()) - {""} for phrase in phrases}
    pieces = {phrase: _pieces(phrase) for phrase, words in inner.items() if not words}
    no_word = frozenset(_cover({phrase: words for phrase, words in inner.items() if words})).isdisjoint
    marks = _cover(pieces)
    # One expression without a loop: `any` over a generator costs several times as much.
    source = " or ".join(["not no_word(text.split(' '))", *(f"{mark!r} in text" for mark in marks)])
    test: Callable[[str], bool] = eval(f"lambda text: {source}", {"no_word": no_word})  # noqa: S307 - made of literals
    return test


def _pieces(phrase: str) -> set[str]:
    """Every run of letters of the length of a mark."""
    return {phrase[start : start + _PIECE] for start in range(max(1, len(phrase) - _PIECE + 1))}


def _cover(choices: Mapping[str, set[str]]) -> list[str]:
    """Few keys such that each phrase has one; greedily, and those that ordinary lines have last."""
    left = dict(choices)
    chosen: list[str] = []
    while left:
        counts: dict[str, int] = {}
        for keys in left.values():
            for key in keys:
                counts[key] = counts.get(key, 0) + 1
        best = max(counts, key=lambda key: (key not in _ORDINARY, counts[key], key))
        chosen.append(best)
        left = {phrase: keys for phrase, keys in left.items() if best not in keys}
    return chosen
