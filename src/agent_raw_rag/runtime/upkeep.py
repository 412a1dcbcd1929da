"""Looking after a store: is its file sound, does what is derived from it agree, what is not read yet; and making derived anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_raw_rag.adapters.base import Adapter, Root
    from agent_raw_rag.ingest.verify import Compared
    from agent_raw_rag.ingest.waiting import Waiting
    from agent_raw_rag.models import Millis
    from agent_raw_rag.store.connection import Connection
    from agent_raw_rag.store.reader import Reader
    from agent_raw_rag.store.spaces import SpaceRow

WAIT_SECONDS = 10.0
"""How long a repair, or a second look, waits for another writer."""


@dataclass(frozen=True)
class Upkeep:
    """Of one store. Looking changes nothing."""

    home: str
    store: str
    reader: Callable[[], Reader]
    wait_seconds: float = WAIT_SECONDS

    def damage(self) -> list[str]:
        """What SQLite finds wrong with the store's file; empty: nothing. Reads all of it."""
        rows = self.reader().connection.execute("PRAGMA quick_check").fetchall()
        return [] if [row[0] for row in rows] == ["ok"] else [str(row[0]) for row in rows]

    def journal_mode(self) -> str:
        """How the store keeps its transactions; ``wal`` where all is well."""
        from agent_raw_rag.store.features import journal_mode

        return journal_mode(self.reader().connection)

    def ahead_of(self, now: Millis) -> tuple[int, Millis | None, Millis | None]:
        """(live turns said after ``now``, time of the last of them, time of the last reading)."""
        from agent_raw_rag.store.totals import ahead_of

        return ahead_of(self.reader().connection, now)

    def spaces(self) -> list[SpaceRow]:
        """The vector spaces there are."""
        from agent_raw_rag.store.spaces import Spaces

        return Spaces(self.reader().connection).rows()

    def waiting(self, adapter: Adapter, roots: tuple[Root, ...], *, has_store: bool) -> Waiting:
        """What of an agent's logs is not stored yet."""
        from agent_raw_rag.ingest.waiting import waiting
        from agent_raw_rag.store.sources import Sources

        return waiting(adapter, roots, Sources(self.reader().connection) if has_store else None)

    def compare_words(self) -> Compared:
        """The lexical index against the store. Raises StoreBusyError if it seems to disagree and nobody can be sure."""
        from agent_raw_rag.ingest.verify import compare_lexical

        return self._surely(lambda: compare_lexical(self.reader(), self.home))

    def compare_vectors(self, space: SpaceRow) -> Compared:
        """The vector cache of a space against the store. Raises as ``compare_words``."""
        from agent_raw_rag.ingest.verify import compare_cache

        return self._surely(lambda: compare_cache(self.reader().connection, self.home, space))

    def rebuild_words(self) -> int:
        """Make the lexical index anew; returns the chunks in it. Raises StoreBusyError."""
        from agent_raw_rag.ingest.verify import rebuild_lexical
        from agent_raw_rag.store.reader import Reader

        with self._writing("rebuild the lexical index") as connection:
            return rebuild_lexical(Reader(connection), self.home)

    def rebuild_vectors(self, space: SpaceRow) -> int:
        """Make the vector cache of a space anew; returns its rows. Raises StoreBusyError."""
        from agent_raw_rag.ingest.verify import rebuild_cache

        with self._writing("rebuild a vector cache") as connection:
            return rebuild_cache(connection, self.home, space)

    def _surely(self, compare: Callable[[], Compared]) -> Compared:
        """What a comparison finds. A writer between two looks makes things seem to disagree: then again, with nobody writing."""
        found = compare()
        if not found.fault:
            return found
        with self._lock("compare with the store"):
            return compare()

    @contextmanager
    def _lock(self, purpose: str) -> Iterator[None]:
        from agent_raw_rag.store.lock import WRITER, lock

        with lock(self.home, WRITER, wait_seconds=self.wait_seconds, purpose=purpose):
            yield

    @contextmanager
    def _writing(self, purpose: str) -> Iterator[Connection]:
        from agent_raw_rag.store.connection import connect

        with self._lock(purpose), closing(connect(self.store, write=True)) as connection:
            yield connection
