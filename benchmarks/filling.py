"""A store filled with what was said in real logs, for benchmarks that need text and no sources."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.models import Role

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.naive_reader import everything


def fill(store: Stored, logs: Path, chunks: int) -> None:
    """Sessions of 20 turns, until there are so many chunks or nothing more was said."""
    said = [(Role(role), text, None) for _, role, _, text in everything(logs)]
    for start in range(0, len(said), 20):
        if store.chunks() < chunks:
            store.add_session(f"session-{start}", said[start : start + 20])
