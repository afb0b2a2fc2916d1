"""Request bodies: the fields that the simulator acts on, with the rules by which vLLM 0.32 refuses a body."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from shakedown.simulator.errors import refused
from shakedown.simulator.output import Limits

_INT64 = 2**63
_MAX_LOGPROBS = 20
_MAX_CHOICES = 16384

Stop = str | Annotated[list[str], Field(max_length=4)] | None
NoneAsZero = Annotated[int, BeforeValidator(lambda value: 0 if value is None else value)]


class Body(BaseModel):
    """Unknown fields are accepted and have no effect."""

    model_config = ConfigDict(extra="allow")


class StreamOptions(Body):
    """``stream_options``."""

    include_usage: bool | None = False
    continuous_usage_stats: bool | None = False


class FunctionDeclaration(Body):
    """``tools[].function``."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ToolDeclaration(Body):
    """``tools[]``."""

    type: Literal["function"] = "function"
    function: FunctionDeclaration

    @property
    def rendered(self) -> dict[str, Any]:
        """As the template gets it: vLLM's own fields in vLLM's order, whatever the client sent."""
        function: dict[str, Any] = {
            "name": self.function.name,
            "description": self.function.description,
            "parameters": self.function.parameters,
        }
        if self.function.strict is not None:
            function["strict"] = self.function.strict
        return {"type": self.type, "function": function}


class FunctionName(Body):
    """The function of a named tool choice."""

    name: str


class NamedTool(Body):
    """``tool_choice`` as an object."""

    type: Literal["function"] = "function"
    function: FunctionName


class JsonSchema(Body):
    """``response_format.json_schema``."""

    name: str
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormat(Body):
    """``response_format``."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StructuredOutputs(Body):
    """``structured_outputs``."""

    json_schema: str | dict[str, Any] | None = Field(default=None, alias="json")
    regex: str | None = None
    choice: list[str] | None = None
    any_object: bool | None = Field(default=None, alias="json_object")

    @property
    def kinds(self) -> int:
        """How many constraints are given."""
        return sum(value is not None for value in (self.json_schema, self.regex, self.choice, self.any_object))


class Sampling(Body):
    """What chat and completions have in common."""

    model: str | None = None
    n: int | None = 1
    seed: Annotated[int, Field(ge=-_INT64, lt=_INT64)] | None = None
    stop: Stop = None
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    stop_token_ids: list[int] | None = None
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    min_tokens: int = 0
    return_token_ids: bool | None = None
    structured_outputs: StructuredOutputs | None = None
    response_format: ResponseFormat | None = None

    @model_validator(mode="before")
    @classmethod
    def _consistent(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if data.get("stream_options") and not data.get("stream"):
            raise refused("Stream options can only be defined when `stream=True`.", "stream_options")
        wanted = data.get("response_format")
        if isinstance(wanted, dict) and wanted.get("type") == "json_schema" and wanted.get("json_schema") is None:
            raise refused(
                "When response_format type is 'json_schema', the 'json_schema' field must be provided.",
                "response_format",
            )
        return data

    @property
    def choices(self) -> int:
        """How many choices are asked for."""
        return 1 if self.n is None else self.n

    @property
    def usage_at_end(self) -> bool:
        """Whether the stream ends with a usage chunk."""
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def usage_in_chunks(self) -> bool:
        """Whether every chunk carries usage."""
        return self.usage_at_end and bool(self.stream_options and self.stream_options.continuous_usage_stats)

    def limits(self, max_tokens: int) -> Limits:
        """What ends an answer.

        Raises:
            ApiError: 400, a sampling parameter is out of range.
        """
        self._check_sampling(max_tokens)
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        return Limits(
            max_tokens=max_tokens,
            min_tokens=self.min_tokens,
            ignore_eos=self.ignore_eos,
            stop=stop,
            stop_ids=tuple(self.stop_token_ids or ()),
            keep_stop=self.include_stop_str_in_output,
        )

    def _check_sampling(self, max_tokens: int) -> None:
        """The rules of vLLM's SamplingParams."""
        within(self.choices, "n", at_least=1, at_most=_MAX_CHOICES)
        within(self.presence_penalty, "presence_penalty", at_least=-2, at_most=2)
        within(self.frequency_penalty, "frequency_penalty", at_least=-2, at_most=2)
        within(self.repetition_penalty, "repetition_penalty", at_least=1e-9, at_most=1e9)
        within(self.temperature, "temperature", at_least=0, at_most=2)
        within(self.top_p, "top_p", at_least=1e-9, at_most=1)
        within(self.top_k, "top_k", at_least=-1, at_most=_INT64)
        within(self.min_p, "min_p", at_least=0, at_most=1)
        within(max_tokens, "max_tokens", at_least=1, at_most=_INT64)
        within(self.min_tokens, "min_tokens", at_least=0, at_most=max_tokens)
        if self.temperature == 0 and self.choices > 1:
            raise refused(f"n must be 1 when using greedy sampling, got {self.choices}.")
        if self.stop == "" or (isinstance(self.stop, list) and "" in self.stop):
            raise refused("stop cannot contain an empty string.")


