"""What a plan must know of the server that it is for."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.inventory.model import Deployment

THINKING_TOKENS = 4096
"""Room for thinking and answer: reasoning models spend hundreds of tokens on an addition, now and then thousands."""


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

    @property
    def thinking_room(self) -> int:
        """Tokens for thinking and answer where prompts are short: half of the model's length at most."""
        return min(THINKING_TOKENS, self.max_model_len // 2)
