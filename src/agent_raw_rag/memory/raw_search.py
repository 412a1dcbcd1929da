"""A question -> the turns that hold its words, in any order of them, from logs and doors alike.

The lexical index knows windows of a session's text. Its best windows name the turns to look at; what is not in the index yet is
scanned. The turns are then weighed by themselves. Without a model, and without an embedding pass in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.lexical.queries import QueryTerm, query_terms
from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.memory.asked import bounded_limit, checked_query
from agent_raw_rag.memory.results import Event, RawFound, stamp
from agent_raw_rag.search.dates import instant
from agent_raw_rag.search.words import Words
from agent_raw_rag.store.captured import CapturedRows, EventRow
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.rows import ChunkRow

WINDOWS = 3
"""For each event that is shown so many windows are looked at: a window's best turn may be a worse one than another's."""
LEAST_WINDOWS = 32
DEEPER = (1, 8, 64, 512)
"""Times as many windows are looked at where filters left too few turns."""
WHOLE_TOKENS = 1500
"""A longer turn is weighed and shown by its best windows."""
SHOWN_CHARS = 6000
SAME_MILLIS = 10 * 60 * 1000
"""A turn that came by its log and by a door within this time is shown once."""
EXACT_WEIGHT = 2.0
_SATURATION, _LENGTH_SHARE, _USUAL_TERMS = 1.2, 0.5, 60
_CUT = "[…]"


@dataclass(frozen=True, slots=True)
class RawQuery:
    """What is looked for among raw turns. Dates as people write them, in the user's zone."""

    query: str
    limit: int = 10
    """Brought to 1 … 100."""
    session: str | None = None
    """Native or public id."""
    source: str | None = None
    """Who told it; the agent of a log, or a door."""
    after: str | None = None
    """Inclusive; a turn without a time is outside every range."""
    before: str | None = None
    exclude_session: str | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """A turn that holds words of the query."""

    row: EventRow
    text: str
    """What of it is shown."""
    score: float
    """Above 0; comparable among the turns of one answer only."""
    share: float
    """From 0 to 1: how much of the query, by the words' rarity, it holds."""

    @property
    def event(self) -> Event:
        """As the results show it."""
        row = self.row
        text = self.text if len(self.text) <= SHOWN_CHARS else f"{self.text[:SHOWN_CHARS]}{_CUT}"
        return Event(
            event_id=row.id, timestamp=stamp(row.time), session_id=row.session, user=row.author or row.role.value,
            source=row.source, content=text,
        )  # fmt: skip


