"""From raw turns to notes, without a model."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.memory.base import SpaceStore


@dataclass(frozen=True)
class Promotion:
    """From raw turns to notes, without a model."""

    store: SpaceStore
