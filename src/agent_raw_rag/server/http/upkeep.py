"""What the daemon would do, while none runs, in every space: words and vectors of captures, the sweep, ending what passes."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected
from agent_raw_rag.runtime.backlogs import feed_words, keep_up
from agent_raw_rag.runtime.ending import EVERY_SECONDS, end_idle_sessions
from agent_raw_rag.runtime.priority import step_back
from agent_raw_rag.runtime.sweeping import sweep_spaces, warn_of_rules
from agent_raw_rag.server.http.quiet import frames
from agent_raw_rag.store.lock import DAEMON, is_held

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import Note
    from agent_raw_rag.runtime import Runtime

QUIET_SECONDS = 3.0
"""After the last write: who writes much is not to be disturbed at each of them."""
LONGEST_SECONDS = 30.0
"""After the first one that is not followed up yet."""
END_SECONDS = 2.0
_log = logging.getLogger(NAME)


class Stopped(Exception):  # noqa: N818 - not an error
    """The server ends. What is stored stays."""


class Upkeep:
    """The thread. It sleeps until something was written, or a sweep is due."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._news = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        """Begin with what there is."""
        self.wrote()
        self._thread.start()

    def wrote(self) -> None:
        """Something was written to some space. Never blocks."""
        self._news.set()

    def close(self) -> None:
        """End at the next slice."""
        self._stopping.set()
        self._news.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        step_back()
        sweep_at = end_at = time.monotonic()
        warn_of_rules(self._runtime)
        while not self._stopping.is_set():
            has_news = self._news.wait(max(0.0, min(sweep_at, end_at) - time.monotonic()))
            if has_news:
                self._settle_down()
            if is_held(self._runtime.home, DAEMON):
                sweep_at = end_at = time.monotonic() + LONGEST_SECONDS  # it may end
                continue
            if time.monotonic() >= end_at:
                end_idle_sessions(self._runtime)
                end_at = time.monotonic() + EVERY_SECONDS
            if has_news:
                self._follow_guarded()
            if time.monotonic() >= sweep_at:
                sweep_at = time.monotonic() + sweep_spaces(self._runtime)

    def _settle_down(self) -> None:
        """Wait until nobody has written for a moment."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while self._news.is_set() and time.monotonic() < deadline:
            self._news.clear()
            if self._stopping.wait(QUIET_SECONDS):
                return

    def _follow(self) -> None:
        from agent_raw_rag.ingest.run import IngestReport

        report = IngestReport({}, embedded=0, backlog=0, seconds=0.0)
        if self._runtime.memory.store.exists():
            feed_words(self._runtime)
            self._runtime.spaces.embed(report, self._noted)
        keep_up(self._runtime, report, self._noted)
        if report.embedded:
            _log.info("%d vectors made, %d chunks to go", report.embedded, report.backlog)
        if report.encoder_problem:
            _log.warning("vectors: %s", report.encoder_problem)

    def _follow_guarded(self) -> None:
        try:
            self._follow()
        except Stopped:
            pass
        except Exception as error:
            known = expected(error)
            _log.warning("upkeep: %s", known or frames(error))

    def _noted(self, note: Note) -> None:
        if self._stopping.is_set():
            raise Stopped
