"""How long what is said stays: as the settings say of all of it, and on purpose, of a session that no forgetting by filters is
to take."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_raw_rag.errors import ConflictError, NotFoundError
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.results import Kept
from agent_raw_rag.models import Actor, Capture
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.writer import Writer

NOTHING, FOR_ITS_SESSION, PERMANENT = "false", "session", "permanent"
"""What ``[capture] store_turns`` may say besides ``true``."""


def as_configured(capture: Capture, store_turns: str) -> Capture | None:
    """What is captured of a turn of a chat, of the proxy, or of what a program hands in; None: nothing.

    Args:
        capture: It is neither kept nor passing.
        store_turns: As the settings say it.
    """
    if store_turns == NOTHING:
        return None
    return replace(capture, kept=store_turns == PERMANENT, passing=store_turns == FOR_ITS_SESSION)


@dataclass(frozen=True)
class Keeping:
    """The flag of one space's sessions. Safe to use from several threads."""

    store: SpaceStore

    def session(self, name: str, actor: Actor, *, on: bool = True) -> Kept:
        """Keep a session, with its sub-agents, or let it go again. Twice is once.

        Args:
            name: As ``Reader.session`` takes it.

        Raises:
            NotFoundError: there is none of this name.
            UsageError: there are several.
            ConflictError: it is there for its own history only.
        """
        if not self.store.exists():
            raise NotFoundError(f"There is no session {name!r}.", hint="`raw-rag sessions` lists them.")
        found = self.store.read().session(name)
        with self.store.write() as connection:
            writer = Writer(connection)
            row = writer.session_by_id(found.id)
            if row.passing:
                raise ConflictError(
                    f"{row.public_id} is there for its own history only.",
                    hint='With [capture] store_turns = "true" or "permanent" the next one is stored for good.',
                )
            changed = row.kept is not on
            if changed:
                row.kept = on
                writer.save_session(row)
                action = "keep" if on else "let_go"
                Journal(connection).add(actor, action, time=self.store.now(), target=row.public_id)
        return Kept(row.public_id, on, changed)
