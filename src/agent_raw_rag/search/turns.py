"""Ranked windows -> ranked turns. Pure but for the reader."""

from __future__ import annotations

from collections.abc import Sequence

from agent_raw_rag.lexical.queries import query_terms
from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.search.expand import ANCHOR_CHARS
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ChunkRow, ShownTurn

RankedTurn = tuple[int, int, float]
"""(session row, turn number, score)."""


def turns_of(query: str, windows: Sequence[tuple[ChunkRow, float]], reader: Reader, limit: int) -> list[RankedTurn]:
    """The turns that ranked windows touch, each once, best first: by window, then by how many of the query's terms they hold."""
    wanted = {term.text for term in query_terms(query)}
    found: dict[tuple[int, int], float] = {}
    for chunk, score in windows:
        if len(found) >= limit:
            break
        for turn in _by_terms(reader.turns(chunk.session_id, chunk.first_turn, chunk.last_turn), wanted):
            found.setdefault((turn.session_id, turn.ordinal), score)
    return [(session_id, ordinal, score) for (session_id, ordinal), score in found.items()][:limit]


def _by_terms(turns: Sequence[ShownTurn], wanted: set[str]) -> list[ShownTurn]:
    return sorted(turns, key=lambda turn: (-len(wanted.intersection(terms(turn.text[:ANCHOR_CHARS]))), turn.ordinal))
