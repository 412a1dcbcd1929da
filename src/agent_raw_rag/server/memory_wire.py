"""The shapes of the memory tools' structured content, which is the result objects' own ``as_json``.

Typed dicts, where that adds to an object's fields or leaves some out; the MCP layer makes the output schemas from them and
checks every answer against them.
"""

from __future__ import annotations

from typing import NotRequired  # pydantic refuses typing's own below Python 3.12

from typing_extensions import TypedDict

from agent_raw_rag.memory.results import Event, Memory


class Recalled(TypedDict):
    """Rules first."""

    memories: list[Memory]
    count: int
    rendered: str
    degraded: NotRequired[list[str]]
    left_out: NotRequired[int]


class Captured(TypedDict):
    """What became of a capture."""

    event_id: str | None
    source: str
    session_id: str
    recorded: bool
    duplicate: bool
    note: str
    skipped: NotRequired[str]


class RawFound(TypedDict):
    """Best first."""

    events: list[Event]
    count: int


class Saved(TypedDict):
    """node_id and atom_id are one id."""

    node_id: str
    atom_id: str
    content: str
    source: str
    kind: str
    topic: str | None
    created: bool


class Updated(TypedDict):
    """What replaced what."""

    deprecated: bool
    deprecated_atom_id: str
    new_node_id: str
    supersedes: str
    source: str
    kind: str
    topic: str | None
    content: str
