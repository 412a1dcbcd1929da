"""Ranked windows -> ranked turns. Pure but for the reader."""

from __future__ import annotations

from collections.abc import Sequence

from agent_raw_rag.lexical.queries import query_terms
from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.search.expand import ANCHOR_CHARS
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.turn_rank import Turn, rank_turns
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ShownTurn

RankedTurn = tuple[int, int, float]
"""(session row, turn number, score)."""


def turns_of(query: str, ranking: Ranking, reader: Reader, limit: int) -> list[RankedTurn]:
    """The turns that ranked windows touch, each once, best first: by their own scores where the ranking knows them, else by
    window and then by how many of the query's terms they hold."""
    found = _scored(ranking) if ranking.turns else _by_window(query, ranking, reader, limit)
    return [(session_id, ordinal, score) for (session_id, ordinal), score in found[:limit]]


def _scored(ranking: Ranking) -> list[tuple[Turn, float]]:
    return rank_turns(
        ((ranking.chunks[chunk_id].session_id, turn), score)
        for chunk_id, _ in ranking.order
        for turn, score in ranking.turns.get(chunk_id, ())
    )


def _by_window(query: str, ranking: Ranking, reader: Reader, limit: int) -> list[tuple[Turn, float]]:
    wanted = {term.text for term in query_terms(query)}
    found: dict[Turn, float] = {}
    for chunk_id, score in ranking.order:
        if len(found) >= limit:
            break
        chunk = ranking.chunks[chunk_id]
        for turn in _by_terms(reader.turns(chunk.session_id, chunk.first_turn, chunk.last_turn), wanted):
            found.setdefault((turn.session_id, turn.ordinal), score)
    return list(found.items())


def _by_terms(turns: Sequence[ShownTurn], wanted: set[str]) -> list[ShownTurn]:
    return sorted(turns, key=lambda turn: (-len(wanted.intersection(terms(turn.text[:ANCHOR_CHARS]))), turn.ordinal))
