"""What a plan must know of the server that it is for."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from shakedown.inventory.model import Deployment
from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request


@dataclass(frozen=True, slots=True)
class Setting:
    """The server, and the seed from which everything generated follows.

    Attributes:
        model: as the server must name it.
        max_model_len: tokens of prompt and answer together.
        reasoning: whether it is declared to serve thinking apart from the answer.
        seed: of the run.
    """

    model: str
    max_model_len: int
    reasoning: bool
    seed: int

    @classmethod
    def of(cls, deployment: Deployment, seed: int) -> Setting:
        """As the deployment file declares it."""
        return cls(
            model=deployment.model.served_name,
            max_model_len=deployment.model.max_model_len,
            reasoning=deployment.serve.reasoning_parser is not None,
            seed=seed,
        )

    def rng(self, purpose: str) -> random.Random:
        """A generator of its own for each purpose, so that plans do not shift each other's items."""
        return random.Random(f"{self.seed}:{purpose}")  # noqa: S311 - test material, no secret depends on it


def streamed(number: int) -> bool:
    """Every second request of a series is streamed, so that both ways are judged at the price of one."""
    return number % 2 == 1


def way(stream: bool) -> str:
    """How the answer comes, as it stands in the names of requests."""
    return "streamed" if stream else "whole"


def named(group: str, requests: Mapping[str, Request]) -> Plan:
    """The requests under the name of their group."""
    return {f"{group}/{name}": request for name, request in requests.items()}
