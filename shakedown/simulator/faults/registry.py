"""All named faults, in the order of a request's way through the server."""

from __future__ import annotations

from shakedown.simulator.fault import Fault
from shakedown.simulator.faults import (
    accounting,
    answers,
    anthropic,
    identity,
    limits,
    load,
    reasoning,
    streaming,
    tools,
)

_ALL: tuple[type[Fault], ...] = (
    identity.WrongModelId,
    identity.ShortMaxModelLen,
    identity.TokenizerManglesUnicode,
    identity.RouteMissing,
    identity.HealthWithoutEngine,
    answers.WrongAnswers,
    answers.ExclamationMarks,
    answers.SchemaIgnored,
    answers.SchemaNotEnforced,
    answers.SwappedNonce,
    answers.NanLogprobs,
    reasoning.ReasoningInContent,
    reasoning.LeakedEndTag,
    reasoning.ReasoningMissingInStream,
    reasoning.ThinkingNotOff,
    reasoning.StreamAnswerAsReasoning,
    reasoning.TruncatedThinkingAsContent,
    reasoning.WrongAfterThinking,
    reasoning.SchemaBindsThinking,
    streaming.MissingDone,
    streaming.MalformedEvent,
    streaming.StreamNullFinishReason,
    streaming.StreamUsageMissing,
    streaming.ChangingId,
    streaming.ErrorInStream,
    streaming.ReasoningAfterContent,
    streaming.EarlyEmptyChunk,
    accounting.UsageTotalWrong,
    accounting.PromptTokensWrong,
    accounting.NullFinishReason,
    accounting.MetricsUndercount,
    tools.ToolCallInContent,
    tools.ToolArgumentsLoseBrace,
    tools.ToolFinishReasonStop,
    tools.WrongToolParser,
    tools.RequiredCallLosesReasoning,
    tools.SameCallId,
    limits.Oversize500,
    limits.DiesAfterOversize,
    limits.WrongOversizeLimit,
    anthropic.CountTokensDiffers,
    anthropic.MessagesUsageDiffers,
    anthropic.MessagesThinkingLost,
    anthropic.MessagesFinishReason,
    anthropic.MessageBlocksOverlap,
    load.SlowFirstToken,
    load.SlowDecode,
    load.RequestsLost,
    load.ErrorsUnderLoad,
    load.StallUnderConcurrency,
    load.OneAtATime,
    load.LateEnd,
)
FAULTS: dict[str, type[Fault]] = {fault.name: fault for fault in _ALL}


def fault_named(name: str | None) -> Fault:
    """A fault by its name; a healthy server without one.

    Raises:
        KeyError: there is none of that name.
    """
    return FAULTS[name]() if name else Fault()


def listing() -> str:
    """All faults for people: name, what is wrong, and where such a server was met."""
    width = max(map(len, FAULTS))
    return "\n".join(
        f"{fault.name:<{width}}  {fault.summary}{f' ({fault.source})' if fault.source else ''}" for fault in _ALL
    )
