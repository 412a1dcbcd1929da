"""When something is to be done: pure, every instant is passed in (seconds of a clock that never goes back).

Nothing that was noticed is ever lost: it is handed out, and what could not be read comes back after a while.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

NEVER = math.inf


@dataclass(frozen=True, slots=True)
class Debounce:
    """Wait until it is quiet, but under constant writing no longer than so many seconds."""

    quiet: float
    longest: float

    def due_at(self, first: float, last: float) -> float:
        """When what was noticed at ``first`` and, for the last time, at ``last`` is to be done."""
        return min(last + self.quiet, first + self.longest)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Wait longer after each failure."""

    first: float
    longest: float

    def delay(self, failures: int) -> float:
        """Seconds after the given number of failures in a row, from 1 on."""
        return min(self.longest, self.first * 2.0 ** min(failures - 1, 60))


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done for one agent."""

    agent: str
    look: frozenset[str] = frozenset()
    """Paths that something happened to."""
    everywhere: bool = False
    """Look at all of its sources."""
    read: frozenset[str] = frozenset()
    """Sources to read whether they changed or not: it failed before."""


@dataclass(slots=True)
class _Agent:
    first: float = NEVER
    last: float = NEVER
    look: set[str] = field(default_factory=set)
    everywhere_at: float = NEVER
    may_look_at: float = -NEVER
    failures: int = 0
    not_before: float = -NEVER
    again: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Path -> failures in a row, when to try again (NEVER while it is tried)."""


TEXT = Debounce(quiet=0.3, longest=1.0)
AGENT_BACKOFF = Backoff(first=1.0, longest=60.0)
"""After a failure that is not of one source: the store is busy, the disk is full."""
SOURCE_BACKOFF = Backoff(first=15.0, longest=3600.0)
LOOK_SHARE = 0.05
"""Of the time, spent on looking at all sources of an agent after events."""
SCAN_SHARE = 0.003
"""Of the time, spent on looking at everything for safety's sake: a scan that takes long comes more rarely."""


class Schedule:
    """What is pending of each agent, and when the next scan is due."""

    def __init__(self, scan_seconds: float, now: float, debounce: Debounce = TEXT) -> None:
        self._scan_seconds = scan_seconds
        self._debounce = debounce
        self._agents: dict[str, _Agent] = {}
        self._scan_at = now + scan_seconds

    def changed(self, agent: str, path: str | None, now: float) -> None:
        """Something happened to a path of an agent; None: nobody knows where."""
        one = self._agents.setdefault(agent, _Agent())
        if path is None:
            one.everywhere_at = min(one.everywhere_at, max(now + self._debounce.quiet, one.may_look_at))
        else:
            one.first, one.last = min(one.first, now), now
            one.look.add(path)

    def due(self, now: float) -> list[Due]:
        """What is to be done now. It is taken out."""
        return [self._take(agent, one, now) for agent, one in self._agents.items() if self._due_at(one) <= now]

    def next_at(self) -> float:
        """The instant before which nothing is to be done."""
        return min([self._scan_at, *map(self._due_at, self._agents.values())])

    def failed(self, agent: str, paths: Iterable[str], now: float) -> float:
        """None of these sources could be read, for a reason that is not theirs: all of the agent waits. Returns how long."""
        one = self._agents.setdefault(agent, _Agent())
        one.failures += 1
        delay = AGENT_BACKOFF.delay(one.failures)
        one.not_before = now + delay
        for path in paths:
            one.again[path] = (one.again.get(path, (0, NEVER))[0], one.not_before)
        return delay

    def went_well(self, agent: str) -> None:
        """The agent's sources could be read, but for those of ``refused``."""
        self._agents.setdefault(agent, _Agent()).failures = 0

    def refused(self, agent: str, path: str, now: float) -> None:
        """One source could not be read: it alone waits."""
        one = self._agents.setdefault(agent, _Agent())
        failures = one.again.get(path, (0, NEVER))[0] + 1
        one.again[path] = (failures, now + SOURCE_BACKOFF.delay(failures))

    def read(self, agent: str, paths: Iterable[str]) -> None:
        """These sources were read."""
        one = self._agents.setdefault(agent, _Agent())
        for path in paths:
            one.again.pop(path, None)

    def looked(self, agent: str, cost: float, now: float) -> None:
        """A look at all sources of an agent took so long: the next one has time."""
        self._agents.setdefault(agent, _Agent()).may_look_at = now + cost * (1 / LOOK_SHARE - 1)

    def is_scan_due(self, now: float) -> bool:
        """Whether it is time to look everywhere."""
        return now >= self._scan_at

    def scanned(self, cost: float, now: float) -> None:
        """A scan took so long."""
        self._scan_at = now + max(self._scan_seconds, cost / SCAN_SHARE)

    def _due_at(self, one: _Agent) -> float:
        noticed = self._debounce.due_at(one.first, one.last) if one.first < NEVER else NEVER
        again = min((at for _, at in one.again.values()), default=NEVER)
        return max(one.not_before, min(noticed, again, one.everywhere_at))

    def _take(self, agent: str, one: _Agent, now: float) -> Due:
        again = [path for path, (_, at) in one.again.items() if at <= now]
        due = Due(agent, frozenset(one.look), one.everywhere_at <= now, frozenset(again))
        one.first = one.last = NEVER
        one.look = set()
        if due.everywhere:
            one.everywhere_at = NEVER
        for path in again:
            one.again[path] = (one.again[path][0], NEVER)
        return due
