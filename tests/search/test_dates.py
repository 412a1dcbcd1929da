"""Date filters in the user's zone."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from agent_raw_rag.errors import UsageError
from agent_raw_rag.search.dates import instant
from agent_raw_rag.search.zone import SYSTEM_ZONE

ZONES = ("UTC", "Asia/Taipei", "America/New_York")


def bounds(text: str, zone: str = "UTC", now: str = "2026-11-30T10:00") -> tuple[str, str]:
    tz = ZoneInfo(zone)
    moment = datetime.fromisoformat(now).replace(tzinfo=tz)
    found = (instant(text, now=moment, upper=upper) for upper in (False, True))
    first, last = (datetime.fromtimestamp(ms / 1000, tz).isoformat(timespec="minutes") for ms in found)
    return first, last


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-11-05", "2026-11-05T00:00", "2026-11-06T00:00"),
        ("2026-11", "2026-11-01T00:00", "2026-12-01T00:00"),
        ("2026", "2026-01-01T00:00", "2027-01-01T00:00"),
        ("2027", "2027-01-01T00:00", "2028-01-01T00:00"),
        ("today", "2026-11-30T00:00", "2026-12-01T00:00"),
        ("Yesterday", "2026-11-29T00:00", "2026-11-30T00:00"),
        ("7d", "2026-11-23T00:00", "2026-11-24T00:00"),
        ("3 weeks ago", "2026-11-09T00:00", "2026-11-10T00:00"),
        ("last week", "2026-11-23T00:00", "2026-11-30T00:00"),
        ("this month", "2026-11-01T00:00", "2026-12-01T00:00"),
        ("last month", "2026-10-01T00:00", "2026-11-01T00:00"),
        ("last friday", "2026-11-27T00:00", "2026-11-28T00:00"),
        ("monday", "2026-11-23T00:00", "2026-11-24T00:00"),
        ("2026-11-05T14:30", "2026-11-05T14:30", "2026-11-05T14:30"),
        ("2h", "2026-11-30T08:00", "2026-11-30T08:00"),
    ],
)
@pytest.mark.parametrize("zone", ZONES)
def test_words_and_dates_mean_days_of_the_users_zone(text: str, first: str, last: str, zone: str) -> None:
    start, end = bounds(text, zone)
    assert (start[:16], end[:16]) == (first, last)


def test_an_instant_with_an_offset_is_that_instant() -> None:
    assert bounds("2026-11-05T14:30+08:00")[0] == "2026-11-05T06:30+00:00"


def test_a_day_of_the_clock_change_has_its_own_length() -> None:
    start, end = bounds("2026-11-01", "America/New_York")
    assert (start, end) == ("2026-11-01T00:00-04:00", "2026-11-02T00:00-05:00")
    assert bounds("30d", "America/New_York")[0] == "2026-10-31T00:00-04:00"


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-45",
        "2026/10/05",
        "soon",
        "",
        "-1d",
        "99999999d",
        "last someday",
        "2026-02-30",
        "0d x",
        "20",
        "20261",
        "0000",
    ],
)
def test_what_is_no_date_is_refused_with_the_ways_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="Use a date"):
        bounds(text)


@pytest.mark.parametrize(
    "text", ["0001-01-01", "0001-01", "0001", "9999", "9999-12-31", "9999-12", "0001-01-01T00:00+14:00", "9999y"]
)
@pytest.mark.parametrize("zone", ["Asia/Taipei", "America/New_York", None])
def test_a_day_at_the_rim_of_the_calendar_is_a_bound_or_refused(text: str, zone: str | None) -> None:
    now = datetime.fromisoformat("2026-11-30T10:00").replace(tzinfo=ZoneInfo(zone) if zone else SYSTEM_ZONE)
    for upper in (False, True):
        with suppress(UsageError):
            instant(text, now=now, upper=upper)
