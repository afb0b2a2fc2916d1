"""Generated tasks with exact keys: the one pool that the suite asks from and the simulator answers from."""

from shakedown.serving.tasks.item import Answer, Item, MaxTokens, Miss, ToolCall, Verdict
from shakedown.serving.tasks.pool import CONVERSATION, FAMILIES, generate, grade, recognise, respond, solve

__all__ = [
    "CONVERSATION",
    "FAMILIES",
    "Answer",
    "Item",
    "MaxTokens",
    "Miss",
    "ToolCall",
    "Verdict",
    "generate",
    "grade",
    "recognise",
    "respond",
    "solve",
]
