"""Captures: sent again and in any order they are the same turns, and never change what is there."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.models import Capture, Role
from agent_raw_rag.runtime import Runtime
from tests.dump import differences, dump
from tests.memory.rooms import OWNER, runtime

WORDS = st.sampled_from(["yes", "yes ", "deploy on Friday", "釋出在星期二", "a\nb", "a b", "x" * 1500, "é", "e\u0301"])
PASSING = "s3"
"""The session whose turns pass."""


def told(session: str | None, kept: bool, **rest: Any) -> Capture:
    """A capture, as the settings of its session would have it."""
    return Capture(session=session, kept=kept and session != PASSING, passing=session == PASSING, **rest)


CAPTURES = st.lists(
    st.builds(
        told,
        content=WORDS,
        source=st.sampled_from(["tester", "other"]),
        door=st.sampled_from(["mcp", "http"]),
        session=st.sampled_from([None, "s1", "s2", PASSING]),
        kept=st.booleans(),
        role=st.sampled_from([Role.EVENT, Role.USER, Role.ASSISTANT]),
        host_turn_id=st.sampled_from([None, None, "1", "2"]),
        repeat=st.sampled_from([1, 1, 2]),
        time=st.sampled_from([None, 1_000, 2_000]),
    ),
    max_size=12,
)
RETRIES = st.lists(st.integers(0, 11), max_size=12)
EVENTS = """SELECT s.agent, s.native, hex(t.key), t.role, t.text FROM turns t JOIN sessions s ON s.id = t.session_id
            ORDER BY t.key"""


def captured(captures: list[Capture], *, at_once: bool = False) -> Runtime:
    room = runtime(Path(tempfile.mkdtemp()))
    with room.memory.store.write() as connection:
        connection.execute("UPDATE meta SET value = 'g' WHERE key = 'generation'")
    for batch in [captures] if at_once else [[one] for one in captures]:
        room.memory.raw.capture_all(batch, OWNER)
    return room


@given(CAPTURES, RETRIES)
def test_retries_anywhere_leave_the_store_as_it_is_without_them(captures: list[Capture], retries: list[int]) -> None:
    again = list(captures)
    for number in retries:
        if number < len(captures):
            place = next(i for i, one in enumerate(again) if one is captures[number])
            again.insert(min(place + 1 + number, len(again)), replace(captures[number]))
    once, twice = captured(captures), captured(again)
    assert not differences(dump(once.reader.connection), dump(twice.reader.connection))
    count = "SELECT count(*) FROM journal"
    assert once.reader.connection.execute(count).fetchone()[0] == twice.reader.connection.execute(count).fetchone()[0]


@given(CAPTURES)
def test_captures_at_once_are_captures_one_by_one(captures: list[Capture]) -> None:
    if captures:
        one, other = captured(captures), captured(captures, at_once=True)
        assert not differences(dump(one.reader.connection), dump(other.reader.connection))


@given(CAPTURES, st.randoms(use_true_random=False))
def test_the_order_of_captures_changes_no_event(captures: list[Capture], chance: object) -> None:
    own = {(one.door, one.session, one.source, one.role, one.host_turn_id): one for one in captures if one.host_turn_id}
    told = [one for one in captures if not one.host_turn_id] + list(own.values())
    shuffled = list(told)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    rows = [captured(each).reader.connection.execute(EVENTS).fetchall() for each in (told, shuffled)]
    assert [tuple(row)[:4] for row in rows[0]] == [tuple(row)[:4] for row in rows[1]]


@given(CAPTURES)
def test_every_answer_names_the_turn_that_holds_its_words(captures: list[Capture]) -> None:
    room = runtime(Path(tempfile.mkdtemp()))
    seen: set[str] = set()
    for one in captures:
        answer = room.memory.raw.capture(one, OWNER)
        assert answer.recorded and answer.event_id
        assert answer.duplicate == (answer.event_id in seen)
        seen.add(answer.event_id)
        if one.passing:  # it is no event to anybody else
            continue
        row = room.memory.raw.event(answer.event_id)
        assert row.role is one.role
        assert answer.duplicate or row.text == one.content.rstrip()
