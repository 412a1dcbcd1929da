"""Vectors in a thread of their own: text never waits for a model, and vectors wait for the machine."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from agent_raw_rag.daemon.schedule import NEVER, Backoff, Debounce
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected
from agent_raw_rag.runtime.priority import step_back

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import Note
    from agent_raw_rag.runtime import Runtime

QUIET = Debounce(quiet=3.0, longest=30.0)
"""After new text. The last window of a session changes with each of its turns, and is embedded anew each time."""
PATIENCE = Backoff(first=30.0, longest=1800.0)
"""After a model that does not work."""
LOOK_AGAIN_SECONDS = 20.0
"""While the machine is busy."""

_log = logging.getLogger(NAME)


class Stopped(Exception):  # noqa: N818 - not an error
    """The daemon ends, or the machine is needed for something else. What is stored stays."""


class Plan:
    """When vectors are made next: pure, every instant is passed in."""

    def __init__(self) -> None:
        self._first = self._last = NEVER
        self._not_before = -NEVER
        self._failures = 0

    def added(self, now: float) -> None:
        """There is new text."""
        self._first, self._last = min(self._first, now), now

    def at(self) -> float:
        """When to try."""
        if self._first == NEVER:
            return NEVER
        return max(self._not_before, QUIET.due_at(self._first, self._last))

    def waits(self, now: float) -> None:
        """The machine is needed for something else."""
        self._not_before = now + LOOK_AGAIN_SECONDS

    def failed(self, now: float) -> None:
        """The model does not work, or the store is not to be had."""
        self._failures += 1
        self._not_before = now + PATIENCE.delay(self._failures)

    def began(self) -> None:
        """It is being tried. Text that comes from now on counts for the next time."""
        self._first = self._last = NEVER

    def done(self) -> None:
        """Everything there was has its vector."""
        self._failures, self._not_before = 0, -NEVER


class Vectors:
    """The thread."""

    def __init__(
        self, runtime: Callable[[], Runtime], reason_to_wait: Callable[[], str | None], on_news: Callable[[], None]
    ) -> None:
        self._runtime = runtime
        self._on_news = on_news
        self._reason = reason_to_wait
        self._plan = Plan()
        self._inbox: SimpleQueue[bool] = SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)
        self.backlog: int | None = None
        self.waits: str | None = None
        """Why it waits, in words."""
        self.problem: str | None = None

    def start(self) -> None:
        """Begin with the backlog there is."""
        self.added()
        self._thread.start()

    def added(self) -> None:
        """There is new text."""
        self._inbox.put(True)

    def end(self) -> None:
        """End after the slice that is being made."""
        self._stop.set()
        self._inbox.put(False)

    def join(self, wait_seconds: float) -> None:
        """Wait for that, if it ever began."""
        if self._thread.ident is not None:
            self._thread.join(wait_seconds)

    def _run(self) -> None:
        step_back()
        while not self._stop.is_set():
            left = self._plan.at() - time.monotonic()
            try:
                if self._inbox.get(timeout=None if left == NEVER else max(0.0, left)):
                    self._plan.added(time.monotonic())
            except Empty:
                before = self.backlog, self.waits, self.problem
                self._try()
                if before != (self.backlog, self.waits, self.problem):
                    self._on_news()

    def _try(self) -> None:
        self.waits = self._reason()
        if self.waits is not None:
            self._plan.waits(time.monotonic())
            self._look_on()
            return
        self._plan.began()
        try:
            finished = self._embed()
        except Stopped:
            self._later(self._plan.waits)
        except Exception as error:
            known = expected(error)
            _log.warning("vectors: %s", known or error, exc_info=known is None)
            self.problem = str(known or error)
            self._later(self._plan.failed)
        else:
            self.waits = None
            if finished:
                self._plan.done()
            else:
                self._later(self._plan.failed)

    def _look_on(self) -> None:
        """What can be done without a model: vectors that are stored are searched, and it is known how many are missing."""
        try:
            spaces = self._runtime().spaces
            spaces.feed()
            self.backlog = spaces.backlog()
        except Exception as error:
            known = expected(error)
            _log.warning("vectors: %s", known or error, exc_info=known is None)

    def _later(self, how: Callable[[float], None]) -> None:
        self._plan.added(time.monotonic())
        how(time.monotonic())

    def _embed(self) -> bool:
        """Whether all that could be done is done."""
        from agent_raw_rag.ingest.run import FEED_LEAST_CHUNKS, IngestReport
        from agent_raw_rag.runtime.backlogs import feed_words, keep_up

        report, runtime = IngestReport({}, embedded=0, backlog=-1, seconds=0.0), self._runtime()
        feed_words(runtime, FEED_LEAST_CHUNKS)
        runtime.spaces.embed(report, self._noted)
        keep_up(runtime, report, self._noted)
        self.backlog = max(report.backlog, 0)
        if report.encoder_problem and report.encoder_problem != self.problem:
            _log.warning("vectors: %s", report.encoder_problem)
        self.problem = report.encoder_problem
        for note in report.notes:
            _log.info("vectors: %s", note)
        if report.embedded:
            _log.info("%d vectors made, %d chunks to go", report.embedded, self.backlog)
        return self.problem is None and self.backlog == 0

    def _noted(self, note: Note) -> None:
        """After each slice."""
        self.backlog = note.total - note.done
        self.waits = self._reason()
        self._on_news()
        if self._stop.is_set() or self.waits is not None:
            raise Stopped
