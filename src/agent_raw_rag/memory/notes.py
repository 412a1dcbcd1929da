"""What is kept on purpose: rules, facts, decisions; and recalling it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.memory.base import SpaceStore


@dataclass(frozen=True)
class Notes:
    """What is kept on purpose: rules, facts, decisions; and recalling it."""

    store: SpaceStore
