"""Times that a query names: a preference, never a filter."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from time import tzset
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.config import Settings
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.question import question
from agent_raw_rag.search.time_words import times_in
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.store.reader import Scope

TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=TAIPEI)
"""A Monday."""


def said(query: str, now: datetime = NOW) -> str:
    return ", ".join(str(one.stretch) for one in times_in(query, now))


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("what did we decide last week", "2026-11-23 … 2026-11-29"),
        ("the bug of yesterday", "2026-11-29"),
        ("Yesterday morning's deploy", "2026-11-29 00:00 … 2026-11-29 12:00"),
        ("yesterday morning we deployed", "2026-11-29 00:00 … 2026-11-29 12:00"),
        ("the day before yesterday", "2026-11-28"),
        ("two days ago", "2026-11-28"),
        ("a couple of days ago", "2026-11-28"),
        ("3 hours ago", "2026-11-30 06:00 … 2026-11-30 08:00"),
        ("two weeks ago", "2026-11-13 … 2026-11-19"),
        ("in the last 3 days", "2026-11-27 00:00 … 2026-11-30 10:00"),
        ("last Monday", "2026-11-23"),
        ("what broke on friday", "2026-11-27"),
        ("since friday", "2026-11-27 00:00 … 2026-11-30 10:00"),
        ("this morning", "2026-11-30 00:00 … 2026-11-30 12:00"),
        ("last night", "2026-11-29 18:00 … 2026-11-30 06:00"),
        ("this month", "2026-11-01 … 2026-11-30"),
        ("last year", "2025-01-01 … 2025-12-31"),
        ("in March", "2026-03-01 … 2026-03-31"),
        ("in 2025", "2025-01-01 … 2025-12-31"),
        ("in 2025-03", "2025-03-01 … 2025-03-31"),
        ("in December", "2025-12-01 … 2025-12-31"),
        ("March 2025", "2025-03-01 … 2025-03-31"),
        ("since March", "2026-03-01 00:00 … 2026-11-30 10:00"),
        ("on 2026-05-03", "2026-05-03"),
        ("on 2026/5/3", "2026-05-03"),
        ("May 3rd, 2026", "2026-05-03"),
        ("the 3rd of May", "2026-05-03"),
        ("yesterday or last friday", "2026-11-29, 2026-11-27"),
        ("letzte Woche", "2026-11-23 … 2026-11-29"),
        ("vor zwei Tagen", "2026-11-28"),
        ("im März", "2026-03-01 … 2026-03-31"),
        ("昨天的重試", "2026-11-29"),
        ("上週決定了什麼", "2026-11-23 … 2026-11-29"),
        ("上周三", "2026-11-25"),
        ("三天前", "2026-11-27"),
        ("兩個星期前", "2026-11-13 … 2026-11-19"),
        ("五月的部署", "2026-05-01 … 2026-05-31"),
        ("2026年5月3日", "2026-05-03"),
        ("上個月", "2026-10-01 … 2026-10-31"),
        ("先週のバグ", "2026-11-23 … 2026-11-29"),
        ("지난주 회의", "2026-11-23 … 2026-11-29"),
    ],
)
def test_a_time_is_read_in_the_users_zone(query: str, meant: str) -> None:
    assert said(query) == meant


@pytest.mark.parametrize(
    "query",
    [
        "why did we drop the retry",
        'the "last week" column',
        "the `yesterday` key",
        "TypeError: yesterday is not defined",
        "what is in yesterday.md",
        "notes/today.txt",
        "may 3 of them fail",
        "we march on",
        "this may break",
        "本周期的任務",
        "before March 2026",
        "until yesterday",
        "三天以前之後",
        "2026-13-40",
        "2026-02-30",
        "report-2026-05-03.md",
        "5000 years ago",
    ],
)
def test_what_is_quoted_or_named_or_impossible_is_no_time(query: str) -> None:
    assert said(query) == ""


def test_the_same_words_mean_another_day_in_another_zone() -> None:
    moment = datetime.fromisoformat("2026-11-30T00:30+00:00")
    assert said("yesterday", moment.astimezone(ZoneInfo("America/New_York"))) == "2026-11-28"
    assert said("yesterday", moment.astimezone(TAIPEI)) == "2026-11-29"


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Taipei"])
def test_the_first_and_the_last_day_of_the_calendar_are_no_times(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program's zero time, pasted: west of Greenwich its midnight lies before the calendar."""
    monkeypatch.setenv("TZ", zone)
    tzset()
    try:
        for query in ("got 0001-01-01 00:00:00 +0000 UTC", "until 9999-12-31 or 9999-12-31"):
            for one in times_in(query, NOW.replace(tzinfo=SYSTEM_ZONE)):
                assert one.stretch.bounds
    finally:
        monkeypatch.undo()
        tzset()


