"""A reranker that lets the daemon work where it serves the same one, and works by itself where it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from agent_raw_rag.encode.base import Reranker
from agent_raw_rag.encode.daemon_fallback import Spare
from agent_raw_rag.encode.daemon_link import Link
from agent_raw_rag.encode.rerank_forms import FORMS, read_scores
from agent_raw_rag.errors import ModelError


class DaemonReranker:
    """A ``Reranker`` in front of a local one. Safe to use from several threads."""

    def __init__(
        self, local: Reranker, served_as: str, link: Link, *, seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """``served_as``: what the daemon calls it (``Choice.name``). ``seconds``: how long a slice of candidates waits for it.
        ``clock``: as for ``DaemonEncoder``."""
        self.local = local
        self._seconds = seconds
        self._served_as = served_as
        self._link = link
        self._spare = Spare(local, clock)

    @property
    def name(self) -> str:
        """The local one's."""
        return self.local.name

    @property
    def is_probability(self) -> bool:
        """As the local one."""
        return self.local.is_probability

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See ``Reranker``. Raises as the local one."""
        found = self._asked(query, passages) if passages else []
        if found is not None:
            return found
        self._spare.used()
        return self.local.score(query, passages)

    def _asked(self, query: str, passages: Sequence[str]) -> list[float] | None:
        """The daemon's scores; None: it is away, does not serve this reranker, or fails."""
        health = self._link.health()
        if health is None or self._served_as not in health.rerankers:
            return None
        form = FORMS["vllm"]
        answer: Any = self._link.ask(form.path, form.request(self._served_as, query, passages), self._seconds)
        if answer is None:
            return None
        try:
            scores = read_scores(form, answer, len(passages), "of the daemon")
        except ModelError:
            self._link.lost()
            return None
        self._spare.idle()
        return scores
