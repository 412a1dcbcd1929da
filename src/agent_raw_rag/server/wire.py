"""What the tools give as structured content. Only what a schema needs to say: the values are the result objects' own.

Plain typed dicts: the MCP layer makes the output schemas from them and checks every answer against them. Keys that a
result object has beyond these travel along.
"""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict  # pydantic refuses typing's own below Python 3.12


class Passage(TypedDict):
    """Whole turns around one hit; turn to bytes are of the turn that matches best."""

    rank: int
    session: str
    agent: str
    project: str | None
    turn: int
    exchange: int
    role: str
    time: str | None
    source: str | None
    source_gone: bool
    record_ids: list[str]
    bytes: list[int] | None
    ranked_by: str
    scores: dict[str, float | None]
    text: str
    truncated: bool
    resume: str | None
    turns: list[dict[str, Any]]


class Found(TypedDict):
    """Passages, oldest first."""

    notice: str
    project: str
    passages: list[Passage]
    stages: list[str]
    notes: list[str]
    projects: list[str]


class Turn(TypedDict):
    """One turn."""

    session: str
    agent: str
    turn: int
    exchange: int
    role: str
    time: str | None
    source: str | None
    record_ids: list[str]
    bytes: list[int] | None
    text: str
    truncated: bool


class Turns(TypedDict):
    """Turns in their order."""

    notice: str
    turns: list[Turn]
    next_offset: int | None
    session: dict[str, Any] | None
    notes: list[str]
    projects: list[str]


class Ingested(TypedDict):
    """What an ingest read."""

    agents: dict[str, dict[str, Any]]
    embedded: int
    backlog: int
    seconds: float


class Status(TypedDict):
    """What is stored and what ranks."""

    store: str
    sessions: int
    turns: int
    chunks: int
    embedded: int
    backlog: int
    encoder: str | None
    agents: dict[str, dict[str, Any]]
    problems: list[str]
