"""From an exchange that asked a generated item to the verdict on its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shakedown.errors import EvidenceError
from shakedown.outcomes import Metric
from shakedown.serving import tasks
from shakedown.serving.answer import Answer, answers
from shakedown.serving.client import Client
from shakedown.serving.corpus import Corpus, Plan
from shakedown.serving.exchange import shortened
from shakedown.serving.gates import Decision, TwoStageGate, decide


@dataclass(frozen=True, slots=True)
class Graded:
    """One answer with its verdict."""

    answer: Answer
    item: tasks.Item
    verdict: tasks.Verdict


def grade(answer: Answer) -> Graded:
    """Grade one answer; its item is made again from what the request says about it.

    Raises:
        EvidenceError: the item that is made now is not the one that was asked: the answer stands in a corpus that was
            recorded with another version of the pool.
    """
    request = answer.exchange.request
    about = request.about
    item = tasks.generate(about["family"], seed=about["seed"], n=about["index"] + 1)[about["index"]]
    if list(item.messages) != (request.body or {}).get("messages"):
        raise EvidenceError(f"{answer.name} was asked by another version of the task pool; its key is not known here")
    return Graded(answer, item, tasks.grade(item, _as_task_answer(answer)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A gate's decision with every answer it stands on."""

    decision: Decision
    graded: tuple[Graded, ...]

    @property
    def passed(self) -> bool:
        """Whether the rate stands."""
        return self.decision.passed

    @property
    def found(self) -> str:
        """For a finding: the counts, and the misses by class."""
        return f"{self.decision}\n{misses(self.graded)}".rstrip()

    @property
    def expected(self) -> str:
        """For a finding: the declared test."""
        return str(self.decision.gate)

    def metric(self, name: str) -> Metric:
        """The rate, with the test that it was put to."""
        note = "; ".join((str(self.decision), *misses(self.graded, shown=0).splitlines(), self.decision.gate.brief))
        return Metric(name, self.decision.rate, "ratio", "higher", samples=self.decision.items, note=note)


async def gated(
    gate: TwoStageGate, first: Sequence[Graded], client: Client, corpus: Corpus, more: Callable[[], Plan]
) -> Outcome:
    """Put a rate to a gate; the second stage's fresh items are planned and sent only if the first one fails.

    Args:
        gate: the declared test.
        first: as many answers as its first stage wants.
        client: sends the second stage.
        corpus: keeps it.
        more: plans it.

    Raises:
        ValueError: a plan of another size than the gate declares.
    """
    graded = tuple(first)
    decision = decide(gate, _right(graded, gate.first.n))
    if decision.undecided:
        second = tuple(map(grade, answers(await corpus.send(client, more()))))
        decision = decide(gate, decision.right[0], _right(second, gate.second.n))
        graded += second
    return Outcome(decision, graded)


def _right(graded: Sequence[Graded], n: int) -> int:
    if len(graded) != n:
        raise ValueError(f"the gate wants {n} items, planned were {len(graded)}")
    return sum(each.verdict.right for each in graded)


def misses(graded: Sequence[Graded], shown: int = 3) -> str:
    """The misses by class, and the first few spelled out; empty where all are right."""
    missed = [each for each in graded if each.verdict.miss is not None]
    if not missed:
        return ""
    classes = Counter(str(each.verdict.miss) for each in missed)
    lines = [", ".join(f"{count} {name}" for name, count in classes.most_common())]
    for each in missed[:shown]:
        verdict = each.verdict
        lines.append(
            f"{each.answer.name}: {verdict.miss}: found {shortened(verdict.found, 60)!r}, "
            f"expected {shortened(verdict.expected, 60)!r}"
        )
    return "\n".join(lines)


def _as_task_answer(answer: Answer) -> tasks.Answer:
    exchange = answer.exchange
    return tasks.Answer(
        thinking=answer.reasoning,
        content=answer.content,
        tool_calls=tuple(tasks.ToolCall(call.name, call.arguments) for call in answer.tool_calls),
        finish_reason=answer.finish,
        status=0 if exchange.failure or exchange.status is None else exchange.status,
    )
