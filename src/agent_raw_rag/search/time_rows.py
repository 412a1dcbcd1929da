"""How people name times in a question: rows of a pattern and what it means. Pure: now is an argument."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agent_raw_rag.search.dates import stretch
from agent_raw_rag.search.spans import (
    ENGLISH_NUMBERS,
    GERMAN_NUMBERS,
    HAN_NUMBERS,
    Span,
    ago,
    date,
    day,
    lately,
    month,
    months_back,
    number,
    part,
    unit_of,
    week,
    year,
)  # fmt: skip

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_GERMAN_MONTHS = ("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
                  "november", "dezember")  # fmt: skip
_GERMAN_DAYS = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")


@dataclass(frozen=True, slots=True)
class Row:
    """One way to name a time."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], datetime], Span | None]
    """None: the words name no time after all."""
    relative: bool = True
    """Said from the day of the question: what was said back then has other words for it, so they are no terms to look for."""


def _english(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./-])(?:{pattern})(?![\w/-]|\.\w)", re.IGNORECASE)


_COUNT = r"(\d{1,3}|a couple of|couple of|a few|few|an?|" + "|".join(ENGLISH_NUMBERS) + ")"
_UNIT = r"(hour|day|week|month|year)s?"
_SHORT = r"(" + "|".join(rf"{name[:3]}{f'(?:{name[3:]})?' if name[3:] else ''}" for name in _MONTHS) + r"|sept)\.?"
_LONG = "(" + "|".join(_MONTHS) + ")"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? ((?:19|20)\d\d))"


def _month_number(name: str) -> int:
    return next(place for place, one in enumerate(_MONTHS, 1) if one.startswith(name.lower()[:3]))


def _at(text: str | None) -> int | None:
    return int(text) if text else None


def _named_day(found: re.Match[str], now: datetime, name: int, number_: int, at: int) -> Span | None:
    if found[name].lower() in ("may", "mar", "march") and found[name].islower() and not found[at]:
        return None  # "may 3 of them fail"
    return date(int(found[number_]), _month_number(found[name]), _at(found[at]), now)


ENGLISH = (
    Row(_english(r"(?:the )?day before yesterday"), lambda _, now: day(2, now)),
    Row(_english(r"yesterday (morning|afternoon|evening|night)"), lambda m, now: part(1, m[1].lower(), now)),
    Row(_english(r"last night"), lambda _, now: part(1, "night", now)),
    Row(_english(r"this (morning|afternoon|evening)"), lambda m, now: part(0, m[1].lower(), now)),
    Row(_english(r"(?:earlier )?(today|yesterday)"), lambda m, now: stretch(m[1], now)),
    Row(_english(rf"{_COUNT} {_UNIT} ago"), lambda m, now: ago(number(m[1].lower()), m[2][0].lower(), now)),
    Row(
        _english(rf"(?:in |over |during |within )?the (?:last|past) {_COUNT} {_UNIT}"),
        lambda m, now: lately(number(m[1].lower()), m[2][0].lower(), now),
    ),
    Row(_english(r"(?:in |over |during )?(?:the )?past (week|month|year)"), lambda m, now: lately(1, m[1][0].lower(), now)),
    Row(_english(r"(?:earlier )?((?:this|last) (?:week|month|year))"), lambda m, now: stretch(m[1], now)),
    Row(_english(rf"(?:last|on|since|this past) ({'|'.join(_DAYS)})"), lambda m, now: stretch(m[1], now)),
    Row(_english(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})"), lambda m, now: date_or_none(m, now), relative=False),
    Row(_english(rf"{_SHORT} {_DAY}{_YEAR}?"), lambda m, now: _named_day(m, now, 1, 2, 3), relative=False),
    Row(_english(rf"{_DAY} (?:of )?{_SHORT}{_YEAR}?"), lambda m, now: _named_day(m, now, 2, 1, 3), relative=False),
    Row(_english(rf"{_SHORT}{_YEAR}"), lambda m, now: month(_month_number(m[1]), int(m[2]), now), relative=False),
    Row(
        _english(rf"(?:in|during|since|early|late|mid|last) {_LONG}"),
        lambda m, now: month(_month_number(m[1]), None, now), relative=False,
    ),
    Row(_english(r"(?:in|during|since) ((?:19|20)\d\d)"), lambda m, now: year(int(m[1]), now), relative=False),
    Row(_english(r"(?:in|during|since) (\d{4})-(\d{2})"), lambda m, now: month(int(m[2]), int(m[1]), now), relative=False),
)  # fmt: skip


def date_or_none(found: re.Match[str], now: datetime) -> Span | None:
    """Year, month, day in digits."""
    month_number = int(found[2])
    return date(int(found[3]), month_number, int(found[1]), now) if 1 <= month_number <= 12 else None


