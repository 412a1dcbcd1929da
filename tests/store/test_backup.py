"""Copies of a store before its schema changes, from every schema there was."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlite_utils

from agent_raw_rag.errors import StoreError
from agent_raw_rag.store import migrations
from agent_raw_rag.store.backup import KEPT, back_up_before, copy_store, faults_of
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.migrations import NAMES, SET
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.rows import text_hash

EARLIER = NAMES[:-1]
START = datetime(2026, 11, 30, tzinfo=UTC)


def store_of(path: Path, last: str, *, filled: bool = True) -> None:
    """A store that an earlier version made: every migration up to ``last``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = sqlite_utils.Migrations(SET)
    for name in NAMES[: NAMES.index(last) + 1]:
        steps()(getattr(migrations, name))
    database = sqlite_utils.Database(path)
    steps.apply(database)
    if filled:
        database.execute("INSERT INTO sessions (id, agent, native, turns) VALUES (1, 'claude', 's', 1)")
        database.execute(
            """INSERT INTO turns (session_id, ordinal, exchange, role, text, text_hash, key)
               VALUES (1, 1, 1, 'user', 'SENTINEL-EARLIER', ?, x'00')""",
            (text_hash("SENTINEL-EARLIER"),),
        )
        database.conn.commit()
    database.close()


def copies(path: Path) -> list[Path]:
    return sorted((path.parent / "backups").glob("*.db"))


@pytest.mark.line("I5")
@pytest.mark.parametrize("last", EARLIER)
def test_a_store_of_every_earlier_schema_is_copied_before_it_is_brought_up(
    last: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "home" / "raw_rag.db"
    store_of(path, last)
    with caplog.at_level(logging.WARNING, logger="agent_raw_rag"):
        connection = connect(str(path), write=True)
    assert [turn.text for turn in Reader(connection).turns(1)] == ["SENTINEL-EARLIER"]
    assert {row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")} == set(NAMES)
    connection.close()
    (copy,) = copies(path)
    assert str(copy) in caplog.text
    old = sqlite3.connect(copy)
    assert [row[0] for row in old.execute("SELECT name FROM _sqlite_migrations ORDER BY id")] == list(
        NAMES[: NAMES.index(last) + 1]
    )
    assert old.execute("SELECT text FROM turns").fetchall() == [("SENTINEL-EARLIER",)]
    old.close()
    assert faults_of(str(copy)) == []
    if os.name != "nt":
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_nothing_is_copied_of_a_new_or_an_empty_or_a_current_store(tmp_path: Path) -> None:
    new, bare = tmp_path / "new" / "raw_rag.db", tmp_path / "bare" / "raw_rag.db"
    store_of(bare, EARLIER[0], filled=False)
    for path in (new, new, bare):
        connect(str(path), write=True).close()
        assert copies(path) == []


def test_old_copies_go_and_other_files_stay(tmp_path: Path) -> None:
    path = tmp_path / "raw_rag.db"
    store_of(path, EARLIER[0])
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "raw_rag-before-restore-20200101T000000.db").touch()
    connection = sqlite3.connect(path)
    made = []
    for day in range(KEPT + 2):
        made.append(back_up_before(connection, str(path), NAMES[-1], START + timedelta(days=day)))
        os.utime(made[-1] or "", (day, day))
    connection.close()
    kept = [str(copy) for copy in copies(path) if "restore" not in copy.name]
    assert kept == made[-KEPT:] and len(copies(path)) == KEPT + 1


def test_two_copies_of_one_second_have_two_names(tmp_path: Path) -> None:
    path = tmp_path / "raw_rag.db"
    store_of(path, EARLIER[0])
    connection = sqlite3.connect(path)
    names = {back_up_before(connection, str(path), NAMES[-1], START) for _ in range(2)}
    connection.close()
    assert len(names) == 2


def test_a_migration_waits_for_room_for_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "home" / "raw_rag.db"
    store_of(path, EARLIER[0])
    (path.parent / "backups").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError):
        connect(str(path), write=True)
    connection = sqlite3.connect(path)
    assert [row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")] == [EARLIER[0]]
    connection.close()


def test_a_copy_replaces_no_file(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "raw_rag.db"), write=True)
    (tmp_path / "taken").write_text("kept", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be copied"):
        copy_store(connection, str(tmp_path / "taken"))
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "kept"
    assert Reader(connection).sessions(Scope()) == []
    connection.close()
