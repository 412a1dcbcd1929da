"""Questions with their pools, measured by the product's own chunker, index, encoder and features: what ranking is fitted on.

A conversation is a store of its own. LoCoMo: one session of turns ``Speaker: text``. A folder (``corpus.jsonl`` and
``queries.jsonl``): its sessions; ``together`` puts all its conversations into one store, so that they compete.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from agent_raw_rag.chunker import rendered
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.encode.late import TokenStates
from agent_raw_rag.lexical.queries import query_terms
from agent_raw_rag.models import CleanText, Role
from agent_raw_rag.search.asked import asked
from agent_raw_rag.search.dense import Dense
from agent_raw_rag.search.features import Features, Window, measure
from agent_raw_rag.search.fuse import fuse
from agent_raw_rag.search.late import max_similarity, token_weights
from agent_raw_rag.search.learned import with_states
from agent_raw_rag.search.pieces import Piece, pieces
from agent_raw_rag.search.words import Words
from agent_raw_rag.store.reader import Scope

sys.path.insert(0, str(Path(__file__).parents[1]))
from agent_raw_rag.evals.corpus import Stored

CANDIDATES = 128
Gold = list[set[str]]


STATES: dict[str, TokenStates] = {}
"""Of every text that was encoded: the same conversations come again when they share a store."""


@cache
def encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder()


@dataclass
class Pool:
    """One question. Windows are in the order of the plain fusion."""

    conversation: str
    session: str
    """Of its first gold turn."""
    gold: Gold
    """Groups of turn ids; any one of a group answers."""
    covers: list[set[str]]
    """[n]: the ids of the turns in each window."""
    ids: list[str]
    """[p]: the id of each piece's turn."""
    words: Features
    states: Features


def locomo(bench: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    sys.path.insert(0, str(bench))
    docs, queries, _ = importlib.import_module("locomo_eval").load_locomo()
    return [{**doc, "session": "all", "text": f"{doc['speaker']}: {doc['text']}"} for doc in docs], queries


def folder(bench: Path, path: Path, together: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    sys.path.insert(0, str(bench))
    docs, queries, _ = importlib.import_module("locomo_eval").load_folder(str(path))
    named = [{**doc, "session": f"{doc['conv']}/{doc['session']}"} for doc in docs]
    if together:
        return [{**doc, "conv": "all"} for doc in named], [{**query, "conv": "all"} for query in queries]
    return named, queries


def pools(docs: Iterable[dict[str, Any]], queries: Iterable[dict[str, Any]]) -> Iterator[Pool]:
    """The pools of all questions, one conversation after the other."""
    said: dict[str, list[dict[str, Any]]] = {}
    for doc in docs:
        said.setdefault(doc["conv"], []).append(doc)
    questions = list(queries)
    for conversation, turns in said.items():
        mine = [query for query in questions if query["conv"] == conversation]
        with tempfile.TemporaryDirectory() as home:
            yield from Measured(Path(home), conversation, turns).pools(mine)


class Measured:
    """One conversation in a store of its own, every window and piece of it encoded once."""

    def __init__(self, home: Path, conversation: str, docs: list[dict[str, Any]]) -> None:
        self.conversation = conversation
        self.session = {doc["id"]: str(doc["session"]) for doc in docs}
        self.store = Stored(home)
        self.words, self.dense = Words(self.store.home), Dense(self.store.home, encoder)
        sessions: dict[str, list[dict[str, Any]]] = {}
        for doc in docs:
            sessions.setdefault(str(doc["session"]), []).append(doc)
        self.id: dict[tuple[int, int], str] = {}
        for name, turns in sessions.items():
            first = turns[0]["speaker"]
            roles = [Role.USER if turn["speaker"] == first else Role.ASSISTANT for turn in turns]
            self.store.add_session(name, [(role, turn["text"], None) for role, turn in zip(roles, turns, strict=True)])
            row = self.store.reader.session(name).id
            self.id |= {(row, ordinal): turn["id"] for ordinal, turn in enumerate(turns, 1)}
        self.store.index(encoder)
        self.chunks = {facts.chunk.id: facts.chunk for facts in self.store.reader.chunks_after(0, 1 << 40)}
        self.pieces = {number: self._pieces(chunk) for number, chunk in self.chunks.items()}
        texts = {chunk.text for chunk in self.chunks.values()}
        texts |= {piece.whole for row in self.pieces.values() for piece in row}
        new = sorted(texts - STATES.keys())
        with ThreadPoolExecutor(2) as workers:
            STATES.update(zip(new, workers.map(encoder().token_states, new), strict=True))

    def _pieces(self, chunk: Any) -> list[Piece]:
        turns = self.store.reader.turns(chunk.session_id, chunk.first_turn, chunk.last_turn)
        lines = [(turn.ordinal, rendered(turn.role, CleanText(turn.text))) for turn in turns]
        return pieces(chunk.text, lines)

    def pools(self, queries: Iterable[dict[str, Any]]) -> Iterator[Pool]:
        for query in queries:
            yield self._pool(
                query["query"],
                [set(one if isinstance(one, list) else [one]) for one in query.get("gold_groups") or query["gold"]],
            )
        self.store.connection.close()

    def _pool(self, query: str, gold: Gold) -> Pool:
        terms, reader = query_terms(query), self.store.reader
        lexical, _ = self.words.search(terms, Scope(), reader, CANDIDATES)
        near = self.dense.search(query, Scope(), reader, CANDIDATES).hits
        bm25, cosines = dict(lexical), dict(near)
        order = [chunk_id for chunk_id, _ in fuse(lexical, near)[:CANDIDATES]]
        index = self.words.index(reader)
        idf = lambda term: index.idf([term])[term]  # noqa: E731
        rows = [self.pieces[chunk_id] for chunk_id in order]
        windows = [Window(row, bm25.get(one, 0.0), cosines.get(one)) for one, row in zip(order, rows, strict=True)]
        words = measure(windows, asked(query, terms, idf))
        states = encoder().query_states(query)
        weights = token_weights(query, states.spans, idf, len(index))
        similar = lambda text: max_similarity(states, weights, STATES[text])  # noqa: E731
        late = with_states(
            words, np.array([similar(self.chunks[one].text) for one in order]),
            np.array([similar(piece.whole) for row in rows for piece in row]),
        )  # fmt: skip
        named = [
            self.id[self.chunks[one].session_id, piece.turn]
            for one, row in zip(order, rows, strict=True)
            for piece in row
        ]
        chunks = [self.chunks[one] for one in order]
        covers = [{self.id[c.session_id, turn] for turn in range(c.first_turn, c.last_turn + 1)} for c in chunks]
        return Pool(self.conversation, self.session[min(gold[0])], gold, covers, named, words, late)
