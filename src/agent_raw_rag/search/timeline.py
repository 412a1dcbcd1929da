"""How much was said on which day, by agent and project. Pure but for the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache

from agent_raw_rag.models import Millis
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.store.overview import QUARTER_MS, Overview, Span
from agent_raw_rag.store.reader import Scope


@dataclass
class Day:
    """What was said on one day, of one agent in one project."""

    day: str
    """Of the user's zone: ``2026-11-30``."""
    agent: str
    project: str | None
    sessions: int = 0
    turns: int = 0
    tokens: int = 0


def timeline(overview: Overview, scope: Scope, zone: tzinfo) -> list[Day]:
    """The days of a scope on which something was said, oldest first."""
    owners, day_of = overview.owners(), _day_of(zone)
    found: dict[tuple[str, str, str | None], Day] = {}
    counted: set[tuple[str, int]] = set()
    for span in _within_days(overview, scope, day_of):
        agent, project = owners[span.session]
        name = day_of(span.first)
        day = found.setdefault((name, agent, project), Day(name, agent, project))
        day.turns += span.turns
        day.tokens += span.tokens
        if (name, span.session) not in counted:
            counted.add((name, span.session))
            day.sessions += 1
    return sorted(found.values(), key=lambda day: (day.day, day.agent, day.project or ""))


def _within_days(overview: Overview, scope: Scope, day_of: Callable[[Millis], str]) -> Iterator[Span]:
    """Spans that lie within a day each: most sessions do, and only the others are looked at closer."""
    for span in list(overview.spans(scope)):
        if day_of(span.first) == day_of(span.last):
            yield span
        else:
            yield from overview.quarters(span)


def _day_of(zone: tzinfo) -> Callable[[Millis], str]:
    @cache
    def quarter(number: int) -> str:
        moment = datetime.fromtimestamp(number * QUARTER_MS / 1000, UTC)
        local = moment.astimezone() if zone is SYSTEM_ZONE else moment.astimezone(zone)
        return local.date().isoformat()

    return lambda instant: quarter(instant // QUARTER_MS)
