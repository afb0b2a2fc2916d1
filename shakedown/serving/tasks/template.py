"""A phrasing that can be rendered and matched backwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Template:
    """A text with ``{slots}``; a slot that stands twice must hold the same value at both places.

    Attributes:
        name: unique within its family.
        text: the phrasing.
        slots: for every slot the regular expression of its values.
    """

    name: str
    text: str
    slots: Mapping[str, str]

    def render(self, values: Mapping[str, object]) -> str:
        """The phrasing with every slot filled."""
        return _SLOT.sub(lambda slot: str(values[slot[1]]), self.text)

    def match(self, text: str) -> dict[str, str] | None:
        """The values that make exactly this text, or None."""
        found = self._pattern.fullmatch(text)
        return found.groupdict() if found else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pattern, position, seen = "", 0, set[str]()
        for slot in _SLOT.finditer(self.text):
            name = slot[1]
            pattern += re.escape(self.text[position : slot.start()])
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{self.slots[name]})"
            seen.add(name)
            position = slot.end()
        return re.compile(pattern + re.escape(self.text[position:]), re.DOTALL)


def templates(slots: Mapping[str, str], **texts: str) -> dict[str, Template]:
    """Templates by name (underscores become hyphens) that share their slots."""
    return {name: Template(name, text, slots) for name, text in ((k.replace("_", "-"), t) for k, t in texts.items())}


def first_match(candidates: Iterable[Template], text: str) -> tuple[Template, dict[str, str]] | None:
    """The first template that makes this text, with the values."""
    for template in candidates:
        values = template.match(text)
        if values is not None:
            return template, values
    return None
