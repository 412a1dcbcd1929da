"""Who has a store open. SQLite keeps a read lock on the file for as long as a connection in WAL mode lives, and the system knows
whose it is. Windows does not tell; there nobody is found.

Ask before this process opens the store: closing any handle of a file drops all locks that its process holds on it.
"""

from __future__ import annotations

import os
import struct
import sys

_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510
"""The bytes of a database file that stand for its readers: part of SQLite's file format."""

if sys.platform == "win32":

    def user_of(path: str) -> int | None:
        """The number of another process that has a store open, or None."""
        return None
else:
    import fcntl

    # struct flock, without its trailing padding
    _FORM, _FIRST = ("@qqihh", 0) if sys.platform == "darwin" else ("@hhqqi", 2)

    def user_of(path: str) -> int | None:
        """The number of another process that has a store open, or None."""
        try:
            handle = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return None
        try:
            found = fcntl.fcntl(handle, fcntl.F_GETLK, _asked())
        finally:
            os.close(handle)
        kind, pid = _told(found)
        return None if kind == fcntl.F_UNLCK else pid

    def _asked() -> bytes:
        kind, whence = fcntl.F_WRLCK, os.SEEK_SET
        fields = (
            (_SHARED_FIRST, _SHARED_SIZE, 0, kind, whence)
            if _FIRST == 0
            else (kind, whence, _SHARED_FIRST, _SHARED_SIZE, 0)
        )
        return struct.pack(_FORM, *fields) + bytes(8)

    def _told(found: bytes) -> tuple[int, int]:
        """(kind of lock, process)"""
        fields = struct.unpack_from(_FORM, found)
        return (fields[3], fields[2]) if _FIRST == 0 else (fields[0], fields[4])
