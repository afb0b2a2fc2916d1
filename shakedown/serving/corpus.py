"""Every exchange of a run by name: sent once, kept as one file, judged as often as wanted.

Names are ``group/request``; a group is what one kind of check asks for.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from shakedown.errors import EvidenceError
from shakedown.serving.answer import Answer
from shakedown.serving.client import AT_ONCE, Client
from shakedown.serving.exchange import Exchange, Request

Plan = Mapping[str, Request]
"""Requests by name, in the order in which they are sent."""


class Corpus:
    """The exchanges so far, in the order of their plans; a run that is killed keeps those that have ended.

    Args:
        file: JSON lines, gzip; one exchange a line, appended when it ends. None keeps nothing on disk.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._exchanges: dict[str, Exchange] = {}

    async def send(self, client: Client, plan: Plan, at_once: int = AT_ONCE) -> tuple[Exchange, ...]:
        """Send what is planned and keep it; what was sent under the same name before is not sent again."""
        missing = {name: request for name, request in plan.items() if name not in self._exchanges}
        self._keep(await client.send_all(missing, at_once, ended=lambda exchange: self._write([exchange])))
        return tuple(self._exchanges[name] for name in plan)

    def add(self, exchanges: Iterable[Exchange]) -> None:
        """Keep exchanges that were sent elsewhere.

        Raises:
            ValueError: a name that is already taken; nothing is ever replaced.
        """
        fresh = list(exchanges)
        self._keep(fresh)
        self._write(fresh)

    def _keep(self, exchanges: Iterable[Exchange]) -> None:
        for exchange in exchanges:
            if exchange.name in self._exchanges:
                raise ValueError(f"{exchange.name} stands in the corpus already")
            self._exchanges[exchange.name] = exchange

    def _write(self, exchanges: Sequence[Exchange]) -> None:
        if self._file and exchanges:
            # A gzip file may consist of several members, so that appending needs no rewriting.
            with gzip.open(self._file, "at", encoding="ascii") as file:
                file.writelines(exchange.to_json() + "\n" for exchange in exchanges)

    @classmethod
    def load(cls, file: Path) -> Corpus:
        """A stored corpus, to be judged again without a server.

        Raises:
            EvidenceError: the file cannot be read.
        """
        corpus = cls()
        try:
            with gzip.open(file, "rt", encoding="ascii") as lines:
                corpus.add(Exchange.from_json(line) for line in lines)
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise EvidenceError(f"{file} is not a corpus that this version can read: {error!r}") from error
        return corpus

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All of them."""
        return tuple(self._exchanges.values())

    def group(self, *names: str) -> tuple[Exchange, ...]:
        """The exchanges of these groups."""
        return tuple(each for each in self.exchanges if each.name.split("/")[0] in names)

    def answers(self, *names: str) -> tuple[Answer, ...]:
        """The chat completions of these groups, whatever became of them."""
        return tuple(Answer(exchange) for exchange in self.group(*names))
