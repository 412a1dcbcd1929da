"""The vector spaces there are, for people: which is searched, how full each is, what it takes."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.spaces import Spaces
from agent_raw_rag.store.vectors import Vectors

HALF_BYTES = 2


@dataclass
class SpaceItem:
    """One vector space."""

    space: str
    model: str
    revision: str
    dim: int
    instruction: str
    encoder: str
    """Kind of encoder that makes it."""
    active: bool
    """Whether it is the one that is searched."""
    embedded: int
    """Chunks that have a vector."""
    backlog: int
    """Chunks that have none."""
    bytes: int
    """Of its vectors in the store; the cache takes half as much again."""


def space_items(reader: Reader, *, searched: bool = True) -> list[SpaceItem]:
    """All spaces, the one that is searched first, or left out: counting one passes over all chunks and vectors."""
    spaces = Spaces(reader.connection)
    active = spaces.active_name()
    items = []
    for row in (one for one in spaces.rows() if searched or one.name != active):
        embedded, backlog = Vectors(reader.connection, row.name).count()
        size = spaces.vectors(row.name) * row.dim * HALF_BYTES
        item = SpaceItem(
            row.name, row.model, row.revision, row.dim, row.instruction, row.kind, row.name == active, embedded,
            backlog, size,
        )  # fmt: skip
        items.append(item)
    return sorted(items, key=lambda item: not item.active)