class ChatRequest(Sampling):
    """``POST /v1/chat/completions``."""

    messages: list[dict[str, Any]]
    logprobs: bool | None = False
    top_logprobs: NoneAsZero = 0
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    tools: list[ToolDeclaration] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = "none"
    parallel_tool_calls: bool | None = True
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    thinking_token_budget: int | None = None
    include_reasoning: bool = True
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    chat_template: str | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    return_tokens_as_token_ids: bool | None = None
    cache_salt: Annotated[str, Field(min_length=1, max_length=128)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _logprobs(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("top_logprobs") is not None:
            top = data["top_logprobs"]
            if not isinstance(top, int | float):
                raise refused("`top_logprobs` must be an integer.", "top_logprobs")
            if top < 0 and top != -1:
                raise refused("`top_logprobs` must be a positive value or -1.", "top_logprobs")
            if top and not data.get("logprobs"):
                raise refused("when using `top_logprobs`, `logprobs` must be set to true.", "top_logprobs")
        return data

    @model_validator(mode="before")
    @classmethod
    def _tools(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if data.get("tools") == []:
            raise refused("`tools` must not be an empty array.", "tools")
        if "tool_choice" not in data and data.get("tools"):
            data = {**data, "tool_choice": "auto"}
        choice = data.get("tool_choice", "none")
        if choice not in (None, "none"):
            _check_tool_choice(choice, data.get("tools"))
        return data

    @model_validator(mode="after")
    def _one_constraint(self) -> ChatRequest:
        if self.structured_outputs and self.structured_outputs.kinds != 1:
            raise refused("You can only use one kind of constraints for structured outputs.")
        both = self.continue_final_message and self.add_generation_prompt
        if both and "add_generation_prompt" in self.model_fields_set:
            raise refused("Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
        return self

    @property
    def asked_tokens(self) -> int | None:
        """The limit on generated tokens, under either name."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens

    @property
    def rendered_tools(self) -> list[dict[str, Any]] | None:
        """Tools as the template and the model see them."""
        return [tool.rendered for tool in self.tools] if self.tools else None

    @property
    def named_tool(self) -> str | None:
        """The function that must be called."""
        return self.tool_choice.function.name if isinstance(self.tool_choice, NamedTool) else None

    @property
    def template_arguments(self) -> dict[str, Any]:
        """Everything but messages and tools that the template gets."""
        arguments = dict(self.chat_template_kwargs or {})
        if self.reasoning_effort is not None:
            arguments.setdefault("enable_thinking", self.reasoning_effort != "none")
            arguments["reasoning_effort"] = self.reasoning_effort
        generation = self.add_generation_prompt and not self.continue_final_message
        return {**arguments, "add_generation_prompt": generation}

    def _check_sampling(self, max_tokens: int) -> None:
        super()._check_sampling(max_tokens)
        if self.logprobs and self.top_logprobs > _MAX_LOGPROBS:
            message = f"Requested sample logprobs of {self.top_logprobs}, which is greater than max allowed: "
            raise refused(f"{message}{_MAX_LOGPROBS}", "logprobs")
        within(self.thinking_token_budget, "thinking_token_budget", at_least=-1, at_most=_INT64)


class CompletionRequest(Sampling):
    """``POST /v1/completions``."""

    prompt: str | list[str] | list[int] | list[list[int]] | None = None
    echo: bool | None = False
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    max_tokens: int | None = 16

    @model_validator(mode="after")
    def _prompt_given(self) -> CompletionRequest:
        if self.prompt is None or self.prompt == []:
            raise refused("Either prompt or prompt_embeds must be provided and non-empty.", "prompt")
        return self

    def _check_sampling(self, max_tokens: int) -> None:
        super()._check_sampling(max_tokens)
        within(self.logprobs, "logprobs", at_least=0, at_most=_MAX_LOGPROBS)


class TokenizeRequest(Body):
    """``POST /tokenize``, with a prompt or with messages."""

    model: str | None = None
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    tools: list[ToolDeclaration] | None = None
    add_generation_prompt: bool = True
    chat_template_kwargs: dict[str, Any] | None = None
    return_token_strs: bool | None = False

    @model_validator(mode="after")
    def _something_given(self) -> TokenizeRequest:
        if self.prompt is None and self.messages is None:
            raise refused("one of `prompt` and `messages` must be given.", "prompt")
        return self


class DetokenizeRequest(Body):
    """``POST /detokenize``."""

    model: str | None = None
    tokens: list[Annotated[int, Field(ge=0, lt=_INT64)]]


def within(value: float | None, name: str, *, at_least: float, at_most: float) -> None:
    """Refuse a number outside its range.

    Raises:
        ApiError: 400.
    """
    if value is not None and not at_least <= value <= at_most:
        raise refused(f"{name} must be in [{at_least:g}, {at_most:g}], got {value}.", name, value)


def _check_tool_choice(choice: Any, tools: Any) -> None:
    if not tools:
        raise refused("When using `tool_choice`, `tools` must be set.", "tool_choice")
    if choice in ("auto", "required"):
        return
    if not isinstance(choice, dict):
        raise refused(
            f'Invalid value for `tool_choice`: {choice}! Only named tools, "none", "auto" or "required" are supported.',
            "tool_choice",
        )
    function = choice.get("function")
    if not isinstance(function, dict) or not function.get("name"):
        raise refused(f"Invalid value for `function`: `{function}` in `tool_choice`!", "tool_choice.function")
    if not any(isinstance(tool, dict) and tool.get("function", {}).get("name") == function["name"] for tool in tools):
        raise refused("The tool specified in `tool_choice` does not match any of the specified `tools`", "tool_choice")
