"""What the daemon answers: checked requests -> JSON values, by the runtime's models and its search. They block."""

from __future__ import annotations

import base64
import os
import time
from threading import Lock
from typing import TYPE_CHECKING, Any

from agent_raw_rag import __version__
from agent_raw_rag.daemon.bodies import EmbeddingsRequest, RerankRequest, SearchRequest
from agent_raw_rag.daemon.served import ServedModels
from agent_raw_rag.encode.base import Encoder, Vectors
from agent_raw_rag.encode.daemon_states import packed
from agent_raw_rag.encode.late import TokenEncoder
from agent_raw_rag.errors import ModelError, UsageError

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

ALL_PROJECTS = "*"


class Answers:
    """Of one runtime at a time. Safe to use from several threads."""

    def __init__(self, runtime: Runtime) -> None:
        """The runtime's models are those of this process from now on."""
        runtime.models.sharing.stand_alone()
        self._models = ServedModels(runtime)
        self._began = time.monotonic()
        self._lock = Lock()
        self._made = {"vectors": 0, "states": 0, "scores": 0, "searches": 0}

    def take(self, runtime: Runtime) -> None:
        """Answer by another runtime from now on; what is under way ends by the one it began with."""
        if self._models.runtime is not runtime:
            runtime.models.sharing.stand_alone()
            self._models = ServedModels(runtime)

    def health(self) -> dict[str, Any]:
        """Who answers, with which models, and how much was ``made`` for others so far."""
        uptime = round(time.monotonic() - self._began, 1)
        facts = {**self._models.facts(), "made": dict(self._made), "uptime_seconds": uptime}
        return {"pid": os.getpid(), "version": __version__, **facts}

    def embeddings(self, asked: EmbeddingsRequest) -> dict[str, Any]:
        """OpenAI's answer. Raises UsageError, NotFoundError, ModelError."""
        encoder = self._models.encoder(asked.space)
        if asked.dimensions not in (None, encoder.space.dim):
            raise UsageError(f"Vectors of {encoder.space.name} have {encoder.space.dim} dimensions.")
        rows = [_number_row(row, asked.in_base64) for row in _vectors(encoder, asked)]
        self._count("vectors", len(rows))
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}  # clients of OpenAI's form want the keys; nothing is billed
        return {"object": "list", "model": encoder.space.name, "data": data, "usage": usage}

    def token_states(self, asked: EmbeddingsRequest) -> bytes:
        """The states of one text, as ``daemon_states`` packs them. Raises UsageError, NotFoundError, ModelError."""
        encoder = self._models.encoder(asked.space)
        if len(asked.texts) != 1 or not isinstance(encoder, TokenEncoder):
            raise UsageError("Token states are given of one text, by an encoder that has them.")
        states = encoder.query_states if asked.is_query else encoder.token_states
        self._count("states", 1)
        return packed(states(asked.texts[0]))

    def token_counts(self, texts: list[str]) -> dict[str, Any]:
        """How many tokens each text has."""
        tokens = self._models.runtime.tokenizer
        return {"counts": [len(tokens.encode(text)) for text in texts]}

    def rerank(self, asked: RerankRequest) -> dict[str, Any]:
        """vLLM's and Jina's answer, best first. Raises NotFoundError, ModelError."""
        reranker = self._models.reranker(asked.reranker)
        scores = reranker.score(asked.query, asked.passages) if asked.passages else []
        if len(scores) != len(asked.passages):
            raise ModelError(f"The reranker {reranker.name} gave no score for each passage.")
        self._count("scores", len(scores))
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        kept = order if asked.top_n is None else order[: max(0, asked.top_n)]
        results: list[dict[str, Any]] = [{"index": place, "relevance_score": scores[place]} for place in kept]
        if asked.with_text:
            results = [{**one, "document": {"text": asked.passages[one["index"]]}} for one in results]
        return {"model": reranker.name, "results": results}

    def search(self, asked: SearchRequest) -> dict[str, Any]:
        """As ``raw-rag search --json``. Raises UsageError, NotFoundError, StoreError."""
        found = self._models.runtime.search(asked.query, asked.ask, top_k=asked.top_k, max_tokens=asked.max_tokens)
        self._count("searches", 1)
        return {"project": asked.ask.project or ALL_PROJECTS, **found.as_json(explain=asked.explain)}

    def _count(self, what: str, more: int) -> None:
        with self._lock:
            self._made[what] += more


def _vectors(encoder: Encoder, asked: EmbeddingsRequest) -> list[Vectors]:
    if asked.is_query:
        return [encoder.encode_query(text) for text in asked.texts]
    return list(encoder.encode_passages(asked.texts))


def _number_row(row: Vectors, in_base64: bool) -> str | list[float]:
    """A vector as it travels: float32 either way, to the last bit."""
    return base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") if in_base64 else row.tolist()
