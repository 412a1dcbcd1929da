"""The database itself refuses to change or delete what was said and what was done, whoever asks and however."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_raw_rag.models import Actor, CleanText, CleanTurn, Role
from agent_raw_rag.store.connection import connect, transaction
from agent_raw_rag.store.forget import blank
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.rows import Status
from agent_raw_rag.store.writer import Writer


@pytest.fixture
def store(tmp_path: Path) -> sqlite3.Connection:
    """A store with a live turn (1), an open one (2), a copy (3), a forgotten one (4) and one act."""
    connection = connect(str(tmp_path / "raw_rag.db"), write=True)
    writer = Writer(connection)
    with transaction(connection):
        session = writer.session("claude", "one")
        for number, (status, settled) in enumerate(
            [(Status.LIVE, True), (Status.LIVE, False), (Status.COPY, True), (Status.LIVE, True)]
        ):
            turn = CleanTurn("one", Role.USER, f"k{number}", 5, CleanText("said"), (), 0, 4, settled=settled)
            writer.insert_turn(session, turn, None, status)
        writer.save_session(session)
        blank(connection, [4])
        connection.execute("INSERT INTO captured (turn_id, source) VALUES (1, 'tester')")
        Journal(connection).add(Actor("owner", "cli"), "capture", time=7, target="e1")
    return connection


def rows(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    tables = ("turns", "journal", "captured")
    return [tuple(row) for table in tables for row in connection.execute(f"SELECT * FROM {table}")]


REFUSED = {
    "other words": "UPDATE turns SET text = 'x' WHERE id = 1",
    "other words and hash": "UPDATE turns SET text = 'x', text_hash = x'00' WHERE id = 1",
    "emptied": "UPDATE turns SET text = '' WHERE id = 1",
    "another speaker": "UPDATE turns SET role = 'assistant' WHERE id = 1",
    "another time": "UPDATE turns SET time = 6 WHERE id = 1",
    "no time": "UPDATE turns SET time = NULL WHERE id = 1",
    "another identity": "UPDATE turns SET key = x'00' WHERE id = 1",
    "another identity of an open turn": "UPDATE turns SET key = x'00' WHERE id = 2",
    "another number": "UPDATE turns SET id = 9 WHERE id = 1",
    "opened": "UPDATE turns SET open = 1 WHERE id = 1",
    "a copy with its words": "UPDATE turns SET status = 1 WHERE id = 1",
    "forgotten with its words": "UPDATE turns SET status = 2 WHERE id = 1",
    "a copy with other words": "UPDATE turns SET text = 'x' WHERE id = 3",
    "a copy made live": "UPDATE turns SET status = 0, text = 'x' WHERE id = 3",
    "a copy of nothing": "UPDATE turns SET status = 1, text = '' WHERE id = 1",
    "brought back": "UPDATE turns SET status = 0, text = 'x' WHERE id = 4",
    "brought back as a copy": "UPDATE turns SET status = 1 WHERE id = 4",
    "deleted": "DELETE FROM turns WHERE id = 1",
    "all deleted": "DELETE FROM turns",
    "a tombstone deleted": "DELETE FROM turns WHERE id = 4",
    "replaced": """INSERT OR REPLACE INTO turns (id, session_id, ordinal, exchange, role, text, text_hash, key)
                   VALUES (1, 1, 1, 1, 'user', 'x', x'00', x'00')""",
    "replaced by update": "UPDATE OR REPLACE turns SET id = 1 WHERE id = 2",
    "another source": "UPDATE captured SET source = 'x'",
    "no source": "DELETE FROM captured",
    "a source replaced": "INSERT OR REPLACE INTO captured (turn_id, source) VALUES (1, 'x')",
    "another author": "UPDATE captured SET author = 'x'",
    "said in part": "UPDATE captured SET partial = 1",
    "an act changed": "UPDATE journal SET actor = 'x'",
    "an act deleted": "DELETE FROM journal",
    "an act replaced": """INSERT OR REPLACE INTO journal (id, time, action, actor, transport, chain)
                          VALUES (1, 1, 'x', 'x', 'x', x'00')""",
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("how", ["ours", "plain"])
def test_what_is_stored_is_refused_to_be_changed(store: sqlite3.Connection, sql: str, how: str, tmp_path: Path) -> None:
    before = rows(store)
    connection = store if how == "ours" else sqlite3.connect(tmp_path / "raw_rag.db", isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(sql)
    assert rows(store) == before
    connection.close()


def test_even_the_guard_of_a_rereading_brings_nothing_back_that_was_forgotten(store: sqlite3.Connection) -> None:
    store.execute("INSERT INTO meta (key, value) VALUES ('rewriting', '1')")
    for sql in ("brought back", "brought back as a copy", "a tombstone deleted", "another identity"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store.execute(REFUSED[sql])


ALLOWED = {
    "an open turn grows": "UPDATE turns SET text = 'said more', text_hash = x'00', open = 0 WHERE id = 2",
    "a turn is forgotten": "UPDATE turns SET status = 2, text = '', text_hash = x'' WHERE id = 1",
    "a copy is forgotten": "UPDATE turns SET status = 2, text = '', text_hash = x'' WHERE id = 3",
    "a turn is renumbered": "UPDATE turns SET ordinal = 7, exchange = 2 WHERE id = 1",
    "a turn is cut anew": "UPDATE turns SET start_token = 7, tokens = 2 WHERE id = 1",
    "a turn moves in its log": "UPDATE turns SET source_id = NULL, start = 1, end = 2 WHERE id = 1",
    "a branch is left": "UPDATE turns SET abandoned = 1 WHERE id = 1",
    "an author is forgotten": "UPDATE captured SET author = NULL",
}


@pytest.mark.parametrize("sql", ALLOWED.values(), ids=ALLOWED)
def test_what_the_product_does_is_let_through(store: sqlite3.Connection, sql: str) -> None:
    assert store.execute(sql).rowcount == 1


def test_the_writer_makes_a_copy_of_a_settled_turn_and_leaves_no_guard(store: sqlite3.Connection) -> None:
    Writer(store).set_status(1, Status.COPY)
    assert tuple(store.execute("SELECT status, text FROM turns WHERE id = 1").fetchone()) == (1, "")
    assert store.execute("SELECT 1 FROM meta WHERE key = 'rewriting'").fetchone() is None


def test_the_writer_rewrites_a_settled_turn_and_leaves_no_guard(store: sqlite3.Connection) -> None:
    writer = Writer(store)
    (row,) = writer.holders("claude", "k0")
    with transaction(store):
        writer.update_turn(row, CleanTurn("one", Role.USER, "k0", 5, CleanText("other"), (), 0, 5), None)
    assert store.execute("SELECT text FROM turns WHERE id = 1").fetchone()[0] == "other"
    assert store.execute("SELECT count(*) FROM meta WHERE key = 'rewriting'").fetchone()[0] == 0
