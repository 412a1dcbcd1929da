"""The vector spaces there are: what made each, and which one is searched. A space's vectors are in ``vectors``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ACTIVE = "active_space"
DROP_SLICE = 5000
"""Vectors that are deleted in one transaction, so that nobody waits for long."""


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """One vector space, and how its encoder is made again."""

    name: str
    model: str
    revision: str
    dim: int
    instruction: str
    kind: str
    """Of encoder: a row of ``encode.registry``."""
    options: Mapping[str, Any]
    """What the encoder is made with. Never a secret."""


class Spaces:
    """The spaces of one open store. Whoever writes holds the writer lock and the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self) -> list[SpaceRow]:
        """All known spaces, by name."""
        rows = self.connection.execute(
            "SELECT name, model, revision, dim, instruction, kind, options FROM vector_spaces ORDER BY name"
        )
        return [_row(row) for row in rows]

    def row(self, name: str) -> SpaceRow | None:
        """The space of a name."""
        return next((row for row in self.rows() if row.name == name), None)

    def active_name(self) -> str | None:
        """The name of the space that is searched; None: no vector was ever made."""
        found = self.connection.execute("SELECT value FROM meta WHERE key = ?", (ACTIVE,)).fetchone()
        return None if found is None else str(found[0])

    def active(self) -> SpaceRow | None:
        """The space that is searched."""
        name = self.active_name()
        return None if name is None else self.row(name)

    def vectors(self, name: str) -> int:
        """How many texts have a vector in a space."""
        return int(self.connection.execute("SELECT count(*) FROM vectors WHERE space = ?", (name,)).fetchone()[0])

    def register(self, row: SpaceRow) -> None:
        """Know a space; one that is known is told anew how its encoder is made."""
        self.connection.execute(
            """INSERT OR REPLACE INTO vector_spaces (name, model, revision, dim, instruction, kind, options)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (row.name, row.model, row.revision, row.dim, row.instruction, row.kind,
             json.dumps(dict(row.options), sort_keys=True)),
        )  # fmt: skip

    def activate(self, name: str) -> None:
        """Search this space from now on."""
        self.connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (ACTIVE, name))

    def drop_some(self, name: str) -> bool:
        """Delete some vectors of a space, and the space itself with the last; whether there is more to delete."""
        found = self.connection.execute(
            "DELETE FROM vectors WHERE space = ? AND hash IN (SELECT hash FROM vectors WHERE space = ? LIMIT ?)",
            (name, name, DROP_SLICE),
        ).rowcount
        if found == DROP_SLICE:
            return True
        self.connection.execute("DELETE FROM vector_spaces WHERE name = ?", (name,))
        self.connection.execute("DELETE FROM meta WHERE key = ? AND value = ?", (ACTIVE, name))
        return False


def _row(row: sqlite3.Row) -> SpaceRow:
    name, model, revision, dim, instruction, kind, options = row
    return SpaceRow(name, model, revision, dim, instruction, kind, json.loads(options))
