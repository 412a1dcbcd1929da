"""Opening somebody else's SQLite database without leaving a trace.

Measured (SQLite 3.40 to 3.5x, writer in another process). A database in write-ahead-log mode is

- changed by a plain ``mode=ro``: its ``-shm`` gets a read mark, and where ``-wal`` and ``-shm`` are missing (the agent was
  closed) both are created and left behind;
- left alone by ``mode=ro&readonly_shm=1``, with a live writer, after a crash and after a checkpoint alike, as long as
  ``-wal`` and ``-shm`` exist; without a ``-shm`` it fails, but not before it has created an empty ``-wal``;
- left alone by ``immutable=1``, which does not see the ``-wal`` and takes no lock.

So: both files there -> ``readonly_shm``. No log, or an empty one -> the main file is all there is and nobody has it open:
``immutable``, and what was read counts only if the main file is unchanged and still without a log afterwards. A log
without ``-shm``, or a way that fails -> a copy of database and log in a private folder. Another journal mode -> ``mode=ro``,
which writes nothing there.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BUSY_SECONDS = 5.0
MAGIC = b"SQLite format 3\0"
WAL_MODE = 2
LOGS = ("-wal", "-journal")

_Mark = tuple[int, int, int] | None
_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_TRANSACTION}
)


class MovedError(Exception):
    """The database was written to while it was read without locks: what was read may be torn."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A foreign database, open for reading."""

    connection: sqlite3.Connection

    def tables(self) -> set[str]:
        """Names of all tables and views."""
        self.connection.set_authorizer(None)
        rows = self.connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return {str(name) for (name,) in rows}

    def allow(self, tables: Iterable[str]) -> None:
        """From now on statements may read these tables and do nothing else."""
        allowed = frozenset(tables)

        def authorize(action: int, table: str | None, *_: object) -> int:
            fine = action in _READS or (action == sqlite3.SQLITE_READ and table in allowed)
            return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

        self.connection.set_authorizer(authorize)


@contextmanager
def open_guest(path: str) -> Iterator[Guest]:
    """The database at ``path``, open in the first way that works and leaves no trace.

    Raises:
        sqlite3.Error: no way works.
        MovedError: what was read inside, or the copy, may be torn.
        OSError: the file is gone or may not be read.
    """
    before = _mark(path)
    connection, steady = _open(path, _way(path))
    try:
        yield Guest(connection)
        failure = None
    except sqlite3.Error as error:
        failure = error
    finally:
        connection.close()
    if not steady and (_mark(path) != before or _has_log(path)):
        raise MovedError from failure
    if failure is not None:
        raise failure


def _open(path: str, way: str | None) -> tuple[sqlite3.Connection, bool]:
    """A connection, and whether it is safe from a writer."""
    if way is not None:
        try:
            return _connect(f"{Path(path).absolute().as_uri()}?{way}"), "immutable" not in way
        except sqlite3.OperationalError:
            # The log needs a recovery, or a lock cannot be had: read a copy.
            pass
    state = _copied_state(path)
    copy = _copy(path, state)
    if _copied_state(path) != state:
        raise MovedError
    return _connect(Path(copy.path).as_uri()), True


def _way(path: str) -> str | None:
    """Parameters that open the file where it lies; None: only a copy can be read."""
    if not _in_wal_mode(path):
        return "mode=ro"
    if not _has_log(path) and not (os.path.exists(f"{path}-shm") and os.path.exists(f"{path}-wal")):
        return "immutable=1"
    return "mode=ro&readonly_shm=1" if os.path.exists(f"{path}-shm") else None


def _connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


# ---------------------------------------------------------------- what lies there


def _in_wal_mode(path: str) -> bool:
    with open(path, "rb") as stream:
        header = stream.read(20)
    if header and not header.startswith(MAGIC):
        raise sqlite3.DatabaseError("file is not a database")
    return len(header) == 20 and header[18] == WAL_MODE


def _has_log(path: str) -> bool:
    mark = _mark(f"{path}-wal")
    return mark is not None and mark[1] > 0


def _mark(path: str) -> _Mark:
    try:
        fact = os.stat(path)
    except OSError:
        return None
    return fact.st_ino, fact.st_size, fact.st_mtime_ns


# ---------------------------------------------------------------- copies


class _Copy:
    """A copy of a database in a folder of its own, removed together with this object."""

    def __init__(self, path: str) -> None:
        folder = tempfile.mkdtemp(prefix="raw-rag-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = os.path.join(folder, "copy.db")
        shutil.copyfile(path, self.path)
        for log in LOGS:
            if os.path.exists(f"{path}{log}"):
                shutil.copyfile(f"{path}{log}", f"{self.path}{log}")


def _copied_state(path: str) -> tuple[_Mark, ...]:
    return tuple(_mark(f"{path}{suffix}") for suffix in ("", *LOGS))


@lru_cache(maxsize=1)
def _copy(path: str, state: tuple[_Mark, ...]) -> _Copy:
    """The copy of a database in this state; the last one is kept, as its sessions are read one after another."""
    return _Copy(path)
