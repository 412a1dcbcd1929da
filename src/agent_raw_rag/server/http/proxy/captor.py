"""The thread that captures what the proxy overheard, after the answer's last byte. A failure of it is counted, no more."""

from __future__ import annotations

import logging
import threading
import time
from queue import SimpleQueue

from agent_raw_rag.gateway.exchange import Exchange, captures, heard
from agent_raw_rag.gateway.questions import Questions
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected, tally
from agent_raw_rag.server.http.proxy.overheard import Budget, Overheard
from agent_raw_rag.server.http.quiet import frames
from agent_raw_rag.server.http.routes import Ground

END_SECONDS = 3.0
_log = logging.getLogger(NAME)


class Captor:
    """Takes exchanges from the event loop, and stores them one by one."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._store_turns = ground.runtime.settings.capture.store_turns
        self._inbox: SimpleQueue[Overheard | None] = SimpleQueue()
        self._questions = Questions()
        self.budget = Budget()
        """Of all that is heard, until it is captured."""
        self._thread = threading.Thread(target=self._run, name="captor", daemon=True)
        self._thread.start()

    @property
    def stores(self) -> bool:
        """Whether anything is stored at all."""
        return self._store_turns != "false"

    def take(self, one: Overheard) -> None:
        """An exchange that is over. Never blocks."""
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
            one.drop()
            if why is not None:
                _log.error("an exchange was not captured, or not all of it: %s", why)
            try:
                home = self._ground.runtime.in_space(one.space).home
                tally.add(home, "proxy", calls=1, errors=int(why is not None), why=why, stored=one.heard)
            except Exception as error:
                _log.error("an exchange was not counted: %s", expected(error) or frames(error))

    def _why_not(self, one: Overheard) -> str | None:
        """Store an exchange; why it was not stored, or not all of it, without a word of what was said."""
        if not one.heard:
            return one.missing or None
        try:
            return self._store(one) or one.missing or None
        except Exception as error:
            return str(expected(error) or frames(error))

    def _store(self, one: Overheard) -> str:
        """Store what was heard; why it is not all that passed."""
        said = heard(one.form, one.pieces, one.encoding, breathe=_breathe)
        question = self._questions.id_of((one.space, one.session), one.asked, said.words)
        told = captures(
            Exchange(one.asked, said, one.session, one.partial, one.asked_at, one.said_at or now(), question),
            kept=self._store_turns == "permanent", passing=self._store_turns == "session",
        )  # fmt: skip
        if told:
            self._ground.runtime.in_space(one.space).memory.raw.capture_all(told, one.actor)
            self._ground.wrote()
        return said.missing


def _breathe() -> None:
    """Let the event loop have the interpreter: it would wait for the end of this thread's turn at each piece it relays."""
    time.sleep(0)


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
