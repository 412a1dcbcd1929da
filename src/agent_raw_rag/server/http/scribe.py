"""Denials and uses of tokens, written down in a thread of its own: no answer waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from agent_raw_rag.log import NAME
from agent_raw_rag.memory.denials import Denial, Denials
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.runtime import expected
from agent_raw_rag.server.http.quiet import frames
from agent_raw_rag.store.journal import Journal

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

LOOK_SECONDS = 30.0
END_SECONDS = 2.0
_log = logging.getLogger(NAME)


class Scribe:
    """Takes notes from the event loop, and writes them into the journals and the tokens' table."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._denials = Denials()
        self._inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="scribe", daemon=True)
        self._thread.start()

    def denied(self, actor: Actor, space: str, reason: str, target: str | None, now: Millis) -> None:
        """A request was refused to somebody."""
        self._inbox.put(lambda: self._write(self._denials.add(actor, space, reason, target, now)))

    def used(self, number: int, now: Millis) -> None:
        """A token was used."""
        self._inbox.put(lambda: self._runtime.tokens.note_use(number, now))

    def close(self) -> None:
        """Write down what is left, and end."""
        self._inbox.put(lambda: self._write(self._denials.flush()))
        self._inbox.put(None)
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        while True:
            try:
                act = self._inbox.get(timeout=LOOK_SECONDS)
            except Empty:
                act = self._overdue
            if act is None:
                return
            try:
                act()
            except Exception as error:
                known = expected(error)
                _log.error("a denial or a use was not written down: %s", known or frames(error))

    def _overdue(self) -> None:
        self._write(self._denials.due(time.time_ns() // 1_000_000))

    def _write(self, denials: list[Denial]) -> None:
        for one in denials:
            with self._runtime.in_space(one.space).memory.store.write() as connection:
                Journal(connection).add(
                    one.actor, "denied", time=time.time_ns() // 1_000_000, target=one.target, detail=one.detail()
                )
