"""A question -> where one configuration of the funnel finds its gold, over one store, and how long it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import TypeVar

from agent_raw_rag.encode.base import Encoder, Space, Vectors
from agent_raw_rag.encode.late import TokenEncoder, TokenStates
from agent_raw_rag.evals.dataset import Question
from agent_raw_rag.evals.metrics import DEPTH, Found, found
from agent_raw_rag.evals.names import Names
from agent_raw_rag.evals.shown import Manner, shown
from agent_raw_rag.models import Millis
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.turns import turns_of
from agent_raw_rag.store.reader import Reader, Scope

T = TypeVar("T")
MOST_TEXTS = 4000
"""Whose token states are kept: about 0.1 to 0.4 MB each."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question."""

    id: str
    kinds: tuple[str, ...]
    windows: Found
    turns: Found
    seconds: dict[str, float]
    """Of encoding the query, of ranking windows (encoding included), of ranking turns then."""
    nearest: float | None
    """Cosine of the nearest window."""
    reranked: int
    """Candidates that the reranker scored."""
    skipped: tuple[str, ...]
    """Stages that took no part, with the reason."""
    shown: dict[str, dict[str, float]] = field(default_factory=dict)
    """What answers show, for each manner of showing."""


class RememberingEncoder:
    """An ``Encoder`` that encodes a query once, however many configurations ask it, and knows how long that took."""

    def __init__(self, model: Encoder) -> None:
        self._model = model
        self._queries: dict[str, tuple[Vectors, float]] = {}
        self.seconds = 0.0
        """Of all queries asked for, as if each had been encoded anew."""
        self.saved = 0.0
        """Of those that were remembered."""

    @property
    def english_only(self) -> bool:
        """The model's."""
        return self._model.english_only

    @property
    def unrelated_cosine(self) -> tuple[float, float] | None:
        """The model's."""
        return self._model.unrelated_cosine

    @property
    def space(self) -> Space:
        """The model's."""
        return self._model.space

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """The model's; see ``Encoder``."""
        return self._model.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        """The model's; see ``Encoder``."""
        known = self._queries.get(text)
        if known is None:
            began = perf_counter()
            vector = self._model.encode_query(text)
            known = self._queries[text] = (vector, perf_counter() - began)
        else:
            self.saved += known[1]
        self.seconds += known[1]
        return known[0]


class RememberingTokens(RememberingEncoder):
    """The same for a ``TokenEncoder``: the states of a store's texts are kept as long as the store is asked."""

    def __init__(self, model: Encoder) -> None:
        super().__init__(model)
        self._states: dict[str, TokenStates] = {}

    def token_states(self, text: str) -> TokenStates:
        """The model's; see ``TokenEncoder``."""
        if text not in self._states:
            if len(self._states) >= MOST_TEXTS:
                self._states.clear()
            self._states[text] = self._tokens().token_states(text)
        return self._states[text]

    def query_states(self, text: str) -> TokenStates:
        """The model's; see ``TokenEncoder``."""
        return self._tokens().query_states(text)

    def _tokens(self) -> TokenEncoder:
        assert isinstance(self._model, TokenEncoder)
        return self._model


def remembering(model: Encoder | None) -> RememberingEncoder | None:
    """An encoder that remembers what it made."""
    if model is None:
        return None
    return RememberingTokens(model) if isinstance(model, TokenEncoder) else RememberingEncoder(model)


@dataclass
class Asker:
    """One store, asked in one configuration."""

    funnel: Funnel
    reader: Reader
    names: Names
    encoder: RememberingEncoder | None
    manners: Sequence[Manner] = ()
    latest: datetime | None = None
    """When a question is asked that does not say; None: now."""
    scope: Scope = field(default_factory=Scope)

    def ask(self, question: Question) -> Asked:
        """Rank windows, and turns, for a question."""
        if moment := moment_of(question.asked) or self.latest:
            self.funnel.now = lambda: moment
        (ranking, chunks), windows, encode = self._timed(
            lambda: self.funnel.rank(question.text, self.scope, self.reader)
        )
        ranked = [(chunks[chunk_id], score) for chunk_id, score in ranking.order]
        turns, took, _ = self._timed(lambda: turns_of(question.text, ranking, self.reader, DEPTH))
        names, gold = self.names, question.gold
        return Asked(
            id=question.id,
            kinds=question.kinds,
            windows=found((names.window(chunk) for chunk, _ in ranked), gold, names.chars),
            turns=found(([names.turn(session, ordinal)] for session, ordinal, *_ in turns), gold, names.chars),
            seconds={"encode": encode, "windows": windows, "turns": took},
            nearest=max(ranking.dense.values(), default=None),
            reranked=len(ranking.rerank),
            skipped=tuple(stage for stage in ranking.stages if "skipped" in stage),
            shown={
                manner.name: shown(manner, question.text, ranked, gold, names, self.reader) for manner in self.manners
            },
        )

    def _timed(self, work: Callable[[], T]) -> tuple[T, float, float]:
        """What the work gives, its seconds, and those of them that the query's vector took."""
        model = self.encoder
        encoded, saved = (model.seconds, model.saved) if model else (0.0, 0.0)
        began = perf_counter()
        result = work()
        took = perf_counter() - began
        return result, took + (model.saved - saved if model else 0.0), model.seconds - encoded if model else 0.0


def moment_of(instant: Millis | None) -> datetime | None:
    """An instant as a moment in UTC."""
    return datetime.fromtimestamp(instant / 1000, UTC) if instant is not None else None
