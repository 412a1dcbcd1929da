"""What a search gives: one object for MCP structured content, readable text and ``--json`` alike.

Plain dataclasses without slots: the MCP layer builds the output schema from them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class TurnRef:
    """Where a turn came from."""

    turn: int
    exchange: int
    role: str
    time: str | None
    source: str | None
    source_gone: bool
    record_ids: list[str]
    bytes: list[int] | None
    abandoned: bool


@dataclass
class Scores:
    """How a passage was ranked: each stage's score, None where the stage did not see it."""

    fused: float
    lexical: float | None = None
    dense: float | None = None
    rerank: float | None = None


@dataclass
class Explained:
    """What one stage of the funnel said of a hit."""

    stage: str
    rank: int
    """Its place after the stage, from 1."""
    score: float


@dataclass
class Folded:
    """A window that says the same as a hit, and was folded into it."""

    session: str
    first_turn: int
    last_turn: int
    time: str | None


@dataclass
class Part:
    """What a passage shows of one turn: its own words within the budget, without number, speaker and time."""

    turn: int
    exchange: int
    role: str
    time: str | None
    text: str
    truncated: bool
    abandoned: bool


@dataclass
class Passage:
    """A hit expanded to whole turns. ``turn`` … ``bytes`` are of the turn that matches best; ``turns`` has them all."""

    rank: int
    session: str
    agent: str
    project: str | None
    branch: str | None
    title: str | None
    first_turn: int
    last_turn: int
    turn: int
    exchange: int
    role: str
    time: str | None
    source: str | None
    source_gone: bool
    record_ids: list[str]
    bytes: list[int] | None
    abandoned: bool
    ranked_by: str
    scores: Scores
    text: str
    tokens: int
    truncated: bool
    resume: str | None
    turns: list[TurnRef] = field(default_factory=list)
    explain: list[Explained] = field(default_factory=list)
    also: list[Folded] = field(default_factory=list)
    """Near-duplicates of the hit, elsewhere."""
    parts: list[Part] = field(default_factory=list)
    """``text``, turn by turn; one that is out of its budget has none."""


@dataclass
class SearchResult:
    """The answer to a query."""

    query: str
    passages: list[Passage]
    stages: list[str]
    """What ranked, and what did not and why."""
    notes: list[str] = field(default_factory=list)
    """What the caller should know: nothing relevant, hits left out for the budget, an index that lags."""
    projects: list[str] = field(default_factory=list)
    """Projects that exist, given when the answer is empty."""

    def as_json(self, *, explain: bool = False, parts: bool = False) -> dict[str, Any]:
        """JSON values only. ``explain``: each passage's ranks and scores, stage by stage, too; ``parts``: its text turn by turn,
        which says the same once more."""
        content = asdict(self)
        left_out = [name for name, wanted in (("explain", explain), ("parts", parts)) if not wanted]
        for passage in content["passages"]:
            for name in left_out:
                del passage[name]
        return content
