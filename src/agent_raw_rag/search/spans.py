"""Stretches of time by the calendar, as questions mean them. Pure: now, with the user's zone, is an argument.

The date filters' own reading (``dates``) is used wherever it knows the words.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from agent_raw_rag.search.dates import day_after, stretch

Span = tuple[datetime, datetime]
"""First instant and the first one after it."""

ENGLISH_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
GERMAN_NUMBERS = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf")
HAN_NUMBERS = "一二三四五六七八九十"
_UNITS = {
    "h": ("hour", "stunde", "小時", "小时", "時間"), "d": ("day", "tag", "天", "日"),
    "w": ("week", "woche", "週", "周", "星期", "禮拜", "礼拜"), "m": ("month", "monat", "月"), "y": ("year", "jahr", "年"),
}  # fmt: skip
_NUMBERS = {
    **{word: n for n, word in enumerate(ENGLISH_NUMBERS, 1)},
    **{word: n for n, word in enumerate(GERMAN_NUMBERS, 1)},
    "a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "einem": 1, "einer": 1,
    "兩": 2, "两": 2,
}  # fmt: skip
_RANGES = {"w": (3, 4), "m": (15, 16)}
"""Days before and after the day that is meant by so many weeks or months ago."""
_PARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
"""Hours of a day; the night ends on the next one."""


def day(back: int, now: datetime) -> Span:
    """The day so many days ago."""
    return day_after(now, -back), day_after(now, 1 - back)


def ago(count: int, unit: str, now: datetime) -> Span:
    """So many hours, days, weeks, months or years ago: the more, the less exactly it is meant."""
    if unit == "h":
        moment = now - timedelta(hours=count)
        return moment - timedelta(hours=1), moment + timedelta(hours=1)
    if unit == "y":
        return year(now.year - count, now)
    middle, _ = stretch(f"{count}{unit}", now)
    before, after = _RANGES.get(unit, (0, 1))
    return day_after(middle, -before), day_after(middle, after)


def lately(count: int, unit: str, now: datetime) -> Span:
    """The last so many hours, days, weeks, months or years, up to now."""
    return stretch(f"{count}{unit}", now)[0], now


def week(back: int, now: datetime, weekday: int | None = None) -> Span:
    """A week so many weeks ago, or one day of it (Monday is 0)."""
    monday = day_after(now, -now.weekday() - 7 * back)
    if weekday is not None:
        return day_after(monday, weekday), day_after(monday, weekday + 1)
    return monday, day_after(monday, 7)


def month(number: int, at: int | None, now: datetime) -> Span | None:
    """The month of a year; without a year the last one that has begun."""
    if not 1 <= number <= 12:
        return None
    chosen = at if at is not None else now.year - (number > now.month)
    return stretch(f"{chosen:04}-{number:02}", now)


def months_back(back: int, now: datetime) -> Span | None:
    """A month so many months ago."""
    whole = now.year * 12 + now.month - 1 - back
    return month(whole % 12 + 1, whole // 12, now)


def date(day_number: int, month_number: int, at: int | None, now: datetime) -> Span | None:
    """A day of a month; without a year the last one that has begun."""
    chosen = at if at is not None else now.year - ((month_number, day_number) > (now.month, now.day))
    try:
        return stretch(datetime(chosen, month_number, day_number).date().isoformat(), now)  # noqa: DTZ001
    except ValueError:
        return None


def year(number: int, now: datetime) -> Span:
    """A whole year."""
    return stretch(f"{number:04}-01", now)[0], stretch(f"{number:04}-12", now)[1]


def part(back: int, name: str, now: datetime) -> Span:
    """The morning, afternoon, evening or night of the day so many days ago."""
    start, _ = day(back, now)
    first, last = _PARTS[name]
    end = day_after(start, last // 24)
    return start.replace(hour=first), end.replace(hour=last % 24)


def number(word: str) -> int:
    """A count in digits, in words or in Han numerals below a hundred; 0 if it is none."""
    if word.isdecimal():
        return int(word)
    if word in _NUMBERS:
        return _NUMBERS[word]
    tens, ten, ones = word.rpartition("十")
    unit = HAN_NUMBERS.find(ones) + 1 if ones else 0
    return (10 * (HAN_NUMBERS.find(tens) + 1 or 1) if ten else 0) + unit


def unit_of(word: str) -> str:
    """The letter of a unit of time, in any of the languages."""
    return next(letter for letter, names in _UNITS.items() if any(word.startswith(name) for name in names))
