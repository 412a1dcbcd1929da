"""Whole copies of a store, made while others read and write it, and putting one back.

A copy is one file: its journal mode is not WAL, so nothing of it stands beside it.
"""

from __future__ import annotations

import glob
import logging
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from agent_raw_rag.errors import StoreError
from agent_raw_rag.store.migrations import NAMES, applied

FOLDER = "backups"
"""Beside the store: what was copied before a migration or a restore."""
BUSY_SECONDS = 10.0
KEPT = 3
"""So many copies from before migrations stay; the ones from before a restore all do."""


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a store's file holds."""

    schema: tuple[str, ...]
    """The migrations it has had, in their order."""
    generation: str
    counts: dict[str, int]
    """Table -> rows, of all tables."""


def copy_store(connection: sqlite3.Connection, path: str) -> None:
    """Write a snapshot of an open store to a new file (0600), and have it on the disk. Writers go on meanwhile.

    Raises:
        StoreError: it cannot be written there; what was written of it is removed.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            _copied(connection, path)
        except BaseException:
            os.remove(path)
            raise
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StoreError(
            f"The store cannot be copied to {path}: {why}.", hint="Check the folder and disk space."
        ) from error


def _copied(connection: sqlite3.Connection, path: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        # All pages in one step: one snapshot. In smaller steps every write in between would begin it anew.
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    sync(path)


def snapshot(store: str, path: str) -> None:
    """``copy_store`` of a store at its path, whatever its schema.

    Raises:
        StoreError: there is no store, it is no SQLite database, or the copy cannot be written.
    """
    if not os.path.exists(store):
        raise StoreError(f"There is no store at {store} yet.", hint="Run `raw-rag-ingest` once.")
    with closing(sqlite3.connect(store, isolation_level=None, timeout=BUSY_SECONDS)) as connection:
        copy_store(connection, path)


def overwrite_store(store: str, path: str) -> None:
    """Make a store say what the copy at ``path`` says, in one transaction: after a crash it is the one or the other.

    Raises:
        StoreError: it cannot be written. It says what it said.
    """
    try:
        os.makedirs(os.path.dirname(store), mode=0o700, exist_ok=True)
        os.close(os.open(store, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(store, isolation_level=None, timeout=BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            with closing(_read_only(path)) as copy:
                copy.backup(connection)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StoreError(
            f"The store {store} cannot be replaced: {why}.", hint="Check the file's owner and disk space."
        ) from error


def set_aside(store: str, why: str, now: datetime) -> str | None:
    """Keep a store that is about to be replaced under a dated name: a copy of a sound one, the file itself of a damaged one.
    Returns where; None: there is no store."""
    if not os.path.exists(store):
        return None
    target = dated(store, why, now)
    try:
        snapshot(store, target)
    except StoreError:
        if os.path.exists(target) or not _is_damaged(store):
            raise  # no room for a copy
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(store + suffix):
                os.replace(store + suffix, target + suffix)
    return target


def _is_damaged(store: str) -> bool:
    try:
        with closing(sqlite3.connect(store, isolation_level=None)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True


def facts_of(path: str) -> StoreFacts:
    """What the file of a store that nobody writes holds.

    Raises:
        StoreError: it is no store.
    """
    try:
        with closing(_read_only(path)) as connection:
            return facts_in(connection)
    except sqlite3.Error as error:
        raise StoreError(f"{path} is no store: {error}.", hint="Was it made by `raw-rag backup`?") from error


def facts_in(connection: sqlite3.Connection) -> StoreFacts:
    """What an open store holds."""
    names = applied(connection)
    generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    ordered = (*(name for name in NAMES if name in names), *sorted(names - set(NAMES)))
    counts = {table: _count(connection, table) for table in _tables(connection)}
    return StoreFacts(ordered, generation[0] if generation else "", counts)


def faults_of(path: str) -> list[str]:
    """What SQLite finds wrong with a copy; empty: nothing. Reads all of it."""
    try:
        with closing(_read_only(path)) as connection:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [] if rows == [("ok",)] else [str(row[0]) for row in rows]


def back_up_before(connection: sqlite3.Connection, path: str, step: str, now: datetime) -> str | None:
    """Copy a store that is about to be migrated, if there is anything in it. Returns where to; old such copies go."""
    if not any(_count(connection, table, limit=1) for table in _tables(connection)):
        return None
    stem = f"{os.path.basename(path).removesuffix('.db')}-before-"
    target = dated(path, f"before-{step}", now)
    copy_store(connection, target)
    logging.getLogger("agent_raw_rag").warning(
        "The store's schema changes (%s); it was copied to %s first.", step, target
    )
    pattern = glob.escape(os.path.join(os.path.dirname(target), stem)) + "m[0-9]*.db"
    for old in sorted(glob.glob(pattern), key=os.path.getmtime)[:-KEPT]:
        os.remove(old)
    return target


def dated(path: str, why: str, now: datetime) -> str:
    """A name that is not taken yet for a copy of a store, in a folder beside it. Raises StoreError: it cannot be made."""
    folder = os.path.join(os.path.dirname(path), FOLDER)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    stem = f"{os.path.basename(path).removesuffix('.db')}-{why}-{now:%Y%m%dT%H%M%S}"
    target, number = os.path.join(folder, f"{stem}.db"), 1
    while os.path.exists(target):
        number += 1
        target = os.path.join(folder, f"{stem}-{number}.db")
    return target


def sync(path: str) -> None:
    """Have a file, or the names in a folder, on the disk."""
    if os.name == "nt" and os.path.isdir(path):
        return  # there a folder cannot be opened; its names are on the disk when they are made
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _tables(connection: sqlite3.Connection) -> list[str]:
    """All tables of a store that hold what somebody said or did: not SQLite's, not the record of migrations."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [row[0] for row in rows if not row[0].startswith(("sqlite_", "_sqlite_")) and row[0] != "meta"]


def _count(connection: sqlite3.Connection, table: str, limit: int = -1) -> int:
    row = connection.execute(f'SELECT count(*) FROM (SELECT 1 FROM "{table}" LIMIT {limit})').fetchone()
    return int(row[0])


def _read_only(path: str) -> sqlite3.Connection:
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{quoted}?mode=ro", uri=True)
