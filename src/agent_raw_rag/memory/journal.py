"""The journal of one space, to read and to verify."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.memory.base import SpaceStore


@dataclass(frozen=True)
class JournalView:
    """The journal of one space, to read and to verify."""

    store: SpaceStore
