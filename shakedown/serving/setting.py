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
        tools: whether it is declared to serve tool calls.
        switch: argument of the chat template that turns thinking on and off; None where there is none.
        seed: of the run.
    """

    model: str
    max_model_len: int
    reasoning: bool
    tools: bool
    switch: str | None
    seed: int

    @classmethod
    def of(cls, deployment: Deployment, seed: int) -> Setting:
        """As the deployment file declares it."""
        return cls(
            model=deployment.model.served_name,
            max_model_len=deployment.model.max_model_len,
            reasoning=deployment.serve.reasoning_parser is not None,
            tools=deployment.serve.tool_call_parser is not None,
            switch=None if deployment.serve.thinking_switch == "none" else deployment.serve.thinking_switch,
            seed=seed,
        )

    @property
    def thinking_room(self) -> int:
        """Tokens for thinking and answer where prompts are short: half of the model's length at most."""
        return min(THINKING_TOKENS, self.max_model_len // 2)

    @property
    def always_thinks(self) -> bool:
        """Whether the model thinks and cannot be told not to."""
        return self.reasoning and self.switch is None

    def room(self, plain: int) -> int:
        """Tokens for an answer of at most ``plain`` tokens with thinking off, wherever it can be switched off."""
        return self.thinking_room if self.always_thinks else plain
