"""Keeping the heartbeat: what the daemon says of itself, written when there is news, and once a minute while there is none."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping

from agent_raw_rag import __version__
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import heartbeat
from agent_raw_rag.runtime.heartbeat import AgentBeat, Heartbeat

NEWS_SECONDS = 2.0
IDLE_SECONDS = 60.0
MOST_SOURCES = 20
"""Of an agent, whose lag is told each."""
_log = logging.getLogger(NAME)


class Health:
    """The heartbeat of this process."""

    def __init__(self, home: str) -> None:
        now = time.time()
        self.home = home
        self.beat = Heartbeat(os.getpid(), __version__, started=now, beat=now)
        self._written_at = float("-inf")
        self._news = True
        self._unwritable = False

    def agent(self, name: str) -> AgentBeat:
        """What is said of an agent."""
        return self.beat.agents.setdefault(name, AgentBeat())

    def was_read(
        self, agent: str, changed: Mapping[str, float], failing: Mapping[str, str], recovered: set[str]
    ) -> None:
        """An agent's sources were read; ``changed``: path -> when it changed, of those whose lag counts."""
        one = self.agent(agent)
        one.read_at = time.time()
        for path in sorted(changed, key=lambda path: changed[path]):
            one.sources.pop(path, None)
            one.sources[path] = one.lag_seconds = round(max(0.0, one.read_at - changed[path]), 3)
        one.sources = dict(list(one.sources.items())[-MOST_SOURCES:])
        one.failing = {path: why for path, why in one.failing.items() if path not in recovered} | dict(failing)
        one.waiting, one.waiting_since = 0, None
        self._news = True

    def waits(self, agent: str, sources: int, why: str) -> None:
        """An agent's sources cannot be read now, for a reason that is not theirs."""
        one = self.agent(agent)
        one.waiting = sources
        one.waiting_since = one.waiting_since or time.time()
        self.went_wrong(why)

    def went_wrong(self, why: str) -> None:
        """The last error."""
        self.beat.error, self.beat.error_at = why, time.time()
        self._news = True

    def say(self, **facts: object) -> None:
        """Set fields of the heartbeat."""
        for name, value in facts.items():
            if getattr(self.beat, name) != value:
                setattr(self.beat, name, value)
                self._news = True

    def next_at(self) -> float:
        """When it is to be written next, by the monotonic clock."""
        return self._written_at + (NEWS_SECONDS if self._news else IDLE_SECONDS)

    def write_if_due(self, *, now: float) -> None:
        """Write it if there is news or a minute is over. A disk that is full does not stop the daemon."""
        if now < self.next_at():
            return
        self.beat.beat = time.time()
        try:
            heartbeat.write(self.home, self.beat)
            self._unwritable = False
        except OSError as error:
            if not self._unwritable:
                _log.warning("the heartbeat cannot be written: %s", error)
            self._unwritable = True
        self._written_at, self._news = now, False

    def end(self) -> None:
        """Say goodbye."""
        self.beat.ended = time.time()
        self._written_at = float("-inf")
        self.write_if_due(now=0.0)
