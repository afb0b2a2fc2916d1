"""Time by the stamps of a log: one second fine, without a year."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_STAMP = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d")
_LEAP_YEAR = 2000
_NEW_YEAR = timedelta(days=180)
_EPOCH = datetime(_LEAP_YEAR, 1, 1)  # noqa: DTZ001 - the log names no zone


class Stamps:
    """Follows the stamps of a log. A line without one counts as written at the last stamp before it.

    Lines of a worker on another node carry that node's clock, and streams of two processes interleave: time never runs
    backwards here.
    """

    def __init__(self) -> None:
        self._now: datetime | None = None
        self._passed: re.Match[str] | None = None

    @property
    def now_s(self) -> float | None:
        """Seconds since a moment that is the same for the whole log; None before the first stamp."""
        if self._passed is not None:
            passed, self._passed = self._passed[0], None
            self.read(passed)
        return None if self._now is None else (self._now - _EPOCH).total_seconds()

    def passes(self, text: str) -> None:
        """Take in a line of no interest, for its stamp alone; it is read when it is needed."""
        self._passed = _STAMP.search(text) or self._passed

    def read(self, stamp: str) -> None:
        """Take in ``MM-DD HH:MM:SS``; one that is no time is passed over."""
        year = self._now.year if self._now else _LEAP_YEAR
        try:
            at = _dated(stamp, year)
            if self._now is not None and self._now - at > _NEW_YEAR:
                at = _dated(stamp, year + 1)
        except ValueError:
            return
        self._now = at if self._now is None else max(at, self._now)


def _dated(stamp: str, year: int) -> datetime:
    return datetime.strptime(f"{year:04d}-{stamp}", "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - the log names no zone
