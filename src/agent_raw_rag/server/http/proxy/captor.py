"""The thread that captures what the proxy overheard, after the answer's last byte. A failure of it is counted, no more."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from agent_raw_rag.gateway.exchange import Exchange, captures, heard
from agent_raw_rag.gateway.questions import Questions
from agent_raw_rag.log import NAME
from agent_raw_rag.memory.keeping import NOTHING, as_configured
from agent_raw_rag.runtime import expected, tally
from agent_raw_rag.server.http.proxy.overheard import Budget, Overheard
from agent_raw_rag.server.http.quiet import frames
from agent_raw_rag.server.http.routes import Ground

END_SECONDS = 3.0
_log = logging.getLogger(NAME)


class _LaterError(Exception):
    """The end has come, and others take less time."""


class Captor:
    """Takes exchanges from the event loop, and stores them one by one."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._store_turns = ground.runtime.settings.capture.store_turns
        self._inbox: SimpleQueue[Overheard | None] = SimpleQueue()
        self._questions = Questions()
        self.budget = Budget()
        """Of all that is heard, until it is captured."""
        self._lock = threading.Lock()
        self._open: dict[int, Overheard] = {}
        """What was taken and is not counted yet."""
        self._owed: dict[str, _Owed] = {}
        self._is_ending = False
        self._thread = threading.Thread(target=self._run, name="captor", daemon=True)
        self._thread.start()

    @property
    def stores(self) -> bool:
        """Whether anything is stored at all."""
        return self._store_turns != NOTHING

    def take(self, one: Overheard) -> None:
        """An exchange that is over. Never blocks."""
        with self._lock:
            self._open[id(one)] = one
        self._inbox.put(one)

    def close(self) -> None:
        """Store what is left, the shortest first, and end. What is not stored in time is lost, said and counted."""
        self._is_ending = True
        self._inbox.put(None)
        self._thread.join(END_SECONDS)
        with self._lock:
            lost, self._open = list(self._open.values()), {}
        for one in lost:
            self._count(one, "the server ended before it was captured" if one.heard else None)
        if lost:
            _log.error("the proxy ended while %d exchanges waited for being captured", len(lost))

    def _run(self) -> None:
        while (one := self._inbox.get()) is not None:
            try:
                self._finish(one)
            except _LaterError:
                self._inbox.put(one)  # after the end's mark
            if self._is_ending:
                break
        left = []
        while not self._inbox.empty():
            if (rest := self._inbox.get()) is not None:
                left.append(rest)
        for one in sorted(left, key=lambda one: one.size):
            self._finish(one, is_last=True)

    def _finish(self, one: Overheard, *, is_last: bool = False) -> None:
        why = self._why_not(one, (lambda: time.sleep(0)) if is_last else self._breathe)
        one.drop()
        with self._lock:
            is_open = self._open.pop(id(one), None) is not None
        if is_open:  # else it was counted as lost, at the end
            self._count(one, why)

    def _count(self, one: Overheard, why: str | None) -> None:
        """Count an exchange, with what could not be counted before."""
        if why is not None:
            _log.error("an exchange was not captured, or not all of it: %s", why)
        owed = self._owed.setdefault(one.space, _Owed())
        owed.add(why, stored=one.heard)
        try:
            home = self._ground.runtime.in_space(one.space).home
            tally.add(home, "proxy", calls=owed.calls, errors=owed.errors, why=owed.why, stored=owed.stored)
            del self._owed[one.space]
        except Exception as error:
            _log.error("an exchange was not counted yet: %s", expected(error) or frames(error))

    def _breathe(self) -> None:
        """Let the event loop have the interpreter: it would wait for the end of this thread's turn at each piece it relays."""
        if self._is_ending:
            raise _LaterError
        time.sleep(0)

    def _why_not(self, one: Overheard, breathe: Callable[[], None]) -> str | None:
        """Store an exchange; why it was not stored, or not all of it, without a word of what was said."""
        if not one.heard:
            return one.missing or None
        try:
            return self._store(one, breathe) or one.missing or None
        except _LaterError:
            raise
        except Exception as error:
            return str(expected(error) or frames(error))

    def _store(self, one: Overheard, breathe: Callable[[], None]) -> str:
        """Store what was heard; why it is not all that passed."""
        said = heard(one.form, one.pieces, one.encoding, breathe=breathe)
        question = self._questions.id_of((one.space, one.session), one.asked, said.words)
        exchange = Exchange(one.asked, said, one.session, one.partial, one.asked_at, one.said_at or now(), question)
        told = [told for one in captures(exchange) if (told := as_configured(one, self._store_turns))]
        if told:
            self._ground.runtime.in_space(one.space).memory.raw.capture_all(told, one.actor)
            self._ground.wrote()
        return said.missing


@dataclass(slots=True)
class _Owed:
    """What is to be counted of a space."""

    calls: int = 0
    errors: int = 0
    why: str | None = None
    stored: bool = False

    def add(self, why: str | None, *, stored: bool) -> None:
        self.calls += 1
        self.errors += why is not None
        self.why = why or self.why
        self.stored = self.stored or stored


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
