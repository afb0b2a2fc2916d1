"""When a line was written, by the stamp that it begins with."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_STAMP = re.compile(
    r"(?:\([^()]{1,80}\) *){0,3}[\[{]?(?:\"(?:timestamp|time|asctime)\": *\")?(?:[A-Z]{4,8}:? +)?\[?"
    r"(?:(?P<year>\d{4})-)?(?P<month>\d\d)-(?P<day>\d\d)[ T](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
    r"(?:[.,](?P<fraction>\d{1,9}))?(?P<zone>Z|[+-]\d\d:?\d\d)?(?!\d)"
)
"""vLLM ``(APIServer pid=7) INFO 12-01 12:00:00 [...]``, Ray ``[2026-12-01 12:00:00,123 I 7 7]``, Python's logging
``2026-12-01 12:00:00,123 ...``, and RFC 3339."""

_NEXT_YEAR = timedelta(days=2)
"""A stamp without a year that would lie further ahead than clocks go wrong is of the year before."""


def stamp_of(text: str, zone_s: float, now: float) -> float | None:
    """Seconds since the epoch on the clock of whoever wrote it; None for a line without a stamp.

    Args:
        text: the line.
        zone_s: what local time there is ahead of UTC, s; a stamp that names its own zone does not need it.
        now: about now, for the year, which vLLM leaves out.
    """
    match = _STAMP.match(text)
    if match is None:
        return None
    zone = timezone(timedelta(seconds=zone_s))
    today = datetime.fromtimestamp(now, zone)
    try:
        at = _dated(match, int(match["year"] or today.year), _zone(match["zone"], zone))
        if match["year"] is None and at - today > _NEXT_YEAR:
            at = _dated(match, today.year - 1, zone)
    except ValueError:
        return None
    return at.timestamp()


def _dated(match: re.Match[str], year: int, zone: timezone) -> datetime:
    month, day, hour, minute, second = (int(match[part]) for part in ("month", "day", "hour", "minute", "second"))
    microsecond = int((match["fraction"] or "0").ljust(6, "0")[:6])
    return datetime(year, month, day, hour, minute, second, microsecond, zone)


def _zone(text: str | None, local: timezone) -> timezone:
    if text is None:
        return local
    if text == "Z":
        return timezone(timedelta(0))
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
