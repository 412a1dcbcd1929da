"""Opening the store: the settings every connection has, and the file's permissions."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from agent_raw_rag.errors import StoreError
from agent_raw_rag.store.migrations import NAMES, applied, migrate, newer, pending

BUSY_MS = 10_000
Connection = sqlite3.Connection
"""An open store, for those who only pass it on."""
MOVE_AWAY = "Move the file away and run `raw-rag-ingest`: what the agents' logs still hold comes back."
"""What helps against a damaged store."""


def connect(path: str, *, write: bool) -> sqlite3.Connection:
    """A connection with WAL, foreign keys, a busy timeout and explicit transactions.

    With ``write`` the file and its folder are made where missing (0600 in 0700) and the schema is brought up to date.

    Raises:
        StoreError: the file is missing (read), cannot be opened, is no SQLite database, or is newer than this program.
    """
    try:
        return _writer(path) if write else _reader(path)
    except sqlite3.Error as error:
        damaged = not isinstance(error, sqlite3.OperationalError)
        hint = MOVE_AWAY if damaged else "Check the file's owner and disk space."
        raise StoreError(f"The store {path} cannot be opened: {error}.", hint=hint) from error


def _writer(path: str) -> sqlite3.Connection:
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.path.exists(path):
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"The store's folder {folder} cannot be made: {error.strerror}.") from error
    connection = _opened(path)
    if _is_of_0_2(connection):
        connection.close()
        _move_aside(path)
        return _writer(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")
    if pending(connection):
        try:
            _copy_first(connection, path)
            migrate(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _copy_first(connection: sqlite3.Connection, path: str) -> None:
    """What a migration may ruin is kept as it was."""
    from agent_raw_rag.store.backup import back_up_before  # only ever needed here

    step = next(name for name in NAMES if name not in applied(connection))
    back_up_before(connection, path, step, datetime.now().astimezone())


def _is_of_0_2(connection: sqlite3.Connection) -> bool:
    """Whether the file is a store of version 0.2, which has the same default place and nothing that could be kept: its turns
    have no identity, and its vectors no model."""
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return "ingestion_cursors" in names and "_sqlite_migrations" not in names


def _move_aside(path: str) -> None:
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.replace(path + suffix, f"{path}.0.2{suffix}")
    logging.getLogger("agent_raw_rag").warning(
        "The store of version 0.2 was moved to %s.0.2; logs are read anew.", path
    )


def _reader(path: str) -> sqlite3.Connection:
    if not os.path.exists(path):
        raise StoreError(
            f"There is no store at {path} yet.", hint="Run `raw-rag-ingest` once to read the agents' logs."
        )
    # Not mode=ro: a reader of a WAL database must be able to make the -shm file.
    connection = _opened(path)
    if pending(connection):
        connection.close()
        raise StoreError(f"The store {path} has an older schema than this program.", hint="Run `raw-rag-ingest` once.")
    connection.execute("PRAGMA query_only = ON")
    return connection


def _opened(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    # So that INSERT OR REPLACE meets the triggers that refuse a deletion: see m003_memory.
    connection.execute("PRAGMA recursive_triggers = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -8000")
    connection.row_factory = sqlite3.Row
    if newer(connection):
        connection.close()
        raise StoreError(f"The store {path} was made by a newer version of this program.", hint="Update this one.")
    return connection


def is_current(path: str) -> bool:
    """Whether a store is there, with the newest schema that this program knows. Changes nothing."""
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        return not pending(connection)
    except sqlite3.DatabaseError:
        return False  # whoever opens it for good says what is wrong
    finally:
        connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, write lock taken at the start."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
