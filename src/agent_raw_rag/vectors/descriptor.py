"""Reading and writing at a place of an open file, whichever way the system has for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock

FLAGS: int = getattr(os, "O_BINARY", 0)
"""To be given to ``os.open``: without it, Windows would change line ends."""
_pread: Callable[[int, int, int], bytes] | None = getattr(os, "pread", None)
_preadv: Callable[[int, list[memoryview], int], int] | None = getattr(os, "preadv", None)
_pwrite: Callable[[int, memoryview, int], int] | None = getattr(os, "pwrite", None)
_moving = Lock()
"""Windows has no such calls: there the file's one position is moved, by one thread at a time."""


def read_at(descriptor: int, count: int, place: int) -> bytes:
    """At most ``count`` bytes from a place on."""
    if _pread is not None:
        return _pread(descriptor, count, place)
    with _moving:
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, count)


def fill_from(descriptor: int, buffer: memoryview, place: int) -> int:
    """Read into a buffer; how many bytes there were."""
    if _preadv is not None:
        return _preadv(descriptor, [buffer], place)
    found = read_at(descriptor, buffer.nbytes, place)
    buffer[: len(found)] = found
    return len(found)


def write_at(descriptor: int, data: memoryview, place: int) -> int:
    """Write at a place; how many bytes were taken."""
    if _pwrite is not None:
        return _pwrite(descriptor, data, place)
    with _moving:
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.write(descriptor, data)
