"""Telling whether a file still begins with what was read of it: append-only is a hope, not a promise.

The mark covers the head of the file and the stretch right before the cursor. The first 256 bytes are left out of the head:
one format keeps its title there and writes over it in place.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

SLOT_BYTES = 256
HEAD_BYTES = 4096
TAIL_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Look:
    """What a file looks like from outside."""

    device: int
    inode: int
    size: int
    mtime_ns: int

    @property
    def key(self) -> tuple[int, int, int, int]:
        """As the store keeps it."""
        return (self.device, self.inode, self.size, self.mtime_ns)


def look(path: str) -> Look:
    """A file's outside.

    Raises:
        OSError: it is gone or may not be seen.
    """
    stat = os.stat(path)
    return Look(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def look_database(path: str) -> Look:
    """The outside of an SQLite database and its write-ahead log, which alone changes while the database is in use.

    Raises:
        OSError: the database is gone or may not be seen.
    """
    main = look(path)
    try:
        wal = look(f"{path}-wal")
    except FileNotFoundError:
        return main
    return Look(main.device, main.inode, main.size + wal.size, max(main.mtime_ns, wal.mtime_ns))


def stamp(path: str, position: int) -> str:
    """The mark of what a file holds before ``position``: slot, head and tail, as three hashes."""
    position = min(position, os.stat(path).st_size)  # a last record's line break may not be written yet
    with open(path, "rb") as stream:
        head = stream.read(min(position, HEAD_BYTES))
        start = max(0, position - TAIL_BYTES)
        stream.seek(start)
        tail = stream.read(position - start)
    return f"{position}:{_hash(head[:SLOT_BYTES])}:{_hash(head[SLOT_BYTES:])}:{_hash(tail)}"


def verdict(path: str, saved: str) -> str:
    """``same``: reading may go on; ``slot``: it may, but the first 256 bytes changed; ``rewritten``: read all again."""
    position = int(saved.split(":", 1)[0])
    if os.stat(path).st_size < position:
        return "rewritten"
    old, new = saved.split(":"), stamp(path, position).split(":")
    if old == new:
        return "same"
    # A short file's tail overlaps the slot; then the slot alone cannot be told from a rewrite.
    return "slot" if old[2:] == new[2:] and position > SLOT_BYTES + TAIL_BYTES else "rewritten"


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
