"""Days: counted in the user's zone, each turn once, whatever way the store is asked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_raw_rag.search.timeline import timeline
from agent_raw_rag.store.connection import Connection, connect, transaction
from agent_raw_rag.store.overview import Overview, Place
from agent_raw_rag.store.reader import Reader, Scope

ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Vienna", "Asia/Kathmandu", "America/St_Johns", "Asia/Taipei")]
BEGAN = int(datetime(2026, 3, 27, tzinfo=UTC).timestamp() * 1000)  # the clocks of Vienna change two days later
TIMES = st.integers(BEGAN, BEGAN + 5 * 86_400_000) | st.none()
SESSIONS = st.lists(st.tuples(st.sampled_from(["one", "two"]), st.lists(TIMES, max_size=6)), max_size=5)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    opened = connect(str(tmp_path / "raw_rag.db"), write=True)
    yield opened
    opened.close()


def fill(connection: Connection, sessions: list[tuple[str, list[int | None]]]) -> None:
    """Sessions of agents, with a live turn of seven tokens at each time, and nothing else."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('rewriting', '1')")
    for table in ("turns", "sessions"):
        connection.execute(f"DELETE FROM {table}")
    key = 0
    for number, (agent, times) in enumerate(sessions, 1):
        last = max((time for time in times if time is not None), default=None)
        connection.execute(
            "INSERT INTO sessions (id, agent, native, last, started, turns) VALUES (?, ?, ?, ?, ?, ?)",
            (number, agent, f"s{number}", last, last, len(times)),
        )
        for ordinal, time in enumerate(times, 1):
            key += 1
            connection.execute(
                """INSERT INTO turns (session_id, ordinal, exchange, role, time, text, text_hash, key, tokens)
                   VALUES (?, ?, 1, 'user', ?, 'x', x'', ?, 7)""",
                (number, ordinal, time, key.to_bytes(16, "big")),
            )
    connection.execute("DELETE FROM meta WHERE key = 'rewriting'")


@given(sessions=SESSIONS, zone=st.sampled_from(ZONES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_the_days_are_those_of_the_calendar(
    connection: Connection, sessions: list[tuple[str, list[int | None]]], zone: ZoneInfo
) -> None:
    with transaction(connection):
        fill(connection, sessions)
    naive: dict[tuple[str, str], tuple[set[int], int]] = {}
    for number, (agent, times) in enumerate(sessions):
        for time in times:
            if time is not None:
                day = datetime.fromtimestamp(time / 1000, zone).date().isoformat()
                members, turns = naive.get((day, agent), (set(), 0))
                naive[day, agent] = (members | {number}, turns + 1)
    found = timeline(Overview(Reader(connection)), Scope(), zone)
    assert {(day.day, day.agent): (day.sessions, day.turns, day.tokens) for day in found} == {
        key: (len(members), turns, 7 * turns) for key, (members, turns) in naive.items()
    }
    assert [day.day for day in found] == sorted(day.day for day in found)


@given(sessions=SESSIONS, limit=st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_sessions_page_by_page_are_all_sessions(
    connection: Connection, sessions: list[tuple[str, list[int | None]]], limit: int
) -> None:
    with transaction(connection):
        fill(connection, sessions)
    overview, found = Overview(Reader(connection)), []
    place: Place | None = None
    while page := overview.sessions(Scope(), limit, place):
        found += [facts.row.id for facts in page]
        place = Place(page[-1].row.last, page[-1].row.id)
    assert found == [facts.row.id for facts in overview.sessions(Scope(), 100)]
    assert sorted(found) == [number for number, (_, times) in enumerate(sessions, 1) if times]


def test_a_count_by_day_reads_no_turn_s_text(connection: Connection) -> None:
    plan = connection.execute(
        """EXPLAIN QUERY PLAN SELECT t.session_id, min(t.time), max(t.time), count(*), sum(t.tokens) FROM turns t
           WHERE t.status = 0 AND t.time >= 0 AND t.session_id IN (SELECT s.id FROM sessions s) GROUP BY t.session_id"""
    ).fetchall()
    assert any("COVERING INDEX turns_days" in row[3] for row in plan)
