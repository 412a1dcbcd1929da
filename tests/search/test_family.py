"""Families of sessions: the same members whoever is asked, no circle without an end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_raw_rag.search.family import MOST, family
from agent_raw_rag.store.connection import Connection, connect
from agent_raw_rag.store.overview import Overview, Stretch
from agent_raw_rag.store.reader import Reader


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    opened = connect(str(tmp_path / "raw_rag.db"), write=True)
    yield opened
    opened.close()


def session(connection: Connection, native: str, parent: str | None = None, kind: str | None = None) -> None:
    connection.execute(
        "INSERT INTO sessions (agent, native, parent, parent_kind) VALUES ('one', ?, ?, ?)", (native, parent, kind)
    )


def turn(connection: Connection, native: str, ordinal: int, key: int, **more: int) -> None:
    values = {"status": 0, "abandoned": 0, "branch_from": None, **more}
    connection.execute(
        """INSERT INTO turns (session_id, ordinal, exchange, role, text, text_hash, key, status, abandoned, branch_from)
           SELECT id, ?, 1, 'user', 'x', x'', ?, ?, ?, ? FROM sessions WHERE native = ?""",
        (ordinal, key.to_bytes(16, "big"), values["status"], values["abandoned"], values["branch_from"], native),
    )


def members(connection: Connection, native: str) -> list[tuple[str, str | None, str | None]]:
    reader = Reader(connection)
    found = family(reader, reader.session(f"one:{native}"))
    return [(one.row.native, one.parent.native if one.parent else None, one.kind) for one in found.members]


def test_a_passing_session_is_in_no_family(connection: Connection) -> None:
    session(connection, "root")
    session(connection, "hidden", "root", "subagent")
    session(connection, "below", "hidden", "subagent")
    connection.execute("UPDATE sessions SET passing = 1 WHERE native = 'hidden'")
    assert members(connection, "root") == [("root", None, None)]
    assert members(connection, "below") == [("below", None, None)]


def test_sub_agents_forks_and_continued_sessions_are_one_family(connection: Connection) -> None:
    session(connection, "root")
    session(connection, "helper", "root", "subagent")
    session(connection, "helper-of-helper", "helper", "subagent")
    session(connection, "later", "root")
    session(connection, "fork")  # it names nobody, but copies a turn
    session(connection, "stranger")
    turn(connection, "root", 1, 1)
    turn(connection, "fork", 1, 1, status=1)
    turn(connection, "fork", 2, 2)
    turn(connection, "stranger", 1, 3)
    whole = members(connection, "root")
    assert set(whole) == {
        ("root", None, None), ("helper", "root", "subagent"), ("helper-of-helper", "helper", "subagent"),
        ("later", "root", "continued"), ("fork", "root", "fork"),
    }  # fmt: skip
    for name, _, _ in whole:
        assert members(connection, name) == whole
    assert members(connection, "stranger") == [("stranger", None, None)]


def test_a_parent_that_is_not_stored_and_a_circle_end_somewhere(connection: Connection) -> None:
    session(connection, "orphan", "gone", "subagent")
    assert members(connection, "orphan") == [("orphan", None, None)]
    session(connection, "hen", "egg", "fork")
    session(connection, "egg", "hen", "fork")
    assert {name for name, _, _ in members(connection, "hen")} == {"hen", "egg"}


def test_a_family_too_large_to_show_is_cut_and_says_so(connection: Connection) -> None:
    session(connection, "root")
    for number in range(MOST + 5):
        session(connection, f"child{number}", "root", "subagent")
    reader = Reader(connection)
    found = family(reader, reader.session("one:root"))
    assert (len(found.members), found.complete) == (MOST, False)


def test_branches_are_stretches_of_turns(connection: Connection) -> None:
    session(connection, "tree")
    for ordinal, more in enumerate(({}, {"abandoned": 1}, {"abandoned": 1}, {"branch_from": 1}, {}), 1):
        turn(connection, "tree", ordinal, ordinal, **more)
    reader = Reader(connection)
    assert Overview(reader).stretches(reader.session("one:tree").id) == [
        Stretch(None, 1, 1, False), Stretch(None, 2, 3, True), Stretch(1, 4, 5, False),
    ]  # fmt: skip
