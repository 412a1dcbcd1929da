"""What other processes capture while this one watches: nobody tells, so the stores are looked at, from outside first."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_raw_rag.store.homes import spaces_with_store

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

Mark = tuple[tuple[int, int], ...]


@dataclass
class Captures:
    """The stores of all spaces, as they were looked at last."""

    _marks: dict[str, Mark] = field(default_factory=dict)
    _chunks: dict[str, int] = field(default_factory=dict)

    def are_new(self, root: Runtime) -> bool:
        """Whether any space has chunks that it had not at the last look. The store itself is asked only if its file changed."""
        slugs = spaces_with_store(root.settings.store_path())
        new = [slug for slug in slugs if self._has_new(root.in_space(slug))]  # all are looked at, not up to the first
        return bool(new)

    def _has_new(self, room: Runtime) -> bool:
        mark = _mark(room.settings.store_path())
        if self._marks.get(room.space) == mark:
            return False
        self._marks[room.space] = mark
        before, now = self._chunks.get(room.space, 0), room.reader.last_chunk()
        self._chunks[room.space] = now
        return now > before


def _mark(path: str) -> Mark:
    found = []
    for name in (path, f"{path}-wal"):
        try:
            facts = os.stat(name)
        except OSError:
            continue
        found.append((facts.st_size, facts.st_mtime_ns))
    return tuple(found)
