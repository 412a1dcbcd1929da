"""The end of sessions that are kept for their own history only: what they hold is forgotten, with its row in the journal."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store import passing
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.presence import alone, live

ENDED, IDLE = "the session ended", "the session was silent"


@dataclass(frozen=True)
class Passing:
    """The passing sessions of one space. Safe to use from several threads and processes."""

    store: SpaceStore

    def end(self, door: str, native: str, actor: Actor) -> bool:
        """Forget what a passing session holds: text and names go, tombstones stay. One that is not passing, or whose chat another
        process still holds, is left as it is; this process may hold it once.

        Args:
            door: The one its turns came through.
            native: What its caller calls it.

        Returns:
            Whether anything was forgotten.

        Raises:
            StoreError: it could not be written.
        """
        return bool(self.store.exists() and self._end(door, native, actor, ENDED, None, among=1))

    def end_idle(self, seconds: float, actor: Actor) -> int:
        """End those that the store has not heard of for so long, and that no process holds, nor this one. Returns how many."""
        if not self.store.exists():
            return 0
        since = self.store.now() - int(seconds * 1000)
        idle = list(passing.unheard(self.store.read().connection, since))
        return sum(self._end(door, native, actor, IDLE, since) for door, native in idle)

    def _end(self, door: str, native: str, actor: Actor, why: str, since: Millis | None, among: int = 0) -> bool:
        with alone(self.store.home, live(door, native), among=among) as nobody_else:
            if not nobody_else:
                return False
            with self.store.write() as connection:
                turns = passing.end(connection, door, native, since)
                if turns:
                    told = {"sessions": 1, "turns": turns, "reason": why}
                    Journal(connection).add(
                        actor, "forget", time=self.store.now(), target=f"{door}:{native}", detail=told
                    )
        if turns:
            passing.leave_no_trace(self.store.read().connection)
        return bool(turns)
