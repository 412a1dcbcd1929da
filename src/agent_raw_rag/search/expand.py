"""Arrow 9: hit -> passage. Whole turns from the store, never from the log; each turn once; within the answer's budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.search.budget import Fitted, Line, Said, fit, line
from agent_raw_rag.search.result import Explained, Folded, Part, Passage, Scores, TurnRef
from agent_raw_rag.search.zone import shown
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ChunkRow, SessionRow, ShownTurn

Resume = Callable[[SessionRow], str | None]
"""A session's command line that reopens it in its agent; None: there is none."""
LEAST_TOKENS = 240
"""What every further passage is sure of before one may take more than its share."""
ANCHOR_CHARS = 20_000
"""So much of a turn is looked at to tell which one a hit is about."""
GAP_MS = 4 * 3_600_000
"""A longer pause ends a passage. Midnight does not: people work past it."""
FRAME_TOKENS = 120
"""What a passage's header costs."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk."""

    chunk: ChunkRow
    rank: int
    ranked_by: str
    scores: Scores
    explain: list[Explained] = field(default_factory=list)
    also: list[Folded] = field(default_factory=list)
    turn: int | None = None
    """The number of the turn that answers best; None: not known."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """How hits become passages."""

    budget: int
    whole_turns: bool = True
    """False: the chunk's own text is shown, not the turns it touches."""
    once: bool = True
    """Overlapping turns appear once."""
    in_time_order: bool = True


@dataclass(slots=True)
class _Draft:
    hit: Hit
    turns: list[ShownTurn]
    anchor: int
    fitted: Fitted | None = None


def expand(
    hits: Sequence[Hit], query: str, how: Expansion, reader: Reader, zone: tzinfo,
    resume: Resume,
) -> tuple[list[Passage], int]:  # fmt: skip
    """Passages of the hits, and how many hits did not fit. Turns and budget go to the best ranked first."""
    drafts = _drafts(hits, set(terms(query)), how, reader)
    sessions = reader.session_rows({draft.hit.chunk.session_id for draft in drafts})
    left = how.budget
    for place, draft in enumerate(drafts):
        if place and left < LEAST_TOKENS:
            break
        share = max(left - LEAST_TOKENS * (len(drafts) - place - 1), min(left, LEAST_TOKENS))
        allowed = max(share - FRAME_TOKENS, FRAME_TOKENS // 2)
        draft.fitted = _fit(draft, how, allowed, zone)
        left -= draft.fitted.tokens + FRAME_TOKENS
    fitting = [draft for draft in drafts if draft.fitted is not None]
    if how.in_time_order:
        fitting.sort(key=_time_order)
    return [_passage(draft, sessions, zone, resume) for draft in fitting], len(drafts) - len(fitting)


def _drafts(hits: Sequence[Hit], wanted: set[str], how: Expansion, reader: Reader) -> list[_Draft]:
    drafts = []
    taken: set[tuple[int, int]] = set()
    for hit in hits:
        turns = reader.turns(hit.chunk.session_id, hit.chunk.first_turn, hit.chunk.last_turn)
        if how.once and how.whole_turns:
            turns = [turn for turn in turns if (turn.session_id, turn.ordinal) not in taken]
        if turns:
            draft = _Draft(hit, turns, _anchor(turns, wanted, hit.turn))
            if how.whole_turns:
                _keep_together(draft)
            taken.update((turn.session_id, turn.ordinal) for turn in draft.turns)
            drafts.append(draft)
    return drafts


def _keep_together(draft: _Draft) -> None:
    """Leave out the turns that hours part from the turn that was hit: a passage stands at one place in the order of time."""
    turns, first, last = draft.turns, draft.anchor, draft.anchor
    while first > 0 and not _parted(turns[first - 1], turns[first]):
        first -= 1
    while last + 1 < len(turns) and not _parted(turns[last], turns[last + 1]):
        last += 1
    draft.turns, draft.anchor = turns[first : last + 1], draft.anchor - first


def _parted(one: ShownTurn, other: ShownTurn) -> bool:
    return one.time is not None and other.time is not None and abs(other.time - one.time) > GAP_MS


def _anchor(turns: list[ShownTurn], wanted: set[str], best: int | None) -> int:
    """The turn that answers best, as far as known; else the one that holds most of the query's terms, of equals the first."""
    known = next((place for place, turn in enumerate(turns) if turn.ordinal == best), None)
    if known is not None or len(turns) == 1:
        return known or 0
    return max(
        range(len(turns)), key=lambda place: (len(wanted.intersection(terms(turns[place].text[:ANCHOR_CHARS]))), -place)
    )


def _fit(draft: _Draft, how: Expansion, allowed: int, zone: tzinfo) -> Fitted:
    if not how.whole_turns:
        chunk = draft.hit.chunk
        shown_window = fit([Line(chunk.text, chunk.end_token - chunk.start_token)], allowed)
        return replace(shown_window, said=tuple(replace(one, place=draft.anchor) for one in shown_window.said))
    lines = [line(turn, shown(turn.time, zone)) for turn in draft.turns]
    turn, chunk = draft.turns[draft.anchor], draft.hit.chunk
    middle = (max(chunk.start_token, turn.start_token) + min(chunk.end_token, turn.start_token + turn.tokens)) / 2
    at = (middle - turn.start_token) / turn.tokens if turn.tokens else 0.0
    return fit(lines, allowed, focus=draft.anchor, at=at)


def _time_order(draft: _Draft) -> tuple[bool, int, int, int, int]:
    first = next((turn.time for turn in draft.turns if turn.time is not None), None)
    chunk = draft.hit.chunk
    return (first is None, first or 0, chunk.session_id, draft.turns[0].ordinal, chunk.start_token)


def _passage(draft: _Draft, sessions: dict[int, SessionRow], zone: tzinfo, resume: Resume) -> Passage:
    session = sessions[draft.hit.chunk.session_id]
    refs = [turn_ref(turn, zone) for turn in draft.turns]
    anchor = refs[draft.anchor]
    fitted = draft.fitted
    assert fitted is not None
    return Passage(
        rank=draft.hit.rank, session=session.public_id, agent=session.agent, project=session.project,
        branch=session.branch, title=session.title, first_turn=refs[0].turn, last_turn=refs[-1].turn,
        turn=anchor.turn, exchange=anchor.exchange, role=anchor.role, time=anchor.time, source=anchor.source,
        source_gone=anchor.source_gone, record_ids=anchor.record_ids, bytes=anchor.bytes, abandoned=anchor.abandoned,
        ranked_by=draft.hit.ranked_by, scores=draft.hit.scores, text=fitted.text, tokens=fitted.tokens,
        truncated=fitted.truncated, resume=resume(session), turns=refs, explain=draft.hit.explain, also=draft.hit.also,
        parts=[_part(refs[one.place], one) for one in fitted.said],
    )  # fmt: skip


def _part(ref: TurnRef, said: Said) -> Part:
    return Part(ref.turn, ref.exchange, ref.role, ref.time, said.text, said.truncated, ref.abandoned)


def turn_ref(turn: ShownTurn, zone: tzinfo) -> TurnRef:
    """A turn's number, time and provenance."""
    return TurnRef(
        turn=turn.ordinal, exchange=turn.exchange, role=turn.role.value, time=shown(turn.time, zone),
        source=turn.source_path, source_gone=turn.source_gone, record_ids=turn.record_ids,
        bytes=None if turn.start is None or turn.end is None or turn.end == 0 else [turn.start, turn.end],
        abandoned=turn.abandoned,
    )  # fmt: skip
