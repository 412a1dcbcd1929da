"""Denials for the journal: the first of a kind at once, the rest of its minute as one row. No stranger's word gets in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent_raw_rag.models import Actor, Millis

WINDOW_MS = 60_000
MOST_KINDS = 1000
"""Of denials that are remembered at once; a kind is a token and what it was denied, never text of a request."""


@dataclass(frozen=True, slots=True)
class Denial:
    """What is written down."""

    actor: Actor
    space: str
    """Whose journal it belongs to."""
    reason: str
    target: str | None
    count: int

    def detail(self) -> dict[str, Any]:
        """For the journal's row."""
        return {"reason": self.reason, "count": self.count}


@dataclass(slots=True)
class _Kind:
    since: Millis
    untold: int = 0


class Denials:
    """Counts denials. Pure: every instant is passed in. For one thread."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[Actor, str, str, str | None], _Kind] = {}

    def add(self, actor: Actor, space: str, reason: str, target: str | None, now: Millis) -> list[Denial]:
        """Note one; returns what is to be written now."""
        due = self.due(now)
        key = (actor, space, reason, target)
        kind = self._kinds.get(key)
        if kind is not None:
            kind.untold += 1
            return due
        if len(self._kinds) >= MOST_KINDS:
            due += self.flush()
        self._kinds[key] = _Kind(now)
        return [*due, Denial(actor, space, reason, target, 1)]

    def due(self, now: Millis) -> list[Denial]:
        """What was only counted, of minutes that are over."""
        over = [key for key, kind in self._kinds.items() if now - kind.since >= WINDOW_MS]
        return [denial for key in over for denial in self._told(key)]

    def flush(self) -> list[Denial]:
        """What was only counted so far: the server ends."""
        return [denial for key in list(self._kinds) for denial in self._told(key)]

    def _told(self, key: tuple[Actor, str, str, str | None]) -> list[Denial]:
        kind = self._kinds.pop(key)
        actor, space, reason, target = key
        return [Denial(actor, space, reason, target, kind.untold)] if kind.untold else []
