"""Writes that are acknowledged: from any process, while others write, and on the disk before the caller is told.

Such a write takes SQLite's own lock for an instant and not the ``writer`` lock, which a first ingest may hold for minutes.
What is derived from the store follows from the backlogs that every writer leaves.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agent_raw_rag.errors import StoreBusyError, StoreError
from agent_raw_rag.store.connection import connect, is_current
from agent_raw_rag.store.lock import WRITER, lock

WAIT_SECONDS = 60.0
"""How long a write waits for others: emptying the store's free pages after a forgetting takes that long in a large one."""
_local = threading.local()
_LOOK_SECONDS = 0.2
_SHORTEST, _LONGEST = 0.001, 0.01
"""Seconds between two tries for SQLite's lock. Its own waiting grows to a tenth of a second, in which a busy writer's gaps are
over, so that a capture could starve beside a first ingest."""


def connect_durable(path: str) -> sqlite3.Connection:
    """A connection whose commits survive a power cut. Makes the store where there is none.

    Raises:
        StoreError: as ``connect``.
        StoreBusyError: another process is bringing the store's schema up, and does not come to an end.
    """
    if not is_current(path):
        _bring_up(path)
    connection = connect(path, write=True)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA busy_timeout = 0")  # the waiting is done in durable_transaction
    return connection


def _bring_up(path: str) -> None:
    """Make the store or migrate it, one process at a time: whoever holds the writer's lock may be doing just that."""
    deadline = time.monotonic() + _wait_seconds()
    while not is_current(path):
        try:
            with lock(os.path.dirname(path), WRITER, wait_seconds=_LOOK_SECONDS, purpose="make the store"):
                connect(path, write=True).close()
                return
        except StoreBusyError:
            if time.monotonic() >= deadline:
                raise


@contextmanager
def waiting(seconds: float) -> Iterator[None]:
    """Within the block this thread's writes wait so long for others, and no longer."""
    before = _wait_seconds()
    _local.wait_seconds = seconds
    try:
        yield
    finally:
        _local.wait_seconds = before


def _wait_seconds() -> float:
    return float(getattr(_local, "wait_seconds", WAIT_SECONDS))


@contextmanager
def durable_transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All or nothing, and on the disk when it returns.

    Raises:
        StoreBusyError: others held the store for longer than ``WAIT_SECONDS``, or than ``waiting`` says.
        StoreError: it could not be written: the disk is full, the file is damaged.
    """
    try:
        _begin(connection)
        yield connection
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise _told(error) from error
        raise


def _begin(connection: sqlite3.Connection) -> None:
    deadline, pause = time.monotonic() + _wait_seconds(), _SHORTEST
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 1.2, _LONGEST)


def _is_busy(error: sqlite3.Error) -> bool:
    return isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error))


def _told(error: sqlite3.Error) -> StoreError:
    if _is_busy(error):
        return StoreBusyError("Another process is writing to the store.", hint="Try again when it is done.")
    return StoreError(f"Nothing was written to the store: {error}.", hint="Check disk space and the file's owner.")