@given(st.text(max_size=60))
def test_any_text_is_read_and_every_stretch_has_a_length(query: str) -> None:
    assert all(start < end for start, end in (one.stretch.bounds for one in times_in(query, NOW)))


def words(query: str, *, heard: bool = True) -> str:
    return " ".join(term.text for term in question(query, Settings().search, NOW, lambda _: heard).terms)


def test_what_is_said_from_today_is_no_word_to_look_for_and_a_month_is() -> None:
    assert words("auth last week") == "auth"
    assert words("auth in March") == "auth march"
    assert words("三天前的重試") == words("的重試")


def test_of_a_time_that_nothing_was_said_in_the_words_are_words() -> None:
    assert words("auth last week", heard=False) == "auth last week"


def test_a_query_of_nothing_but_a_time_keeps_its_words() -> None:
    assert words("yesterday") == "yesterday"


# ------------------------------------------------------------ in the funnel


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=TAIPEI).timestamp() * 1000)


@pytest.fixture
def funnel(tmp_path: Path) -> Funnel:
    store = Stored(tmp_path)
    for name, time in (("old", "2026-05-03T12:00"), ("week", "2026-11-25T12:00"), ("timeless", "")):
        moment = at(time) if time else None
        store.add_session(name, [(Role.USER, f"the uploader retry was decided: {name}", moment)])
    store.index(lambda: None)
    return Funnel(store.home, lambda: store.reader, lambda: None, Settings().search, now=lambda: NOW)


def names(funnel: Funnel, query: str, **switches: object) -> list[str]:
    funnel.settings = Settings().search.model_copy(update=switches)
    reader = funnel.reader()
    ranking, chunks = funnel.rank(query, Scope(), reader)
    rows = reader.session_rows(chunk.session_id for chunk in chunks.values())
    return [rows[chunks[chunk_id].session_id].native for chunk_id, _ in ranking.order]


def test_what_was_said_in_the_time_comes_first_and_the_rest_stays(funnel: Funnel) -> None:
    assert names(funnel, "uploader retry last week")[0] == "week"
    assert names(funnel, "uploader retry in May")[0] == "old"
    assert sorted(names(funnel, "uploader retry last week")) == ["old", "timeless", "week"]


def test_a_time_changes_nothing_when_it_is_switched_off(funnel: Funnel) -> None:
    plain = names(funnel, "uploader retry", time_words=False)
    assert names(funnel, "uploader retry last week", time_words=False) == plain


def test_the_answer_says_which_time_was_preferred(funnel: Funnel) -> None:
    ranking, _ = funnel.rank("uploader retry last week", Scope(), funnel.reader())
    assert "time: 2026-11-23 … 2026-11-29 preferred" in ranking.stages


def test_a_time_that_nothing_was_said_in_is_named_and_changes_nothing(funnel: Funnel) -> None:
    ranking, _ = funnel.rank("uploader retry in July 2024", Scope(), funnel.reader())
    assert "time: nothing from 2024-07-01 … 2024-07-31" in ranking.stages
    assert names(funnel, "uploader retry in July 2024") == names(funnel, "uploader retry")


def test_a_time_outside_of_the_filters_changes_nothing(funnel: Funnel) -> None:
    reader = funnel.reader()
    scope = Scope(before=at("2026-06-01T00:00"))
    ranking, _ = funnel.rank("uploader retry last week", scope, reader)
    assert "time: nothing from 2026-11-23 … 2026-11-29" in ranking.stages and len(ranking.order) == 1


def test_a_query_of_nothing_but_a_time_finds_what_was_said_then(tmp_path: Path) -> None:
    store = Stored(tmp_path)
    store.add_session("week", [(Role.USER, "what we did: the uploader", at("2026-11-25T12:00"))])
    store.index(lambda: None)
    funnel = Funnel(store.home, lambda: store.reader, lambda: None, Settings().search, now=lambda: NOW)
    assert names(funnel, "what did we do last week") == ["week"]


def test_what_was_said_in_the_time_is_a_candidate_however_many_windows_are_better(tmp_path: Path) -> None:
    store = Stored(tmp_path)
    for number in range(12):
        store.add_session(
            f"old{number}", [(Role.USER, f"uploader retry uploader retry {number}", at("2026-05-03T12:00"))]
        )
    store.add_session("week", [(Role.USER, "the retry, among other things that were said", at("2026-11-25T12:00"))])
    store.index(lambda: None)
    funnel = Funnel(store.home, lambda: store.reader, lambda: None, Settings().search, now=lambda: NOW)
    assert "week" not in names(funnel, "uploader retry", candidates=4)
    assert "week" in names(funnel, "uploader retry last week", candidates=4)
