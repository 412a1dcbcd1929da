"""Time words: a time that a query names is preferred, and nothing is left out for it. Pure: now is an argument.

"What did we decide last week" asks for a week, but people are off by a few days, and what they look for may be older: so a time
is a bonus on the score, not a filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent_raw_rag.errors import UsageError
from agent_raw_rag.lexical.pasted import error_spans
from agent_raw_rag.lexical.queries import quoted_spans
from agent_raw_rag.models import Millis
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.spans import Span
from agent_raw_rag.search.time_rows import ROWS, Row
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.rows import ChunkRow

TIME_BONUS = 0.3
"""On a scale of 0 to 1: a window of the time that was named passes those that are a little better, not a clear win. Of the steps
0.1 to 0.4, the best for the questions of LoCoMo that name a time, with the dates of its sessions as times."""
MOST_TIMES = 4
MOST_CHARS = 4000
"""A person names a time in what they write, not in what they paste behind it."""
_FROM_THEN_ON = ("since", "seit", "自從", "自从")
_OTHERWISE = (" before", " until", " till", " by", " after", " bis", " nach")
"""Words before a time that ask for what lies outside of it: no preference follows from them."""
_AFTERWARDS = ("以前", "之前", "以後", "之後", "以后", "之后")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time that a query names, in the user's zone."""

    start: datetime
    end: datetime
    """The first instant after it."""

    @property
    def bounds(self) -> tuple[Millis, Millis]:
        """Both as instants."""
        return int(self.start.timestamp() * 1000), int(self.end.timestamp() * 1000)

    def touches(self, chunk: ChunkRow) -> bool:
        """Whether some of a chunk was said in it. A chunk without a time was not."""
        start, end = self.bounds
        return chunk.started is not None and chunk.ended is not None and chunk.started < end and chunk.ended >= start

    def within(self, scope: Scope) -> Scope:
        """The part of a scope that lies in it."""
        start, end = self.bounds
        after = start if scope.after is None else max(start, scope.after)
        before = end if scope.before is None else min(end, scope.before)
        return replace(scope, after=after, before=before)

    def __str__(self) -> str:
        whole_days = (self.start.hour, self.start.minute, self.end.hour, self.end.minute) == (0, 0, 0, 0)
        if not whole_days:
            return f"{self.start:%Y-%m-%d %H:%M} … {self.end:%Y-%m-%d %H:%M}"
        first, last = f"{self.start:%Y-%m-%d}", f"{self.end - timedelta(hours=1):%Y-%m-%d}"
        return first if first == last else f"{first} … {last}"


@dataclass(frozen=True, slots=True)
class Named:
    """A time in a query."""

    place: tuple[int, int]
    """Where its words begin and end."""
    stretch: Stretch
    is_relative: bool
    """Said from the day of the question, as "yesterday" is."""


def times_in(query: str, now: datetime) -> list[Named]:
    """The times that a query names, in order, at most ``MOST_TIMES``. ``now`` carries the user's zone.

    What is quoted, and an error text, names no time.
    """
    found: list[Named] = []
    text = query[:MOST_CHARS]
    open_text = without(text, [*quoted_spans(text), *error_spans(text)])
    for row in ROWS:
        for match in row.pattern.finditer(open_text):
            span = _read(row, match, now)
            start, end = match.span()
            if span is not None and all(end <= one.place[0] or start >= one.place[1] for one in found):
                found.append(Named((start, end), Stretch(*span), row.relative))
    return sorted(found, key=lambda one: one.place)[:MOST_TIMES]


def without(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text with blanks for some of it: what stays keeps its place."""
    parts, done = [], 0
    for start, end in sorted(places):
        start = max(start, done)  # places may overlap
        parts += [text[done:start], " " * (end - start)]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def prefer_times(times: Sequence[Stretch], silent: Sequence[Stretch], ranking: Ranking) -> None:
    """Lift the candidates that were said in one of the times. ``silent``: times that nothing was said in."""
    if silent:
        ranking.stages.append(f"time: nothing from {', '.join(map(str, silent))}")
        ranking.notes.append(f"Nothing was said in the time that was named ({', '.join(map(str, silent))}).")
    if not times:
        return

    def bonus(chunk_id: int) -> float:
        return TIME_BONUS if any(time.touches(ranking.chunks[chunk_id]) for time in times) else 0.0

    ranking.lift("time", bonus, TIME_BONUS)
    ranking.stages.append(f"time: {', '.join(map(str, times))} preferred")


def _read(row: Row, match: re.Match[str], now: datetime) -> Span | None:
    before = f" {match.string[: match.start()].lower()}".rstrip()
    if before.endswith(_OTHERWISE) or match.string[match.end() :].startswith(_AFTERWARDS):
        return None
    try:
        span = row.read(match, now)
        if span and (before.endswith(_FROM_THEN_ON) or match[0].lower().startswith(_FROM_THEN_ON)):
            span = (span[0], now)
        return span if span and _lasts(span) else None
    except (UsageError, ValueError, OverflowError):  # beyond the calendar: no time that anything was said at
        return None


def _lasts(span: Span) -> bool:
    """Whether there is anything between its instants. At the rim of the calendar there are none: raises ValueError."""
    start, end = Stretch(*span).bounds
    return start < end
