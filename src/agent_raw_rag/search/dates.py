"""Date filters as people and agents write them, in the user's time zone. Pure: now and zone are arguments.

A day given as the lower bound begins at its midnight; given as the upper bound it ends at the next one (inclusive).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from agent_raw_rag.errors import UsageError
from agent_raw_rag.models import Millis

_AGO = re.compile(r"(\d{1,4})\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)(?:\s+ago)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"\d{4}-\d{2}")
_YEAR = re.compile(r"\d{4}")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HINT = (
    "Use a date (2026-11-30), a month (2026-11), a year (2026), an instant (2026-11-30T14:00+01:00), or words: now, today, "
    "yesterday, 7d, 3 weeks ago, this week, last week, this month, last month, monday, last friday."
)


def instant(text: str, *, now: datetime, upper: bool) -> Millis:
    """The bound that a date filter means, in ms since 1970 UTC. ``now`` carries the user's zone.

    ``upper`` asks for the first instant after the stretch of time named, else for its first one.

    Raises:
        UsageError: the text names no time.
    """
    raw = text.strip()
    try:
        start, end = _stretch(raw.lower(), raw, now)
        return int((end if upper else start).timestamp() * 1000)
    except (ValueError, OverflowError):  # a day at the rim of the calendar, beyond it in another zone
        raise UsageError(f"{raw!r} is out of range.", hint=_HINT) from None


def stretch(text: str, now: datetime) -> tuple[datetime, datetime]:
    """First instant of a stretch of time and the first after it. Raises as ``instant``."""
    return _stretch(text.strip().lower(), text.strip(), now)


def day_after(day: datetime, days: int) -> datetime:
    """The midnight so many days after the one that begins a day, or before it."""
    return _plus(_midnight(day), days)


def _stretch(text: str, raw: str, now: datetime) -> tuple[datetime, datetime]:
    found = _named(text, now) or _ago(text, now) or _weekday(text, now) or _absolute(raw, now)
    if found is None:
        raise UsageError(f"{raw!r} is no date.", hint=_HINT)
    return found


def _named(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    today = _midnight(now)
    week = _plus(today, -today.weekday())
    month = today.replace(day=1)
    before = _midnight(month - timedelta(days=1)).replace(day=1)
    return {
        "now": (now, now),
        "today": (today, _plus(today, 1)),
        "yesterday": (_plus(today, -1), today),
        "this week": (week, _plus(week, 7)),
        "last week": (_plus(week, -7), week),
        "this month": (month, _next_month(month)),
        "last month": (before, month),
        "this year": (_of(now, now.year), _of(now, now.year + 1)),
        "last year": (_of(now, now.year - 1), _of(now, now.year)),
    }.get(text)


def _ago(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    found = _AGO.fullmatch(text)
    if found is None:
        return None
    count, unit = int(found[1]), found[2][0]
    if unit == "h":
        moment = now - timedelta(hours=count)
        return moment, moment
    days = {"d": count, "w": 7 * count, "m": 30 * count, "y": 365 * count}[unit]
    day = _plus(_midnight(now), -days)
    return day, _plus(day, 1)


def _weekday(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    name = text.removeprefix("last ")
    if name not in _WEEKDAYS:
        return None
    today = _midnight(now)
    back = (today.weekday() - _WEEKDAYS.index(name)) % 7 or 7
    return _plus(today, -back), _plus(today, 1 - back)


def _absolute(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    try:
        if _DAY.fullmatch(text):
            day = _local(datetime.fromisoformat(text), now.tzinfo)
            return day, _plus(day, 1)
        if _MONTH.fullmatch(text):
            month = _local(datetime.fromisoformat(f"{text}-01"), now.tzinfo)
            return month, _next_month(month)
        if _YEAR.fullmatch(text):
            return _of(now, int(text)), _of(now, int(text) + 1)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else _local(moment, now.tzinfo)
    return moment, moment


def _midnight(moment: datetime) -> datetime:
    return _local(datetime(moment.year, moment.month, moment.day), moment.tzinfo)  # noqa: DTZ001


def _plus(day: datetime, days: int) -> datetime:
    """A midnight so many days later: by the calendar, so that days of 23 and 25 hours count as one."""
    return _local(day.replace(tzinfo=None) + timedelta(days=days), day.tzinfo)


def _next_month(month: datetime) -> datetime:
    return _midnight(month + timedelta(days=32)).replace(day=1)


def _of(now: datetime, year: int) -> datetime:
    return _local(datetime(year, 1, 1), now.tzinfo)  # noqa: DTZ001


def _local(naive: datetime, zone: tzinfo | None) -> datetime:
    """The instant of a wall-clock time in the user's zone. With no named zone, the system's own rules of that day."""
    return naive.replace(tzinfo=zone) if zone is not None else naive.astimezone()
