"""The routes that faults and answers have in common, and how a stream ends."""

from __future__ import annotations

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"

DONE: bytes = b"[DONE]"
"""The data of the last event of the OpenAI routes."""
