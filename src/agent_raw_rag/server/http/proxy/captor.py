"""The thread that captures what the proxy overheard, after the answer's last byte. A failure of it is counted, no more."""

from __future__ import annotations

import logging
import threading
import time
from queue import SimpleQueue

from agent_raw_rag.gateway.exchange import Exchange, captures, heard
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected, tally
from agent_raw_rag.server.http.proxy.overheard import Overheard
from agent_raw_rag.server.http.quiet import frames
from agent_raw_rag.server.http.routes import Ground

END_SECONDS = 3.0
MOST_WAITING = 256 * 1024 * 1024
"""Bytes that wait for being captured; what comes then is lost, and counted."""
_log = logging.getLogger(NAME)


class Captor:
    """Takes exchanges from the event loop, and stores them one by one."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._store_turns = ground.runtime.settings.capture.store_turns
        self._inbox: SimpleQueue[Overheard | None] = SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="captor", daemon=True)
        self._thread.start()

    def take(self, one: Overheard) -> None:
        """An exchange that is over. Never blocks."""
        with self._lock:
            if self._waiting + one.size > MOST_WAITING:
                one.pieces, one.heard = [], False
            self._waiting += one.size
        self._inbox.put(one)

    def close(self) -> None:
        """Store what is left, and end. What is not stored in time is lost, and said."""
        self._inbox.put(None)
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            _log.error("the proxy ends while %d exchanges wait for being captured", self._inbox.qsize())

    def _run(self) -> None:
        while (one := self._inbox.get()) is not None:
            why = self._why_not(one)
            with self._lock:
                self._waiting -= one.size
            if why is not None:
                _log.error("an exchange was not captured: %s", why)
            try:
                home = self._ground.runtime.in_space(one.space).home
                tally.add(home, "proxy", calls=1, errors=int(why is not None), why=why)
            except Exception as error:
                _log.error("an exchange was not counted: %s", expected(error) or frames(error))

    def _why_not(self, one: Overheard) -> str | None:
        """Store an exchange; why it was not stored, without a word of what was said."""
        if self._store_turns == "false" or not one.asked.messages:
            return None
        if not one.heard:
            return "too much waits for being captured" if one.size and not one.pieces else None
        try:
            self._store(one)
        except Exception as error:
            return str(expected(error) or (error if type(error) is ValueError else frames(error)))
        return None

    def _store(self, one: Overheard) -> None:
        said = heard(one.form, b"".join(one.pieces), one.encoding, breathe=_breathe)
        told = captures(
            Exchange(one.asked, said, one.session, one.partial, one.asked_at, one.said_at or now()),
            kept=self._store_turns == "permanent", passing=self._store_turns == "session",
        )  # fmt: skip
        if told:
            self._ground.runtime.in_space(one.space).memory.raw.capture_all(told, one.actor)
            self._ground.wrote()


def _breathe() -> None:
    """Let the event loop have the interpreter: it would wait for the end of this thread's turn at each piece it relays."""
    time.sleep(0)


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
