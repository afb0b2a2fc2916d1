"""How good the served model is: the pool with fresh items, by family and mode, and how it behaves around that.

Everything goes through a running server, so that template, parsers, streaming and engine are measured with the weights.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from shakedown.embedded.shards import INDEX
from shakedown.serving.tasks import CONVERSATION, Item, generate, grade
from shakedown.serving.tasks.item import ask
from train import wild
from train.asking import Said, Server
from train.bounds import lower_bound
from train.families import ALL
from train.markers import MARKERS
from train.unseen import MODES

STREAMED_SHARE = 8  # every eighth item is asked again as a stream
WILD_SHARE = 5  # so much fewer items of phrasings that are in no exercise
ALONE = 3  # items asked twice more with nothing beside them
_SPEED_ITEMS = {1: 4, 8: 32}
_MARKUP = re.compile("|".join(map(re.escape, MARKERS)))


@dataclass(frozen=True)
class Options:
    """What is evaluated, and how.

    Attributes:
        url: of the server, without ``/v1``.
        served_name: of the model.
        model: its folder, for the digest of the weights.
        out: ``accuracy.json``; what stands there for the same weights, seed and number of items is not asked again.
        seed: of the items; training does not draw from series.
        items: of each family and mode.
        concurrency: requests at once.
    """

    url: str
    served_name: str
    model: Path
    out: Path
    seed: int = 20_000
    items: int = 200
    concurrency: int = 8


@dataclass(frozen=True)
class Score:
    """One family in one mode; counts of answers.

    Attributes:
        asked: items.
        right: exact answers as `grade` counts them.
        lower: rate that the true one exceeds with a confidence of 95 %.
        misses: wrong ones by class.
        markup: answers with mark-up in their content.
        reasoned: answers with reasoning; all with thinking, none without.
        fallback: answers that say "I cannot" to an item that can be answered.
        tokens: generated for an answer, mean.
        streamed: items asked again as a stream.
        streamed_right: exact ones of these.
        streamed_same: same text of reasoning and content and same calls.
        alone: items asked twice with nothing beside them.
        alone_same: same text and calls both times.
        wrong: the first wrong items, for people to look at.
    """

    asked: int
    right: int
    lower: float
    misses: dict[str, int]
    markup: int
    reasoned: int
    fallback: int
    tokens: float
    streamed: int = 0
    streamed_right: int = 0
    streamed_same: int = 0
    alone: int = 0
    alone_same: int = 0
    wrong: list[dict[str, str]] = field(default_factory=list)


def evaluate(options: Options) -> None:
    """Ask whatever has not been asked yet, and write it down after each family and mode.

    Raises:
        httpx.HTTPError: the server cannot be reached or refuses a request.
    """
    asyncio.run(_evaluate(options))


def digest(model: Path) -> str:
    """SHA-256 over the weights' index and all shards in order, hexadecimal."""
    index = (model / INDEX).read_bytes()
    total = hashlib.sha256(index)
    for file in sorted(set(json.loads(index)["weight_map"].values())):
        total.update((model / file).read_bytes())
    return total.hexdigest()


