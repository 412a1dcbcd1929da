"""JSON bodies -> checked requests. A body is a stranger's: what is wrong with it is said, and nothing of it is guessed.

Forms: OpenAI's ``/v1/embeddings`` with an ``input_type`` of ours, vLLM's and Jina's ``/v1/rerank``, ours of ``/search``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from agent_raw_rag.errors import UsageError
from agent_raw_rag.models import Ask

MOST_TEXTS = 2048
"""In one request, as OpenAI allows."""


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest:
    """Texts to encode."""

    texts: list[str]
    space: str
    is_query: bool
    in_base64: bool
    dimensions: int | None


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """Passages to score."""

    query: str
    passages: list[str]
    reranker: str
    top_n: int | None
    with_text: bool


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question, as ``raw-rag search`` takes it."""

    query: str
    ask: Ask
    top_k: int | None
    max_tokens: int | None
    explain: bool


def parsed(content: bytes) -> Mapping[str, Any]:
    """A body's object. The standard parser: it takes lone surrogates, which logs hold. Raises UsageError."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The body is no JSON: {error}.") from error
    if not isinstance(body, dict):
        raise UsageError("The body is no JSON object.")
    return body


def embeddings_request(body: Mapping[str, Any]) -> EmbeddingsRequest:
    """Raises UsageError."""
    texts = body.get("input")
    return EmbeddingsRequest(
        [texts] if isinstance(texts, str) else _texts(body, "input"),
        _text(body, "model", ""),
        _one_of(body, "input_type", ("passage", "query")) == "query",
        _one_of(body, "encoding_format", ("float", "base64")) == "base64",
        _number(body, "dimensions"),
    )


def counts_request(body: Mapping[str, Any]) -> list[str]:
    """The texts whose tokens are to be counted. Raises UsageError."""
    return _texts(body, "input")


def rerank_request(body: Mapping[str, Any]) -> RerankRequest:
    """Raises UsageError."""
    return RerankRequest(
        _text(body, "query"), _texts(body, "documents"), _text(body, "model", ""), _number(body, "top_n"),
        _flag(body, "return_documents"),
    )  # fmt: skip


def search_request(body: Mapping[str, Any]) -> SearchRequest:
    """Raises UsageError; for a key that is not known too, since a filter that is ignored gives wrong answers."""
    filters = [field.name for field in fields(Ask)]
    unknown = sorted(set(body) - {"query", "top_k", "max_tokens", "explain", *filters})
    if unknown:
        raise UsageError(f"Unknown: {', '.join(map(repr, unknown))}.", hint=f"Filters are {', '.join(filters)}.")
    ask = Ask(**{name: _text(body, name, "") or None for name in filters})
    return SearchRequest(
        _text(body, "query"), ask, _number(body, "top_k"), _number(body, "max_tokens"), _flag(body, "explain")
    )


def _text(body: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = body.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise UsageError(f"{key!r} must be a text.")
    return value


def _texts(body: Mapping[str, Any], key: str) -> list[str]:
    value = body.get(key)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UsageError(f"{key!r} must be a list of texts.")
    if len(value) > MOST_TEXTS:
        raise UsageError(f"{key!r} has {len(value)} texts, and may have {MOST_TEXTS}.", hint="Send several requests.")
    return value


def _number(body: Mapping[str, Any], key: str) -> int | None:
    value = body.get(key)
    if value is not None and type(value) is not int:
        raise UsageError(f"{key!r} must be a whole number.")
    return value


def _flag(body: Mapping[str, Any], key: str) -> bool:
    value = body.get(key, False)
    if type(value) is not bool:
        raise UsageError(f"{key!r} must be true or false.")
    return value


def _one_of(body: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = _text(body, key, known[0])
    if value not in known:
        raise UsageError(f"{key!r} is {value[:40]!r}.", hint=f"Known: {', '.join(known)}.")
    return value
