"""Faults of what is served, as the simulator shows them: each makes its check fail, with what cannot but follow."""

from __future__ import annotations

from collections.abc import Mapping

from selftests.proofs.model import Fault


def serving(name: str, check: str, companions: Mapping[str, str] | None = None) -> Fault:
    """A fault of the simulator under the serving suite."""
    return Fault(name, "simulator", check, companions or {}, suite="serving")


TAGS_IN_CONTENT = "the tags that no parser took away stand in the content"

FAULTS: tuple[Fault, ...] = (
    serving("wrong-model-id", "ID-01"),
    serving("short-max-model-len", "ID-01"),
    serving("tokenizer-mangles-unicode", "ID-04"),
    serving("prompt-tokens-wrong", "ID-06"),
    serving("route-missing", "PR-08"),
    serving("requests-lost", "PR-12"),
    serving("usage-total-wrong", "PR-01"),
    serving("null-finish-reason", "PR-01"),
    serving("health-without-engine", "OB-01"),
    serving("metrics-undercount", "OB-02"),
    serving("wrong-answers", "GT-01"),
    serving("wrong-after-thinking", "GT-02"),
    serving("exclamation-marks", "DN-02"),
    serving("nan-logprobs", "DN-01"),
    serving("swapped-nonce", "CI-01", {"GT-01": "nonces that are asked eight at a time are swapped, too"}),
    serving("reasoning-in-content", "RE-01", {"RE-02": TAGS_IN_CONTENT}),
    serving("reasoning-missing-in-stream", "RE-01"),
    serving("leaked-end-tag", "RE-02"),
    serving("thinking-not-off", "RE-03"),
    serving("stream-answer-as-reasoning", "RE-03"),
    serving("truncated-thinking-as-content", "RE-04"),
    serving("missing-done", "ST-01"),
    serving("malformed-event", "ST-01", {"PR-01": "the official client raises when it meets the broken event"}),
    serving("stream-null-finish-reason", "ST-02"),
    serving("changing-id", "ST-03"),
    serving("stream-usage-missing", "ST-04"),
    serving("error-in-stream", "ST-09", {"PR-01": "the official client raises when it meets the error"}),
    serving("reasoning-after-content", "ST-10"),
    serving("wrong-tool-parser", "TC-01", {"RE-02": TAGS_IN_CONTENT}),
    serving("required-call-loses-reasoning", "TC-03"),
    serving("tool-call-in-content", "TC-06", {"RE-02": TAGS_IN_CONTENT}),
    serving("tool-arguments-lose-brace", "TC-06"),
    serving("tool-finish-reason-stop", "TC-14"),
    serving("same-call-id", "TC-18"),
    serving("schema-ignored", "SO-01"),
    serving("schema-binds-thinking", "SO-04"),
    serving("schema-not-enforced", "SO-05"),
    serving("oversize-500", "LE-03"),
    serving("wrong-oversize-limit", "LE-03"),
    serving("dies-after-oversize", "LE-11"),
    serving("messages-thinking-lost", "AN-01"),
    serving("messages-finish-reason", "AN-01"),
    serving("message-blocks-overlap", "AN-02"),
    serving("count-tokens-differs", "AN-08"),
    serving("messages-usage-differs", "AN-08"),
)
