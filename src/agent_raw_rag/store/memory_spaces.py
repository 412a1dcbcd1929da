"""The memory spaces there are. They stand in the store of the home, which is itself the space ``default``.

Not to be mixed up with the vector spaces of ``spaces``.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.models import Millis
from agent_raw_rag.store.homes import DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class MemorySpaceRow:
    """One space."""

    slug: str
    title: str
    enabled: bool
    created: Millis | None
    """None: as old as the home."""


class MemorySpaceTable:
    """The spaces of one home. ``default`` is always there, and enabled, without a row. Whoever writes holds the
    transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self) -> list[MemorySpaceRow]:
        """All spaces, ``default`` first, then by name."""
        rows = self.connection.execute(
            "SELECT slug, title, enabled, created FROM spaces WHERE slug <> ? ORDER BY slug", (DEFAULT_SPACE,)
        )
        return [MemorySpaceRow(DEFAULT_SPACE, "", True, None), *(_row(row) for row in rows)]

    def row(self, slug: str) -> MemorySpaceRow | None:
        """The space of a name."""
        return next((row for row in self.rows() if row.slug == slug), None)

    def add(self, slug: str, title: str, created: Millis) -> MemorySpaceRow:
        """Know a new space."""
        self.connection.execute(
            "INSERT INTO spaces (slug, title, enabled, created) VALUES (?, ?, 1, ?)", (slug, title, created)
        )
        return MemorySpaceRow(slug, title, True, created)

    def enable(self, slug: str, enabled: bool) -> None:
        """Serve a space, or do not."""
        self.connection.execute("UPDATE spaces SET enabled = ? WHERE slug = ?", (int(enabled), slug))


def _row(row: Any) -> MemorySpaceRow:
    slug, title, enabled, created = row
    return MemorySpaceRow(slug, title, bool(enabled), created)
