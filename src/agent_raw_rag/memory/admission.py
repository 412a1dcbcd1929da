"""Who may come in, and where to: asked at every request, answered from memory while the store says that nothing changed.

A revoked token, a new one, a new space or a disabled one count from the next request on, whichever process made the change.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent_raw_rag.memory.token_terms import ALL_SPACES, digest
from agent_raw_rag.memory.tokens import USED_EVERY_MS
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.homes import DEFAULT_SPACE, file_number
from agent_raw_rag.store.memory_spaces import MemorySpaceTable
from agent_raw_rag.store.tokens import TokenRow, TokenTable, data_version

LEGACY_LABEL = "env"
LEGACY_SCOPES = ("read", "write")


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whoever shows a good token."""

    label: str
    prefix: str
    spaces: tuple[str, ...]
    scopes: tuple[str, ...]
    number: int | None = None
    """Of its row; None: the token of the environment."""
    expires: Millis | None = None

    def opens(self, space: str) -> bool:
        """Whether the token may be used in a space."""
        return space in self.spaces or ALL_SPACES in self.spaces

    def actor(self, transport: str) -> Actor:
        """As the journal names them."""
        return Actor(self.label, transport, self.prefix)


class Admission:
    """The tokens and spaces of one home, as they are right now. For one thread."""

    def __init__(self, path: str, connect: Callable[[], Connection], legacy: Iterable[str] = ()) -> None:
        """
        Args:
            path: The store of the home; a file that is put in its place is noticed.
            connect: Opens that store for reading.
            legacy: Tokens that the environment gives, blank ones left out.
        """
        self._path = path
        self._connect = connect
        self._legacy = tuple(digest(secret) for secret in legacy)
        self._connection: Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._tokens: tuple[TokenRow, ...] = ()
        self._spaces: frozenset[str] = frozenset()
        self._used: dict[int, Millis] = {}

    def bearer(self, secret: str, now: Millis) -> Bearer | None:
        """Who shows this secret; None: nobody who may come in. Takes the same time however much of it is right."""
        self._look()
        shown = digest(secret)
        found: Bearer | None = None
        for row in self._tokens:
            if hmac.compare_digest(row.hash, shown) and row.is_live(now):
                found = Bearer(row.label, row.prefix, row.spaces, row.scopes, row.id, row.expires)
        for stored in self._legacy:
            if hmac.compare_digest(stored, shown):
                found = found or Bearer(LEGACY_LABEL, LEGACY_LABEL, (ALL_SPACES,), LEGACY_SCOPES)
        return found

    def may_enter(self, bearer: Bearer, space: str) -> bool:
        """Whether there is such a space, it is enabled, and the token opens it. Nobody learns which of these fails."""
        self._look()
        return bearer.opens(space) and space in self._spaces

    def spaces_of(self, bearer: Bearer) -> list[str]:
        """The enabled spaces that a token opens."""
        self._look()
        return sorted(space for space in self._spaces if bearer.opens(space))

    def own_space(self, bearer: Bearer) -> str | None:
        """The space that a token means where its request names none: the only one it opens, else the default one."""
        opened = self.spaces_of(bearer)
        if len(opened) == 1:
            return opened[0]
        return DEFAULT_SPACE if DEFAULT_SPACE in opened else None

    def is_use_due(self, bearer: Bearer, now: Millis) -> bool:
        """Whether this use is to be written down: at most once a minute."""
        if bearer.number is None or now - self._used.get(bearer.number, -USED_EVERY_MS) < USED_EVERY_MS:
            return False
        self._used[bearer.number] = now
        return True

    def close(self) -> None:
        """Leave the store."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _look(self) -> None:
        """Read tokens and spaces anew if anything at all in the store has changed."""
        place = file_number(self._path)
        if self._connection is None or (self._seen is not None and self._seen[0] != place):
            self.close()
            self._connection = self._connect()
            self._seen = None
        version = data_version(self._connection)
        if self._seen == (place, version):
            return
        self._tokens = tuple(TokenTable(self._connection).rows())
        self._spaces = frozenset(row.slug for row in MemorySpaceTable(self._connection).rows() if row.enabled)
        self._seen = place, version
