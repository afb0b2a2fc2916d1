"""All that the model is to know: the families of the pool, and what else may be said in a conversation."""

from __future__ import annotations

from shakedown.serving.tasks import CONVERSATION, FAMILIES
from shakedown.serving.tasks.item import Family

ALL: dict[str, Family] = {**FAMILIES, **CONVERSATION}
"""By name, the pool first."""