async def _evaluate(options: Options) -> None:
    report = _report(options)
    async with Server(options.url, options.served_name, options.concurrency) as server:
        for family in ALL:
            for mode in MODES:
                if mode not in report["pool"].setdefault(family, {}):
                    items = generate(family, seed=options.seed, n=options.items)
                    _enter(report["pool"][family], mode, await _score(server, items, mode), family, options, report)
        for family in wild.FAMILIES:
            for mode in MODES:
                if mode not in report["wild"].setdefault(family, {}):
                    items = wild.items(family, seed=options.seed, n=max(1, options.items // WILD_SHARE))
                    score = await _score(server, items, mode, repeat=False)
                    _enter(report["wild"][family], mode, score, f"{family} (wild)", options, report)
        report["speed"] = report["speed"] or await _speed(server, options.seed)
    _write(options.out, report)


def _report(options: Options) -> dict[str, Any]:
    """What has been measured already of the same thing, or nothing."""
    same = {"weights": digest(options.model), "seed": options.seed, "items": options.items}
    if options.out.exists():
        found: dict[str, Any] = json.loads(options.out.read_text())
        if {name: found[name] for name in same} == same:
            return found
    return {
        **same,
        "command": shlex.join(["python", "-m", "train", *sys.argv[1:]]),
        "pool": {},
        "wild": {},
        "speed": {},
    }


def _enter(place: dict[str, Any], mode: str, score: Score, name: str, options: Options, report: dict[str, Any]) -> None:
    place[mode] = asdict(score)
    _write(options.out, report)
    line = f"{name:24s} {mode:8s} {score.right}/{score.asked}, at least {score.lower:.1%}, {score.tokens:.0f} tokens"
    sys.stdout.write(line + (f", {score.misses}" if score.misses else "") + "\n")
    sys.stdout.flush()


def _write(path: Path, report: dict[str, Any]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    new.replace(path)


async def _score(server: Server, items: Sequence[Item], mode: str, *, repeat: bool = True) -> Score:
    thinking = MODES[mode]
    said, _ = await server.ask_all(items, thinking=thinking)
    plain = score(items, said)
    if not repeat:
        return plain
    some, few = slice(None, None, STREAMED_SHARE), [item for item in items[:ALONE] for _ in range(2)]
    streamed, _ = await server.ask_all(items[some], thinking=thinking, streamed=True)
    alone, _ = await server.ask_all(few, thinking=thinking, at_once=1)
    again = {
        "streamed": len(streamed),
        "streamed_right": sum(grade(i, s.answer).right for i, s in zip(items[some], streamed, strict=True)),
        "streamed_same": _same(said[some], streamed),
        "alone": len(alone) // 2,
        "alone_same": _same(alone[::2], alone[1::2]),
    }
    return Score(**(asdict(plain) | again))


def score(items: Sequence[Item], said: Sequence[Said]) -> Score:
    """Grade answers that came for items."""
    verdicts = [grade(item, one.answer) for item, one in zip(items, said, strict=True)]
    misses = [verdict.miss.value for verdict in verdicts if verdict.miss is not None]
    right = len(items) - len(misses)
    cannot = _honest_cannot()
    return Score(
        asked=len(items),
        right=right,
        lower=lower_bound(right, len(items)),
        misses={miss: misses.count(miss) for miss in sorted(set(misses))},
        markup=sum(bool(_MARKUP.search(one.answer.content)) for one in said),
        reasoned=sum(bool(one.answer.thinking.strip()) for one in said),
        fallback=sum(one.answer.content.strip() == cannot != item.key for item, one in zip(items, said, strict=True)),
        tokens=sum(one.tokens for one in said) / len(said),
        wrong=[
            {"item": item.id, "template": item.template, "expected": verdict.expected, "found": verdict.found}
            for item, verdict in zip(items, verdicts, strict=True)
            if not verdict.right
        ][:5],
    )


def _honest_cannot() -> str:
    """What the model is taught to say to anything that is no exercise."""
    answer = CONVERSATION["unknown"].solve(ask(""), ())
    return answer.content if answer else ""


def _same(first: Sequence[Said], second: Sequence[Said]) -> int:
    return sum(_text(a) == _text(b) for a, b in zip(first, second, strict=True))


def _text(said: Said) -> tuple[str, str, list[tuple[str, Any]]]:
    """What must not depend on how it was asked; white space at the edges does, where deltas are put together."""
    calls = [(call.name, _value(call.arguments)) for call in said.answer.tool_calls]
    return said.answer.thinking.strip(), said.answer.content.strip(), calls


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except json.JSONDecodeError:
        return arguments


async def _speed(server: Server, seed: int) -> dict[str, float]:
    """Generated tokens a second while counting, by number of requests at once."""
    rates = {}
    for at_once, count in _SPEED_ITEMS.items():
        said, seconds = await server.ask_all(
            generate("counting", seed=seed + 1, n=count), thinking=True, at_once=at_once
        )
        rates[str(at_once)] = round(sum(one.tokens for one in said) / seconds, 1)
    return rates
