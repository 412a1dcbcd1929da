"""What an answer shows of the gold: ranked windows -> hits -> passages, for several ways of showing, within the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_raw_rag.config import SearchSettings
from agent_raw_rag.evals.names import Names
from agent_raw_rag.search.expand import Expansion, Hit, expand
from agent_raw_rag.search.result import Passage, Scores
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ChunkRow


@dataclass(frozen=True, slots=True)
class Manner:
    """One way of showing the same ranking."""

    name: str
    top_k: int
    how: Expansion


def manners(search: SearchSettings) -> list[Manner]:
    """Top 15 against top 5, each turn once or as often as it is hit, whole turns or the windows alone."""
    how = Expansion(search.max_tokens)
    return [
        Manner("top 15", 15, how),
        Manner("top 15, turns repeated", 15, replace(how, once=False)),
        Manner("top 15, windows only", 15, replace(how, whole_turns=False)),
        Manner("top 5", 5, how),
    ]


def shown(
    manner: Manner, query: str, windows: Sequence[tuple[ChunkRow, float]], gold: Sequence[frozenset[str]], names: Names,
    reader: Reader,
) -> dict[str, float]:  # fmt: skip
    """How much of the gold stands in the answer, at least in part, and what the answer costs."""
    hits = [Hit(chunk, rank, "", Scores(score)) for rank, (chunk, score) in enumerate(windows[: manner.top_k], start=1)]
    passages, left_out = expand(hits, query, manner.how, reader, SYSTEM_ZONE, lambda session: None)
    by_id = {hit.rank: hit.chunk for hit in hits}
    turns = Counter(name for passage in passages for name in _turns(passage, by_id[passage.rank], names))
    share = sum(not group.isdisjoint(turns) for group in gold) / len(gold) if gold else 0.0
    return {
        "recall": share,
        "hit": float(share > 0),
        "all": float(share == 1),
        "chars": float(sum(len(passage.text) for passage in passages)),
        "tokens": float(sum(passage.tokens for passage in passages)),
        "passages": float(len(passages)),
        "turns": float(len(turns)),
        "repeated turns": float(turns.total() - len(turns)),
        "hits left out": float(left_out),
    }


def _turns(passage: Passage, chunk: ChunkRow, names: Names) -> list[str]:
    return [names.turn(chunk.session_id, turn.turn) for turn in passage.turns]
