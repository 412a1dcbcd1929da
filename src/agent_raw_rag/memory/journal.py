"""The journal of one space, to read and to verify."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.results import JournalShown, Verified, stamp
from agent_raw_rag.search.dates import instant
from agent_raw_rag.store.journal import Journal, JournalRow

MOST = 10_000


@dataclass(frozen=True)
class JournalView:
    """The journal of one space, to read and to verify."""

    store: SpaceStore
    zone: tzinfo = UTC
    """Whose days are meant."""

    def rows(self, limit: int = 50, since: str | None = None) -> JournalShown:
        """The last acts, oldest first.

        Args:
            limit: So many at most.
            since: Only those from this day or instant on, as every date filter takes it.

        Raises:
            BadArgumentError: the limit is no number of rows.
            UsageError: ``since`` names no time.
        """
        if not 1 <= limit <= MOST:
            raise BadArgumentError(f"The limit is {limit}, and must be from 1 to {MOST}.")
        start = instant(since, now=datetime.now(self.zone), upper=False) if since else None
        if not self.store.exists():
            return JournalShown([])
        journal = Journal(self.store.read().connection)
        return JournalShown([_shown(row) for row in journal.rows(limit=limit, since=start)])

    def page(
        self, limit: int, *, since: str | None = None, action: str | None = None, before_id: int | None = None
    ) -> JournalShown:
        """Acts from the last one backwards.

        Args:
            limit: So many at most.
            since: As ``rows``.
            action: Only acts of this name.
            before_id: Only acts before this number.

        Raises:
            UsageError: ``since`` names no time.
        """
        start = instant(since, now=datetime.now(self.zone), upper=False) if since else None
        if not self.store.exists():
            return JournalShown([])
        journal = Journal(self.store.read().connection)
        found = journal.page(limit, since=start, action=action, before_id=before_id)
        return JournalShown([_shown(row) for row in found])

    def verify(self) -> Verified:
        """Whether every act stands as it was written. Reads all of them."""
        if not self.store.exists():
            return Verified(ok=True, rows=0)
        journal = Journal(self.store.read().connection)
        broken = journal.broken()
        return Verified(ok=broken is None, rows=journal.count(), broken=broken)


def _shown(row: JournalRow) -> dict[str, object]:
    try:
        time = stamp(row.time)
    except (TypeError, ValueError, OverflowError, OSError):  # somebody edited it; ``verify`` tells
        time = str(row.time)
    return {**row.as_json(), "time": time}
