"""A store that is open for reading, and whether it still is the one that stands at its path.

Above: a runtime, which keeps one open for each thread. Below: a reader. A file that was removed can be read on and on while it is
open, and what is stored in its place would never be seen.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Reader

Mark = tuple[int, int] | None


def mark(path: str) -> Mark:
    """Which file stands at a path, links followed; None: none that can be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@dataclass(frozen=True, slots=True)
class Opened:
    """The store of one path, for one thread."""

    reader: Reader
    path: str
    mark: Mark

    @classmethod
    def at(cls, path: str) -> Opened:
        """Open it. Raises StoreError: there is none, or it cannot be read."""
        seen = mark(path)  # before it is opened: a file that comes in between is then seen at the next question
        return cls(Reader(connect(path, write=False)), path, seen)

    def is_current(self) -> bool:
        """Whether the same file stands there still."""
        return mark(self.path) == self.mark
