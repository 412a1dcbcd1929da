"""The journal of one space, to read and to verify."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.results import JournalShown, Verified, stamp
from agent_raw_rag.models import Millis
from agent_raw_rag.store.journal import Journal, JournalRow

MOST = 10_000


@dataclass(frozen=True)
class JournalView:
    """The journal of one space, to read and to verify."""

    store: SpaceStore

    def rows(self, limit: int = 50, since: Millis | None = None) -> JournalShown:
        """The last acts, oldest first; with ``since`` only those from that instant on.

        Raises:
            BadArgumentError: the limit is no number of rows.
        """
        if limit < 1:
            raise BadArgumentError(f"The limit is {limit}, and must be from 1 to {MOST}.")
        if not self.store.exists():
            return JournalShown([])
        journal = Journal(self.store.read().connection)
        return JournalShown([_shown(row) for row in journal.rows(limit=min(limit, MOST), since=since)])

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
