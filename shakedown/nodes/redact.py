"""Secrets are blotted out where an answer is recorded, so that no bundle, report or message can hold one."""

from __future__ import annotations

import re

BLOT = b"[redacted]"

_WORD = rb"(?:API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTHORIZATION)"

_RULES: tuple[re.Pattern[bytes], ...] = (
    # A variable at the start of a line, as in an environment: everything to the end of the line.
    re.compile(rb"(?m)^((?:env |export )?[A-Z0-9_]*" + _WORD + rb"(?:_[A-Z0-9_]*)?=)([^\n]+)"),
    # Python's own notation: older releases of vLLM log their arguments so, --api-key as a list.
    re.compile(rb"(?i)('[a-z0-9_-]*" + _WORD + rb"'\s*:\s*')([^'\n]+)"),
    re.compile(rb"(?i)(\bapi_keys?['\"]?\s*[:=]\s*\[\s*['\"])([^\]\n]+)(?=['\"]\s*\])"),
    re.compile(rb"(?i)(\bx-api-key\s*[:=]\s*)([^\s\"']+)"),
    # A variable in the middle of a command line, and an option: --api-key VALUE, --api-key=VALUE.
    re.compile(rb"(?i)(\b[A-Z0-9_]*" + _WORD + rb"(?:_[A-Z0-9_]*)?=[\"']?)([^\s\"']+)"),
    re.compile(rb"(?i)(--?(?:[a-z0-9]+-)*(?:api-key|token|password|secret)(?:=|\s+(?:arg )?))([^\s-][^\s]*)"),
    # JSON and headers.
    re.compile(rb"(?i)(\"[a-z0-9_-]*" + _WORD + rb"\"\s*:\s*\")([^\"]+)"),
    re.compile(rb"(?i)(authorization\s*[:=]\s*)([^\r\n\"']+)"),
    re.compile(rb"(?i)(\bbearer\s+)([^\s\"',]+)"),
    # What its issuer made recognisable, wherever it stands.
    re.compile(rb"(\b)((?:hf_|sk-|nvapi-|ghp_|github_pat_|glpat-|xox[abp]-|AKIA)[A-Za-z0-9_-]{12,})"),
    re.compile(rb"([a-z][a-z0-9+.-]*://[^\s/:@]*:)([^\s/@]+)(?=@)"),
)


def redact(text: bytes) -> bytes:
    """The text with keys, tokens, passwords and ``Authorization`` values blotted out; what names them stays."""
    for rule in _RULES:
        text = rule.sub(_blotted, text)
    return text


def _blotted(match: re.Match[bytes]) -> bytes:
    return match.group(1) + BLOT
