"""The tokens that open spaces over HTTP: their hashes, never their secrets. They stand in the store of the home."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.models import Millis

LOGIN = "login"
"""The scope of a one-time code, beside those that the token made for it will have: until then it opens nothing else."""
CODE_MS = 600_000
"""How long a one-time code may be used."""
_COLUMNS = "id, label, prefix, hash, spaces, scopes, created, expires, used, revoked"


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token."""

    id: int
    label: str
    prefix: str
    """The secret's first eight characters: enough to tell tokens apart, not to guess one."""
    hash: bytes
    """SHA-256 of the secret."""
    spaces: tuple[str, ...]
    """The slugs of the spaces it opens; ``*``: all."""
    scopes: tuple[str, ...]
    created: Millis
    expires: Millis | None = None
    """Of a one-time code: the token made for it lives as long as from ``created`` to here; the code itself ends sooner."""
    used: Millis | None = None
    """Last use, to the minute."""
    revoked: Millis | None = None
    """From when on it is no longer taken; of one that was rotated with grace that may lie ahead."""

    def is_live(self, now: Millis) -> bool:
        """Whether it opens anything at an instant."""
        code_ends = self.created + CODE_MS if self.is_code else None
        return not any(end is not None and end <= now for end in (self.expires, self.revoked, code_ends))

    @property
    def is_code(self) -> bool:
        """Whether it is a one-time code."""
        return LOGIN in self.scopes

    def opens(self, space: str) -> bool:
        """Whether it may be used in a space."""
        return space in self.spaces or "*" in self.spaces


class TokenTable:
    """The tokens of one open store. Whoever writes holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self) -> list[TokenRow]:
        """All there ever were, oldest first."""
        rows = self.connection.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY id")
        return [_row(row) for row in rows]

    def add(
        self, label: str, prefix: str, digest: bytes, *, spaces: tuple[str, ...], scopes: tuple[str, ...],
        created: Millis, expires: Millis | None,
    ) -> TokenRow:  # fmt: skip
        """Store a token's hash. A second one that is live under the same label breaks a rule of the table."""
        number = self.connection.execute(
            """INSERT INTO tokens (label, prefix, hash, spaces, scopes, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (label, prefix, digest, json.dumps(spaces), json.dumps(scopes), created, expires),
        ).lastrowid
        assert number is not None
        return TokenRow(number, label, prefix, digest, spaces, scopes, created, expires)

    def revoke(self, number: int, at: Millis) -> None:
        """Take a token no longer from an instant on. The row stays."""
        self.connection.execute("UPDATE tokens SET revoked = ? WHERE id = ?", (at, number))

    def used(self, number: int, at: Millis) -> None:
        """Note a use."""
        self.connection.execute("UPDATE tokens SET used = ? WHERE id = ?", (at, number))


def data_version(connection: sqlite3.Connection) -> int:
    """A number that changes whenever another connection has changed the store. Reads no table."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _row(row: Any) -> TokenRow:
    number, label, prefix, digest, spaces, scopes, created, expires, used, revoked = row
    return TokenRow(
        number, label, prefix, bytes(digest), tuple(json.loads(spaces)), tuple(json.loads(scopes)), created, expires,
        used, revoked,
    )  # fmt: skip
