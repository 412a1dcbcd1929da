"""The watch loop: what happens to the agents' logs -> what is new is read, one agent at a time, in this thread.

It sleeps until an event, a signal, or the next scan. Whatever goes wrong with one source or one agent is noted, tried again
later, and holds up no other.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from agent_raw_rag.daemon.captures import Captures
from agent_raw_rag.daemon.door import Door
from agent_raw_rag.daemon.footing import Footing
from agent_raw_rag.daemon.health import Health
from agent_raw_rag.daemon.pressure import Pressure
from agent_raw_rag.daemon.schedule import Due, Schedule
from agent_raw_rag.daemon.vectors import Stopped, Vectors
from agent_raw_rag.daemon.watch import Watch, places
from agent_raw_rag.errors import RawRagError
from agent_raw_rag.ingest.picture import Picture, changed_at
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected
from agent_raw_rag.runtime.ending import EVERY_SECONDS, end_idle_sessions
from agent_raw_rag.runtime.sweeping import sweep_spaces, warn_of_rules
from agent_raw_rag.store.lock import DAEMON as LOCK

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import IngestReport, Note
    from agent_raw_rag.runtime import Runtime

WRITER_WAIT_SECONDS = 1.0
"""For another process that writes. No longer, so that the end is not held up; it is tried again."""
LONGEST_SLEEP_SECONDS = 1.0 if sys.platform == "win32" else 3600.0
"""On Windows a signal wakes nobody who waits for a queue: it is seen at the end of the wait."""
END_SECONDS = 3.0
"""For what is under way when the daemon ends: the requests that are being answered, and beside them the slice of vectors that is
being made, which is made again next time."""

_log = logging.getLogger(NAME)


class Daemon:
    """One process that keeps one store current. ``stop`` and ``reload`` may be called from a signal handler."""

    def __init__(self, load: Callable[[], Runtime], scan_seconds: float) -> None:
        self._load = load
        self._scan_seconds = scan_seconds
        self.runtime = load()
        self.health = Health(self.runtime.home)
        self._inbox: SimpleQueue[str | None] = SimpleQueue()
        """Paths that something happened to; None: only to wake up."""
        self._stopping = self._reloading = self._arrived = self._has_begun = False
        home, store = self.runtime.home, self.runtime.settings.store_path()
        self._footing = Footing(os.path.join(home, f"{LOCK}.lock"), store)
        self.lost: str | None = None
        """Why this daemon ended by itself, and another one is to begin."""
        self._watch = Watch(self._inbox.put, self._on_arrival)
        self._pictures: dict[str, Picture] = {}
        self._schedule = Schedule(scan_seconds, time.monotonic())
        self._pressure = Pressure()
        self._door = Door()
        self._sweep_at = self._end_at = time.monotonic()
        self._captures = Captures()
        self.vectors = Vectors(lambda: self.runtime, self._reason_to_wait, lambda: self._inbox.put(None))

    def stop(self) -> None:
        """End soon, in good order."""
        self._stopping = True
        self._inbox.put(None)

    def reload(self) -> None:
        """Take the configuration anew."""
        self._reloading = True
        self._inbox.put(None)

    def run(self) -> None:
        """Watch until ``stop``. A thread that has not ended then sits in a model's code."""
        try:
            self._door.keep_open(self.runtime)
            self._begin()
            self.vectors.start()
            while not self._stopping:
                self._round()
                self._stand()
        except Stopped:
            pass
        finally:
            until = time.monotonic() + END_SECONDS
            self.vectors.end()
            self._watch.stop()
            self._door.close()
            self.vectors.join(max(0.0, until - time.monotonic()))
            self.health.end()

    def _stand(self) -> None:
        if (why := self._footing.lost()) is not None:
            _log.warning("%s: beginning anew", why)
            self.lost, self._stopping = why, True

    def _round(self) -> None:
        self._sleep()
        self._drain()
        if self._reloading:
            self._reload()
        if self._arrived:
            self._follow()
        for due in self._schedule.due(time.monotonic()):
            self._look_and_read(due)
        if self._schedule.is_scan_due(time.monotonic()):
            self._scan()
        self._sweep_if_due()
        self._end_if_due()
        self._tell()

    # ------------------------------------------------------------ waiting

    def _sleep(self) -> None:
        left = min(self._schedule.next_at(), self.health.next_at(), self._sweep_at, self._end_at) - time.monotonic()
        try:
            self._noticed(self._inbox.get(timeout=min(max(0.0, left), LONGEST_SLEEP_SECONDS)))
        except Empty:
            pass

    def _drain(self) -> None:
        while True:
            try:
                self._noticed(self._inbox.get_nowait())
            except Empty:
                return

    def _noticed(self, path: str | None) -> None:
        if path is None:
            return
        for agent, picture in self._pictures.items():
            if picture.holds(path):
                source = picture.source_of(path)
                if source is not None or picture.may_be_news(path) or os.path.isdir(path):
                    self._schedule.changed(agent, source, time.monotonic())

    def _on_arrival(self, path: str) -> None:
        self._arrived = True
        self._inbox.put(None)

    def _on_note(self, note: Note) -> None:
        """Between two sources or batches."""
        self._drain()
        self._tell()
        if self._stopping:
            raise Stopped

    def _tell(self) -> None:
        vectors = self.vectors
        if self._has_begun and not any(one.waiting for one in self.health.beat.agents.values()):
            self.health.say(caught_up=True)
        self._door.keep_open(self.runtime)
        self.health.say(
            serving=self._door.problem or "", backlog=vectors.backlog, vectors_wait=vectors.waits or vectors.problem
        )
        self.health.write_if_due(now=time.monotonic())

    def _reason_to_wait(self) -> str | None:
        settings = self.runtime.settings.daemon
        return self._pressure.reason(settings.busy_load, settings.on_battery)

    # ------------------------------------------------------------ beginning, and beginning anew

    def _begin(self) -> None:
        """Watch first, then read everything: what happens meanwhile is noticed."""
        agents = self.runtime.agents()
        self._schedule = Schedule(self._scan_seconds, time.monotonic())
        self._pictures = {name: Picture(row, roots) for name, (row, roots) in agents.items()}
        self.health.beat.agents.clear()
        self._has_begun = False
        self.health.say(caught_up=False)
        warn_of_rules(self.runtime)
        self._follow()
        for name in self._pictures:
            self._read(name, self._look(name), None)
        self._has_begun = True
        self._tell()

    def _follow(self) -> None:
        self._arrived = False
        roots = [root for picture in self._pictures.values() for root in picture.roots]
        while new := self._watch.follow(places(roots)):  # again, as a folder may appear before its parent is watched
            for path, kind in new:
                if kind != "arrival":
                    self._newly_watched(path)
        self.health.say(watching=self._watch.problem or "")

    def _newly_watched(self, path: str) -> None:
        """What a folder held before it was watched was not told."""
        for agent, picture in self._pictures.items():
            if picture.holds(os.path.join(path, "")):
                self._schedule.changed(agent, None, time.monotonic())

    def _reload(self) -> None:
        self._reloading = False
        try:
            fresh = self._load()
            fresh.agents()
            if fresh.home != self.runtime.home:
                raise RawRagError("The store's place was changed.", hint="Start the daemon anew for that.")
        except RawRagError as error:
            _log.error("the configuration stays as it was: %s", error)
            self.health.say(config_problem=str(error))
            return
        self.runtime = fresh
        self._door.keep_open(fresh)
        self.health.say(config_problem=None)
        _log.info("the configuration was read again")
        self._begin()
        self._sweep_at = time.monotonic()
        self.vectors.added()

    def _sweep_if_due(self) -> None:
        if time.monotonic() >= self._sweep_at:
            self._sweep_at = time.monotonic() + sweep_spaces(self.runtime)

    def _end_if_due(self) -> None:
        if time.monotonic() >= self._end_at:
            end_idle_sessions(self.runtime)
            self._end_at = time.monotonic() + EVERY_SECONDS

    # ------------------------------------------------------------ looking and reading

    def _scan(self) -> None:
        began = time.thread_time()
        self._follow()
        changed = {name: self._look(name) for name in self._pictures}
        self._schedule.scanned(time.thread_time() - began, time.monotonic())
        for name, paths in changed.items():
            if paths:
                self._read(name, paths, paths)
        self._look_at_captures()

    def _look_at_captures(self) -> None:
        try:
            if self._captures.are_new(self.runtime):
                self.vectors.added()
        except RawRagError as error:  # a store that is just being made, or put back
            _log.info("captures: %s", error)

    def _look_and_read(self, due: Due) -> None:
        if due.everywhere:
            began = time.thread_time()
            changed = self._look(due.agent)
            self._schedule.looked(due.agent, time.thread_time() - began, time.monotonic())
        else:
            changed = self._look(due.agent, due.look)
        if paths := changed | due.read:
            self._read(due.agent, paths, paths)

    def _look(self, agent: str, paths: Collection[str] | None = None) -> set[str]:
        try:
            return self._pictures[agent].changed(paths)
        except Exception as error:  # of an adapter, which may be anybody's
            if self.health.beat.error != (why := f"{agent}: {type(error).__name__}: {error}"):
                _log.error("%s: its folders cannot be looked at", agent, exc_info=error)
            self.health.went_wrong(why)
            return set()

    def _read(self, agent: str, paths: Collection[str], only: Collection[str] | None) -> None:
        """Read these sources of an agent; ``only`` None: all that it has."""
        changed = {path: at for path in paths if (at := changed_at(path)) is not None}
        try:
            report = self._ingest(agent, only)
        except Stopped:
            raise
        except Exception as error:
            known = expected(error)
            if known is not None:
                self._put_off(agent, paths, known)
            elif len(paths) > 1:
                for path in sorted(paths):
                    self._read(agent, {path}, {path})
            else:
                self._give_up(agent, paths, error)
        else:
            self._was_read(agent, report, paths, {} if only is None else changed)

    def _ingest(self, agent: str, only: Collection[str] | None) -> IngestReport:
        return self.runtime.ingest(
            [agent], wait_seconds=WRITER_WAIT_SECONDS, embed=False, only=only, on_note=self._on_note
        )

    def _was_read(self, agent: str, report: IngestReport, paths: Collection[str], changed: Mapping[str, float]) -> None:
        """``changed``: empty at the first read, as what changed before the daemon began says nothing about its lag."""
        counts = report.agents[agent]
        failing, now = counts.failed_sources, time.monotonic()
        for path, why in failing.items():
            if path not in self.health.agent(agent).failing:
                _log.warning("%s cannot be read: %s", path, why)
            self._schedule.refused(agent, path, now)
        read = set(paths) - failing.keys()
        self._schedule.read(agent, read)
        self._schedule.went_well(agent)
        self.health.was_read(agent, {path: changed[path] for path in changed if path in read}, failing, read)
        _log.debug("%s: %d new turns in %.3f s", agent, counts.new_turns, report.seconds)
        self.vectors.added()

    def _put_off(self, agent: str, paths: Collection[str], error: RawRagError) -> None:
        delay = self._schedule.failed(agent, paths, time.monotonic())
        _log.warning("%s: %s Next try in %.0f s.", agent, error, delay)
        self.health.waits(agent, len(paths), str(error))

    def _give_up(self, agent: str, paths: Collection[str], error: Exception) -> None:
        """A bug met one source. It is noted as one, and tried again later."""
        _log.error("%s: reading %s failed", agent, ", ".join(paths) or "nothing", exc_info=error)
        why = f"{type(error).__name__}: {error}"
        for path in paths:
            self._schedule.refused(agent, path, time.monotonic())
        self.health.was_read(agent, {}, dict.fromkeys(paths, why), set())
        self.health.went_wrong(f"{agent}: {why}")
