"""Encoders and rerankers by kind, as data: a row says where the class is, and nothing is imported before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from agent_raw_rag.encode.base import Encoder, Reranker
from agent_raw_rag.encode.choice import Choice
from agent_raw_rag.errors import ModelError

ENCODERS = {
    "embedded": "agent_raw_rag.encode.embedded:EmbeddedEncoder",
    "hashing": "agent_raw_rag.encode.hashing:HashingEncoder",
    "http": "agent_raw_rag.encode.http_encoder:HttpEncoder",
    "mlx": "agent_raw_rag.encode.qwen_encoder:QwenEncoder",
}
"""Kind -> ``module:class``; the class is made with the choice's options and loads its model at first use."""
RERANKERS = {
    "overlap": "agent_raw_rag.encode.overlap:OverlapReranker",
    "http": "agent_raw_rag.encode.http_reranker:HttpReranker",
    "mlx": "agent_raw_rag.encode.qwen_reranker:QwenReranker",
}
"""The same for rerankers."""
WITH_ENVIRONMENT = frozenset({"http"})
"""Kinds that are given the environment too: a key is read from there and nowhere else."""


def encoder(choice: Choice, environment: Mapping[str, str]) -> Encoder:
    """A new encoder.

    Raises:
        ModelError: there is none of this kind, or an option is wrong.
    """
    made: Encoder = _made("encoder", ENCODERS, choice, environment)
    return made


def reranker(choice: Choice, environment: Mapping[str, str]) -> Reranker:
    """A new reranker. Raises as ``encoder``."""
    made: Reranker = _made("reranker", RERANKERS, choice, environment)
    return made


def _made(what: str, rows: Mapping[str, str], choice: Choice, environment: Mapping[str, str]) -> Any:
    row = rows.get(choice.kind)
    if row is None:
        raise ModelError(f"There is no {what} {choice.kind!r}.", hint=f"Known: {', '.join(sorted(rows))}.")
    module, _, attribute = row.partition(":")
    options = dict(choice.options)
    if choice.kind in WITH_ENVIRONMENT:
        options["environment"] = environment
    try:
        return getattr(import_module(module), attribute)(**options)
    except TypeError as error:
        raise ModelError(
            f"The {what} {choice.kind!r} cannot be made: {error}.", hint="Check its section of the configuration."
        ) from error
