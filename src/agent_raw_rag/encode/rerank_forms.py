"""The forms of a rerank request and its answer, as data: which server wants what, and what its scores are.

Sources: vLLM docs/models/pooling_models/scoring.md; llama.cpp tools/server/README.md; TEI docs/openapi.json; Jina and Cohere API
references. All number their results by ``index`` and sort them by score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_raw_rag.errors import ModelError

HINT = "Check that the url and the model are those of a reranker."


@dataclass(frozen=True, slots=True)
class Form:
    """One server's rerank request."""

    name: str
    path: str
    passages: str
    """The key of the passages' list."""
    score: str
    """The key of a result's score."""
    is_probability: bool
    """What its documentation promises: 0 to 1 and comparable between queries."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    takes_model: bool = True
    owner: str = ""
    """What ``/v1/models`` calls such a server."""

    def request(self, model: str, query: str, passages: Sequence[str]) -> dict[str, Any]:
        """The JSON body."""
        named = {"model": model} if model and self.takes_model else {}
        return {**named, "query": query, self.passages: list(passages), **self.extra}


FORMS = {
    form.name: form
    for form in (
        # A classifier of one label passes a sigmoid unless the server was started otherwise.
        Form("vllm", "/v1/rerank", "documents", "relevance_score", True, owner="vllm"),
        # The classifier's raw output; only Qwen3 rerankers pass a softmax there.
        Form("llamacpp", "/v1/rerank", "documents", "relevance_score", False, owner="llamacpp"),
        # raw_scores false: a sigmoid.
        Form(
            "tei", "/rerank", "texts", "score", True, {"raw_scores": False, "truncate": True}, takes_model=False,
            owner="tei",
        ),
        # Newer models answer with cosines.
        Form("jina", "/v1/rerank", "documents", "relevance_score", False, {"return_documents": False}),
        # 0 to 1, but nothing says that 0.5 is even odds: only the order counts.
        Form("cohere", "/v2/rerank", "documents", "relevance_score", False),
    )
}  # fmt: skip
AUTO = ("jina", "tei")
"""What is tried where the server does not say what it is."""


def read_scores(form: Form, answer: Any, count: int, where: str) -> list[float]:
    """One score a passage, in the order of the passages.

    Raises:
        ModelError: another number of scores, one twice, one out of range, one that is no finite number.
    """
    items = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _bad(where, f"something without a list of results (form {form.name})")
    if len(items) != count:
        raise _bad(where, f"{len(items)} scores for {count} passages")
    scores: dict[int, float] = {}
    for item in items:
        place, score = item.get("index"), item.get(form.score)
        if type(place) is not int or not 0 <= place < count or place in scores:
            raise _bad(where, f"index {place!r}, which is none or stands there twice, for {count} passages")
        if type(score) not in (int, float) or not math.isfinite(score):
            raise _bad(where, f"{form.score} {score!r}, which is no finite number")
        scores[place] = float(score)
    return [scores[place] for place in range(count)]


def _bad(where: str, what: str) -> ModelError:
    return ModelError(f"The reranker {where} answered with {what}.", hint=HINT)
