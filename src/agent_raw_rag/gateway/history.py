"""What was said before in a chat: from the store, so that any process can go on with it; or, where nothing is stored, from the
memory of this one."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from agent_raw_rag.gateway.shapes import Message
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.models import Role
from agent_raw_rag.store.captured import CapturedRows

DOOR = "chat"
MOST_TURNS = 400
"""That are looked at: the last ones."""
MOST_SESSIONS = 200
MOST_CHARS = 2_000_000
"""Of one session in memory."""
MOST_CHARS_OF_ALL = 16_000_000
"""Of all sessions of a space in memory; the one that is spoken in stays."""
_ROLES = {Role.USER: "user", Role.ASSISTANT: "assistant"}


class History(Protocol):
    """What was said in each session."""

    def messages(self, session: str) -> list[Message]:
        """Of one session, oldest first; none if nobody knows of it. Raises StoreError."""
        ...

    def add(self, session: str, message: Message) -> None:
        """Something was said, whether it was stored or not."""
        ...


@dataclass(frozen=True)
class StoredHistory:
    """The sessions of the store that came through the chat's door."""

    store: SpaceStore

    def messages(self, session: str) -> list[Message]:
        """Of one session, oldest first, at most the last ``MOST_TURNS``."""
        if not self.store.exists():
            return []
        reader = self.store.read()
        number = CapturedRows(reader.connection).session_of(DOOR, session)
        if number is None:
            return []
        last = reader.session_rows([number])[number].turns
        turns = reader.turns(number, last - MOST_TURNS + 1)
        return [Message(_ROLES[one.role], one.text) for one in turns if one.role in _ROLES]

    def add(self, session: str, message: Message) -> None:
        """The store has it."""


@dataclass
class PassingHistory:
    """Sessions in this process alone, as long as they are not silent for too long. Safe to use from several threads."""

    idle_seconds: float
    clock: Callable[[], float] = time.monotonic
    _sessions: OrderedDict[str, tuple[float, list[Message]]] = field(default_factory=OrderedDict, repr=False)
    """Session -> (when it was last spoken in, what was said), the one that was silent for longest first."""
    _chars: int = field(default=0, repr=False)
    """Of all that was said."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def messages(self, session: str) -> list[Message]:
        """Of one session, oldest first."""
        with self._lock:
            self._forget_old()
            return list(self._sessions.get(session, (0.0, []))[1])

    def add(self, session: str, message: Message) -> None:
        """Keep what was said, and drop what is too much."""
        with self._lock:
            self._forget_old()
            told = [*self._pop(session), message][-MOST_TURNS:]
            while len(told) > 1 and _chars(told) > MOST_CHARS:
                told.pop(0)
            self._sessions[session] = self.clock(), told
            self._chars += _chars(told)
            while len(self._sessions) > MOST_SESSIONS or (len(self._sessions) > 1 and self._chars > MOST_CHARS_OF_ALL):
                self._pop(next(iter(self._sessions)))

    def _forget_old(self) -> None:
        oldest = self.clock() - self.idle_seconds
        while self._sessions and next(iter(self._sessions.values()))[0] < oldest:
            self._pop(next(iter(self._sessions)))

    def _pop(self, session: str) -> list[Message]:
        _, told = self._sessions.pop(session, (0.0, []))
        self._chars -= _chars(told)
        return told


def _chars(told: list[Message]) -> int:
    return sum(len(one.text) for one in told)
