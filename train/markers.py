"""The mark-up tokens: their texts, and with their place in the list their ids."""

from __future__ import annotations

PAD, TURN, END, RESULT = "<|pad|>", "<|turn|>", "<|end|>", "<|result|>"
THINK, THINK_END = "<think>", "</think>"
CALL, CALL_END = "<tool_call>", "</tool_call>"

CONTROL = (PAD, TURN, END, RESULT)
"""Structure of the conversation, which a decoder leaves out."""

WIRE = (THINK, THINK_END, CALL, CALL_END)
"""What the server's parsers (``qwen3`` for reasoning, ``hermes`` for calls) look for in the decoded text."""

MARKERS = (*CONTROL, *WIRE)
PAD_ID, END_ID = MARKERS.index(PAD), MARKERS.index(END)
