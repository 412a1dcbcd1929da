"""The dense stage: the query's vector against the mapped cache of its space."""

from __future__ import annotations

from collections.abc import Callable

from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.store.reader import Reader, Scope


class Dense:
    """PLACEHOLDER until the cache is there."""

    def __init__(self, home: str, encoder: Callable[[], Encoder | None]) -> None:
        self._home = home
        self._encoder = encoder

    def search(self, query: str, scope: Scope, reader: Reader, limit: int) -> tuple[list[tuple[int, float]], str]:
        return [], "no vectors"