@dataclass(frozen=True)
class RawSearch:
    """The raw turns of one open store. ``words``: its lexical index."""

    reader: Reader
    words: Words
    zone: tzinfo

    def __call__(self, asked: RawQuery) -> RawFound:
        """The turns that hold words of the query, the most telling first. Raises as ``weighed``."""
        return RawFound([one.event for one in self.weighed(asked)])

    def weighed(self, asked: RawQuery) -> list[Weighed]:
        """The turns that hold words of the query, the most telling first, the newer of equal ones first.

        Raises:
            BadArgumentError: the query is no question but a file.
            UsageError: a date that is none, an empty range.
        """
        wanted, limit = query_terms(checked_query(asked.query)), bounded_limit(asked.limit)
        scope = self._scope(asked)
        if not wanted or scope is None:
            return []
        found: list[Weighed] = []
        for more in DEEPER:
            depth = more * max(LEAST_WINDOWS, WINDOWS * limit)
            hits, _ = self.words.search(wanted, scope, self.reader, depth)
            chunks = self.reader.chunks(chunk_id for chunk_id, _ in hits)
            best = [chunks[chunk_id] for chunk_id, _ in hits if chunk_id in chunks]
            found = _told_once(self._weighed(wanted, best, scope, asked), limit)
            if len(found) >= limit or len(hits) < depth:
                break
        return found

    def _scope(self, asked: RawQuery) -> Scope | None:
        """The part of the store to look in; None: there is no such part."""
        rows = CapturedRows(self.reader.connection)
        now = datetime.now(self.zone)
        after = instant(asked.after, now=now, upper=False) if asked.after else None
        before = instant(asked.before, now=now, upper=True) if asked.before else None
        if after is not None and before is not None and after >= before:
            raise BadArgumentError(f"The range from {asked.after!r} to {asked.before!r} is empty.", hint="Swap them?")
        sessions = None if asked.session is None else set(rows.sessions_named(asked.session))
        of_source = None if asked.source is None else rows.sessions_of_source(asked.source)
        if of_source is not None:
            sessions = set(of_source) if sessions is None else sessions & set(of_source)
        if sessions is not None and not sessions:
            return None
        return Scope(sessions=tuple(sorted(sessions or ())), after=after, before=before)

    def _weighed(
        self, wanted: Sequence[QueryTerm], chunks: Sequence[ChunkRow], scope: Scope, asked: RawQuery
    ) -> list[Weighed]:
        idf = self.words.index(self.reader).idf(term.text for term in wanted)
        weights = {term.text: idf[term.text] * (EXACT_WEIGHT if term.exact else 1.0) for term in wanted}
        found = []
        for row, parts in self._turns(chunks):
            if not _is_asked_for(row, scope, asked):
                continue
            text = row.text if row.tokens <= WHOLE_TOKENS else f"\n{_CUT}\n".join(parts)
            score, share = _score(weights, text)
            if score > 0:
                found.append(Weighed(row, text, score, share))
        return sorted(found, key=lambda one: (-one.score, -(one.row.time or 0), -one.row.turn_id))

    def _turns(self, chunks: Sequence[ChunkRow]) -> Iterator[tuple[EventRow, list[str]]]:
        """The turns that windows touch, each once, with the texts of those windows, the best first."""
        rows = CapturedRows(self.reader.connection)
        touched: dict[tuple[int, int], list[str]] = {}
        for chunk in chunks:
            for ordinal in range(chunk.first_turn, chunk.last_turn + 1):
                touched.setdefault((chunk.session_id, ordinal), []).append(chunk.text)
        for row in rows.at(touched):
            yield row, touched[row.session_number, row.ordinal]


def _is_asked_for(row: EventRow, scope: Scope, asked: RawQuery) -> bool:
    if scope.sessions and row.session_number not in scope.sessions:
        return False
    if asked.source is not None and asked.source not in (row.source, row.agent):
        return False
    if asked.exclude_session is not None and asked.exclude_session in (row.native, f"{row.agent}:{row.native}"):
        return False
    if scope.after is not None and (row.time is None or row.time < scope.after):
        return False
    return scope.before is None or (row.time is not None and row.time < scope.before)


def _score(weights: dict[str, float], text: str) -> tuple[float, float]:
    """(score, share of the question that is answered): BM25 over turns, times that share. A turn with all words comes before one
    that repeats a few of them."""
    counts = Counter(terms(text))
    norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * counts.total() / _USUAL_TERMS)
    told = {term: counts[term] for term in weights if term in counts}
    raw = sum(weights[term] * (_SATURATION + 1) * count / (count + norm) for term, count in told.items())
    share = sum(weights[term] for term in told) / (sum(weights.values()) or 1.0)
    return round(raw * share, 6), share


def _told_once(found: Sequence[Weighed], limit: int) -> list[Weighed]:
    """The first so many, without those that came another way too: by a log and a door, in one project, at about one time."""
    kept: list[Weighed] = []
    by_text: dict[str, list[EventRow]] = {}
    for one in found:
        if len(kept) == limit:
            break
        same = by_text.setdefault(" ".join(one.text.split()), [])
        if not any(_is_same(one.row, other) for other in same):
            kept.append(one)
            same.append(one.row)
    return kept


def _is_same(one: EventRow, other: EventRow) -> bool:
    if one.agent == other.agent or one.role is not other.role:
        return False
    near = one.time is None or other.time is None or abs(one.time - other.time) <= SAME_MILLIS
    return near and (one.project == other.project or one.project is None or other.project is None)
