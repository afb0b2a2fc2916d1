"""A log line by which a fault shows itself, as an entry of the catalogue declares it."""

from __future__ import annotations

import re
from string import Formatter
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Kind = Literal["root", "suspect", "consequence", "hint"]

_META = frozenset(r".^$*+?{}[]|()\\")


class Signature(BaseModel):
    """One line of a log, and how much it says.

    Attributes:
        pattern: regular expression that is searched for in a line. A group named ``ip`` holds the address of the node
            that the line is about, where that is another one than the node it was written on.
        kind: ``root``: the launch has failed, and this is why. ``suspect``: this is why, if there are other signs of a
            failure; alone it may mean nothing (the kernel has killed some process). ``consequence``: the launch has
            failed, and the reason stands elsewhere. ``hint``: healthy launches have such lines, too; it is named beside
            a verdict, and explains a standstill that nothing else explains.
        word: a literal that every matching line contains; a log is sifted by it. Not needed where the pattern is one.
        unless: regular expression of lines that match and do not count.
        streams: logs in which the line is believed; empty for all. They are named as `LogLine.stream` names them.
        reaction: the line may be somebody's answer to a failure (`ray stop` in a script that cleans up), so it explains
            no consequence that was written before it.
        elsewhere: in the head's logs the line is about a process that may be on any node: other lines of the same fault
            say on which.
        rank: which of two lines of the same two seconds tells more: the lower one. 0 unless there is a reason.
        says: what the line tells beyond the entry, with named groups of the pattern in braces.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pattern: Text
    kind: Kind
    word: str = ""
    unless: Text | None = None
    streams: tuple[Text, ...] = ()
    reaction: bool = False
    elsewhere: bool = False
    rank: int = 0
    says: Text | None = None

    @property
    def literal(self) -> str:
        """What every matching line contains."""
        return self.word or self.pattern

    @model_validator(mode="after")
    def _is_usable(self) -> Signature:
        groups = re.compile(self.pattern).groupindex
        if not self.word and _META & set(self.pattern):
            raise ValueError(f"{self.pattern!r} is no literal: name a word that every matching line contains")
        if self.word not in re.sub(r"\\(\W)", r"\1", self.pattern):
            raise ValueError(f"the word {self.word!r} is not in the pattern {self.pattern!r}")
        named = {field for _, field, _, _ in Formatter().parse(self.says or "") if field is not None}
        if missing := named - set(groups):
            raise ValueError(f"says names {', '.join(sorted(missing))}: no such group in {self.pattern!r}")
        return self
