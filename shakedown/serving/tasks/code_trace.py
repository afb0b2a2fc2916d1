"""What a few lines of Python print: the state of a variable that has to be carried from line to line."""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Callable, Mapping, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import last_integer
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import WORDS

_TEMPLATES = templates(
    {"code": r"[a-z][^`]{1,300}\)"},
    what="What does this print?\n\n{code}",
    what_fenced="What does this code print?\n\n```python\n{code}\n```",
    output="What is the output of this Python code?\n```python\n{code}\n```",
    head="Run this program in your head and tell me what it prints:\n\n{code}",
    printed="{code}\n\nWhat is printed?",
    only="```python\n{code}\n```\nWhat is the output? Reply with only the number.",
    trace="Trace this Python program. What number does it print?\n\n```\n{code}\n```",
    please="Please give the output of the following code, nothing else.\n\n{code}",
    which="Which number does this print?\n{code}",
    given="Here is a small program:\n\n{code}\n\nWhat does it print?",
    execute="Execute this code and reply with the printed value only:\n```python\n{code}\n```",
    predict="Predict the output:\n\n{code}",
)
_NAMES = ("x", "y", "n", "a", "b", "total", "count")
_LOWEST, _HIGHEST = 0, 40
_LONGEST_LOOP = 20
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class CodeTrace:
    """Up to three statements that change one variable of small whole numbers, none below zero, and one print."""

    name = "code-trace"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A program in which no variable ever leaves the range of small numbers."""
        while True:
            code = "\n".join(rng.choice(_PROGRAMS)(rng))
            run = Run()
            run.program(code)
            if all(_LOWEST <= value <= _HIGHEST for value in run.values):
                return Question(template, ask(_TEMPLATES[template].render({"code": code})), str(run.values[-1]))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The variable that each line changes, line by line."""
        turn = last_turn(messages)
        found = first_match(_TEMPLATES.values(), turn) if turn else None
        if found is None:
            return None
        run = Run()
        try:
            run.program(found[1]["code"])
        except (SyntaxError, Unsupported):
            return None
        return Answer(thinking="\n".join(run.trace), content=str(run.values[-1]))

    def read(self, answer: Answer) -> str:
        """The last whole number."""
        return last_integer(answer)


class Unsupported(ValueError):  # noqa: N818 - says what the code is, not what failed
    """Python beyond the few statements that the family is made of."""


class Run:
    """One program, interpreted statement by statement; nothing of it reaches Python's own interpreter.

    Attributes:
        trace: what each executed line did: ``x=3``, or ``x>5 yes`` of a condition.
        values: every whole number that was assigned or printed, in order.
    """

    def __init__(self) -> None:
        self.trace: list[str] = []
        self.values: list[int] = []
        self._variables: dict[str, int | str] = {}

    def program(self, code: str) -> None:
        """Run to the print at the end.

        Raises:
            SyntaxError: no Python.
            Unsupported: Python, but other than what `CodeTrace` writes.
        """
        *statements, last = ast.parse(code).body
        self._block(statements)
        match last:
            case ast.Expr(ast.Call(func=ast.Name("print"), args=[printed], keywords=[])):
                self.values.append(self._number(printed))
            case _:
                raise Unsupported(ast.unparse(last))

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Constant(str(text))):
                self._variables[name] = text
            case ast.Assign([ast.Name(name)], value):
                self._assign(name, self._number(value))
            case ast.AugAssign(ast.Name(name) as target, op, value):
                operand = ast.Name(target.id, ast.Load())
                self._assign(name, self._number(ast.BinOp(operand, op, value)))
            case ast.If(test, body, orelse):
                holds = self._holds(test)
                self.trace.append(f"{ast.unparse(test)} {'yes' if holds else 'no'}")
                self._block(body if holds else orelse)
            case ast.For(ast.Name(), ast.Call(func=ast.Name("range"), args=[times], keywords=[]), body, []):
                for _ in range(self._times(times)):
                    self._block(body)
            case _:
                raise Unsupported(ast.unparse(statement))

    def _assign(self, name: str, value: int) -> None:
        self._variables[name] = value
        self.values.append(value)
        self.trace.append(f"{name}={value}")

    def _times(self, expression: ast.expr) -> int:
        times = self._number(expression)
        if times > _LONGEST_LOOP:
            raise Unsupported(f"{times} rounds")
        return times

    def _number(self, expression: ast.expr) -> int:
        match expression:
            case ast.Constant(int(value)) if not isinstance(value, bool):
                return value
            case ast.Name(name) if isinstance(held := self._variables.get(name), int):
                return held
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._number(left), self._number(right))
            case ast.Call(func=ast.Name("len"), args=[ast.Name(name)], keywords=[]):
                if isinstance(text := self._variables.get(name), str):
                    return len(text)
        raise Unsupported(ast.unparse(expression))

    def _holds(self, test: ast.expr) -> bool:
        match test:
            case ast.Compare(left, [op], [right]) if type(op) in _COMPARISONS:
                return _COMPARISONS[type(op)](self._number(left), self._number(right))
        raise Unsupported(ast.unparse(test))


def _update(name: str, rng: random.Random) -> str:
    """One step of a variable: mostly a sum or a difference, sometimes a small multiple."""
    operand = rng.randint(1, 9)
    return rng.choice(
        (
            f"{name} += {operand}",
            f"{name} -= {operand}",
            f"{name} = {name} + {operand}",
            f"{name} = {name} - {operand}",
            f"{name} *= {rng.choice((2, 3))}",
            f"{name} = {name} * {rng.choice((2, 3))}",
        )
    )


def _start(name: str, rng: random.Random) -> str:
    return f"{name} = {rng.randint(0, 12)}"


def _updates(rng: random.Random) -> list[str]:
    name = rng.choice(_NAMES)
    return [_start(name, rng), *(_update(name, rng) for _ in range(rng.randint(1, 2))), f"print({name})"]


def _branch(rng: random.Random) -> list[str]:
    name, sign = rng.choice(_NAMES), rng.choice((">", "<", ">=", "<="))
    condition = f"if {name} {sign} {rng.randint(1, 12)}:"
    return [
        _start(name, rng),
        condition,
        f"    {_update(name, rng)}",
        "else:",
        f"    {_update(name, rng)}",
        f"print({name})",
    ]


def _loop(rng: random.Random) -> list[str]:
    name = rng.choice(_NAMES)
    step = rng.choice((f"{name} += {rng.randint(1, 5)}", f"{name} -= {rng.randint(1, 5)}", f"{name} *= 2"))
    return [_start(name, rng), f"for _ in range({rng.randint(1, 3)}):", f"    {step}", f"print({name})"]


def _length(rng: random.Random) -> list[str]:
    name = rng.choice(_NAMES)
    more = [_update(name, rng)] if rng.random() < 0.5 else []
    return [f'word = "{rng.choice(WORDS)}"', f"{name} = len(word)", *more, f"print({name})"]


_PROGRAMS: tuple[Callable[[random.Random], list[str]], ...] = (
    _updates,
    _branch,
    _loop,
    _length,
)
