"""Opening the store: permissions, schema, and who may write."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from agent_raw_rag.errors import StoreBusyError, StoreError
from agent_raw_rag.store.connection import connect, transaction
from agent_raw_rag.store.lock import WRITER, lock
from agent_raw_rag.store.migrations import NAMES, SET


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "raw_rag.db")


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def add_migration(path: str, name: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, '')", (SET, name)
        )
    connection.close()


@pytest.mark.skipif(os.name == "nt", reason="modes are not kept there")
def test_a_new_store_is_its_owners_alone(path: str) -> None:
    connect(path, write=True).close()
    assert (mode(Path(path).parent), mode(path)) == (0o700, 0o600)


def test_reading_makes_no_store(path: str) -> None:
    with pytest.raises(StoreError, match="no store"):
        connect(path, write=False)
    assert not Path(path).parent.exists()


def test_opening_again_changes_no_schema_and_keeps_the_generation(path: str) -> None:
    seen = []
    for _ in range(2):
        connection = connect(path, write=True)
        generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
        names = [row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")]
        seen.append((generation, names))
        connection.close()
    assert seen[0] == seen[1] and seen[0][1] == list(NAMES)


@pytest.mark.parametrize("write", [True, False])
def test_a_store_of_a_newer_version_is_left_alone(path: str, write: bool) -> None:
    connect(path, write=True).close()
    add_migration(path, "m999_of_the_future")
    with pytest.raises(StoreError, match="newer version"):
        connect(path, write=write)


def test_a_store_without_its_schema_is_not_read_and_the_writer_mends_it(path: str) -> None:
    Path(path).parent.mkdir()
    sqlite3.connect(path).execute("PRAGMA user_version = 1").connection.close()
    with pytest.raises(StoreError, match="older schema"):
        connect(path, write=False)
    connect(path, write=True).close()
    connect(path, write=False).close()


def test_a_reader_cannot_write(path: str) -> None:
    connect(path, write=True).close()
    reader = connect(path, write=False)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM meta")
    reader.close()


def test_a_transaction_that_fails_leaves_nothing(path: str) -> None:
    connection = connect(path, write=True)
    with pytest.raises(KeyError), transaction(connection):
        connection.execute("INSERT INTO meta (key, value) VALUES ('half', 'done')")
        raise KeyError
    assert connection.execute("SELECT count(*) FROM meta WHERE key = 'half'").fetchone()[0] == 0
    connection.close()


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    home = str(tmp_path)
    with (
        lock(home, WRITER, wait_seconds=0, purpose="a long ingest"),
        pytest.raises(StoreBusyError, match=rf"process {os.getpid()}, a long ingest"),
        lock(home, WRITER, wait_seconds=0, purpose="another"),
    ):
        pass
    with lock(home, WRITER, wait_seconds=0, purpose="the next"):
        pass
