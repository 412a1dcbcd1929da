"""Counting tokens, by the daemon where there is one: it has the table of ranks in memory anyway, which takes 25 MB of a process.

The counts are the same either way: a daemon of another version is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent_raw_rag.encode.daemon_link import Link
from agent_raw_rag.models import Tokenizer

COUNTS_PATH = "/v1/token_counts"
SECONDS = 1.0
"""How long the daemon is waited for: a little longer than loading the table takes."""


class DaemonTokens:
    """Texts -> how many tokens each has. Safe to use from several threads."""

    def __init__(self, local: Callable[[], Tokenizer], link: Link) -> None:
        """``local`` gives the tokenizer of this process, loaded when nobody else counts."""
        self._local = local
        self._link = link

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Of each text. Raises ModelError: the table of this process is missing or damaged."""
        found = self._asked(texts)
        return found if found is not None else [len(self._local().encode(text)) for text in texts]

    def _asked(self, texts: Sequence[str]) -> list[int] | None:
        """The daemon's counts; None: it is away, or says something else."""
        if self._link.health() is None:
            return None
        answer: Any = self._link.ask(COUNTS_PATH, {"input": list(texts)}, SECONDS)
        counts = answer.get("counts") if isinstance(answer, dict) else None
        if isinstance(counts, list) and len(counts) == len(texts) and all(type(one) is int for one in counts):
            return counts
        if answer is not None:
            self._link.lost()
        return None
