"""What the use cases of the memory stand on: one space's store, to read, and to write in acknowledged transactions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from agent_raw_rag.models import Millis
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.reader import Reader


@dataclass(frozen=True)
class SpaceStore:
    """One space's store. Safe to use from several threads."""

    space: str
    """Its slug."""
    home: str
    """The folder of the store and of what is derived from it."""
    read: Callable[[], Reader]
    """This thread's reader. Raises StoreError: there is no store yet; see ``exists``."""
    write: Callable[[], AbstractContextManager[Connection]]
    """A transaction: all or nothing, on the disk when it ends. Makes the store where there is none. Raises StoreError."""
    exists: Callable[[], bool]
    """Whether there is a store: until something is written to a space there is none, and everything in it is empty."""
    now: Callable[[], Millis]
    """The clock."""