_VOR = "(" + "|".join((r"\d{1,3}", "einem", "einer", *GERMAN_NUMBERS[1:])) + ")"
GERMAN = (
    Row(_english(r"vorgestern"), lambda _, now: day(2, now)),
    Row(_english(r"gestern"), lambda _, now: day(1, now)),
    Row(_english(r"heute"), lambda _, now: day(0, now)),
    Row(
        _english(rf"vor {_VOR} (stunde|tag|woche|monat|jahr)e?n?"),
        lambda m, now: ago(number(m[1].lower()), unit_of(m[2].lower()), now),
    ),
    Row(_english(r"(?:letzte|vorige)[nrs]? (woche|monat|jahr)"), lambda m, now: _calendar(m[1], 1, now)),
    Row(_english(r"diese[nrsm]? (woche|monat|jahr)"), lambda m, now: _calendar(m[1], 0, now)),
    Row(
        _english(rf"(?:letzten|am|seit) ({'|'.join(_GERMAN_DAYS)})"),
        lambda m, now: stretch(_DAYS[_GERMAN_DAYS.index(m[1].lower())], now),
    ),
    Row(
        _english(rf"(?:im|seit) ({'|'.join(_GERMAN_MONTHS)})(?: (20\d\d))?"),
        lambda m, now: month(_GERMAN_MONTHS.index(m[1].lower()) + 1, _at(m[2]), now), relative=False,
    ),
)  # fmt: skip


def _calendar(name: str, back: int, now: datetime) -> Span | None:
    unit = unit_of(name.lower())
    if unit == "w":
        return week(back, now)
    return months_back(back, now) if unit == "m" else year(now.year - back, now)


_NUM = rf"(\d{{1,3}}|兩|两|[{HAN_NUMBERS}]{{1,3}})"
_WEEK = "(?:週|周|星期|禮拜|礼拜)(?![期邊边圍围])"
_BACK = {"上上": 2, "上": 1, "這": 0, "这": 0, "本": 0, "先": 1, "今": 0, "지난": 1, "이번": 0}
_WEEKDAY = "一二三四五六日"
DENSE = (
    Row(re.compile("大前天"), lambda _, now: day(3, now)),
    Row(re.compile("前天|一昨日|おととい|그저께"), lambda _, now: day(2, now)),
    Row(re.compile("昨晚|昨夜"), lambda _, now: part(1, "night", now)),
    Row(re.compile("昨天|昨日|きのう|어제"), lambda _, now: day(1, now)),
    Row(re.compile("今早|今晨|今天早上|今天上午"), lambda _, now: part(0, "morning", now)),
    Row(re.compile("今天|今日|きょう|오늘"), lambda _, now: day(0, now)),
    Row(
        re.compile(rf"{_NUM}\s?(?:個|个)?(天|日|週|周|星期|禮拜|礼拜|小時|小时|時間|年)(?:以|之)?前"),
        lambda m, now: ago(number(m[1]), unit_of(m[2]), now),
    ),
    Row(re.compile(rf"{_NUM}\s?(?:個|个|か|ヶ)月(?:以|之)?前"), lambda m, now: ago(number(m[1]), "m", now)),
    Row(
        re.compile(rf"(?:最近|過去|过去)的?{_NUM}\s?(?:個|个)?(天|日|週|周|星期|小時|小时|月|年)"),
        lambda m, now: lately(number(m[1]), unit_of(m[2]), now),
    ),
    Row(
        re.compile(rf"(上上|上|這|这|本)(?:個|个)?{_WEEK}([{_WEEKDAY}天])?"),
        lambda m, now: week(_BACK[m[1]], now, _WEEKDAY.index("日" if m[2] == "天" else m[2]) if m[2] else None),
    ),
    Row(re.compile("(先|今)週"), lambda m, now: week(_BACK[m[1]], now)),
    Row(re.compile("(지난|이번)\\s?주"), lambda m, now: week(_BACK[m[1]], now)),
    Row(re.compile("(上上|上|這|这|本)(?:個|个)月"), lambda m, now: months_back(_BACK[m[1]], now)),
    Row(re.compile("(上|本|先|今)月"), lambda m, now: months_back(_BACK[m[1]], now)),
    Row(re.compile("(지난|이번)\\s?달"), lambda m, now: months_back(_BACK[m[1]], now)),
    Row(re.compile("前年"), lambda _, now: year(now.year - 2, now)),
    Row(re.compile("去年|昨年"), lambda _, now: year(now.year - 1, now)),
    Row(re.compile("今年"), lambda _, now: year(now.year, now)),
    Row(
        re.compile(rf"(?<![\d{HAN_NUMBERS}])(?:(\d{{4}})年)?(\d{{1,2}}|[{HAN_NUMBERS}]{{1,2}})月(?:(\d{{1,2}}|[{HAN_NUMBERS}]{{1,3}})[日號号])?"),
        lambda m, now: date(number(m[3]), number(m[2]), _at(m[1]), now) if m[3] else month(number(m[2]), _at(m[1]), now),
        relative=False,
    ),
)  # fmt: skip
ROWS = (*ENGLISH, *GERMAN, *DENSE)
"""The first that fits a place in the query has it."""
