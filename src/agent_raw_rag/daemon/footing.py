"""What the daemon stands on: the file of its lock and that of the store. Somebody may remove or replace them under it.

Then what it knows of the logs is true of another store, and its lock keeps nobody out: it has to begin anew.
"""

from __future__ import annotations

from agent_raw_rag.store.opened import mark


class Footing:
    """As it was when the daemon began. The store is made by the first reading, and counts from then on."""

    def __init__(self, lock_file: str, store: str) -> None:
        self._lock_file, self._store = lock_file, store
        self._lock_mark, self._store_mark = mark(lock_file), mark(store)

    def lost(self) -> str | None:
        """Why to begin anew, in words; None: all stands as it did."""
        if mark(self._lock_file) != self._lock_mark:
            return "the store's folder was removed or replaced"
        now = mark(self._store)
        if self._store_mark is None:
            self._store_mark = now
        return None if now == self._store_mark else "the store's file was removed or replaced"
