"""What is stored, what ranks, what lags and what went wrong: for ``status`` in every door."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from datetime import tzinfo
from typing import Any

from agent_raw_rag.search.spaces import SpaceItem, space_items
from agent_raw_rag.search.zone import shown
from agent_raw_rag.store.candidates import CandidateRows
from agent_raw_rag.store.notes import NoteRows
from agent_raw_rag.store.passing import passing
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.sweep import SweepRows
from agent_raw_rag.store.totals import AgentTotals, cursors, totals
from agent_raw_rag.store.vectors import Vectors

FEW_WAITING = 64
"""Chunks that may wait for the lexical index: a commit for each appended line would cost more than it gives."""


@dataclass
class AgentStatus:
    """One agent's part of the store."""

    sources: int
    gone_sources: int
    sessions: int
    turns: int
    chunks: int
    first_turn: str | None
    last_turn: str | None
    last_read: str | None
    last_project: str | None
    skipped_records: dict[str, int]
    unknown_records: dict[str, int]
    unknown_by_version: dict[str, dict[str, int]]
    failed_sources: dict[str, str]


@dataclass
class CursorStatus:
    """Where reading a source stands."""

    source: str
    part: str
    offset: int
    read_at: str | None


@dataclass
class StatusReport:
    """The state of the store and of what ranks."""

    version: str
    store: str
    store_bytes: int
    sessions: int
    turns: int
    chunks: int
    indexed: bool
    """Whether at most ``FEW_WAITING`` chunks wait for the lexical index. Those that wait are searched one by one."""
    encoder: str | None
    """The vector space that is searched; None: lexical search only."""
    embedded: int
    backlog: int
    reranker: str | None
    filling: list[SpaceItem]
    """Spaces that are not searched: the one that fills for the configured model, and older ones that were kept."""
    agents: dict[str, AgentStatus]
    notes: dict[str, int] = field(default_factory=dict)
    """Kind -> active notes."""
    candidates: dict[str, int] = field(default_factory=dict)
    """Status -> statements that were proposed as notes."""
    passing: int = 0
    """Sessions that are there for their own history only, until they end; they are counted with the others too."""
    last_sweep: str | None = None
    """When turns were last looked through for what is worth a note."""
    llm_calls: dict[str, int] = field(default_factory=dict)
    """Of generation models, by who called them: ``ingest`` and ``sweep`` never do."""
    capture_errors: int = 0
    """Exchanges with models of which nothing could be stored."""
    problems: list[str] = field(default_factory=list)
    cursors: list[CursorStatus] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class ModelFacts:
    """What is known of the models without loading any."""

    space: str | None
    """The space that is searched, or would be."""
    reranker: str | None = None
    problems: tuple[str, ...] = ()


def status_report(
    reader: Reader,
    path: str,
    version: str,
    models: ModelFacts,
    lexical_high_water: int,
    agent: str | None,
    zone: tzinfo,
) -> StatusReport:
    """The status of everything, or of one agent with its cursors."""
    stored = totals(reader.connection)
    shown_agents = {name: one for name, one in stored.items() if agent in (None, name)}
    space = models.space
    embedded, backlog = Vectors(reader.connection, space).count() if space else (0, 0)
    return StatusReport(
        version=version,
        store=path,
        store_bytes=sum(os.path.getsize(file) for file in (path, f"{path}-wal") if os.path.exists(file)),
        sessions=sum(one.sessions for one in shown_agents.values()),
        turns=sum(one.turns for one in shown_agents.values()),
        chunks=sum(one.chunks for one in shown_agents.values()),
        indexed=reader.count_after(lexical_high_water, 1 << 62, FEW_WAITING + 1) <= FEW_WAITING,
        encoder=space,
        embedded=embedded,
        backlog=backlog,
        reranker=models.reranker,
        filling=space_items(reader, searched=False),
        agents={name: _agent(one, zone) for name, one in sorted(shown_agents.items())},
        notes=NoteRows(reader.connection).counts(),
        candidates=CandidateRows(reader.connection).counts(),
        passing=passing(reader.connection),
        last_sweep=shown(SweepRows(reader.connection).last(), zone),
        problems=[
            *models.problems,
            *(problem for name, one in sorted(shown_agents.items()) for problem in _problems(name, one)),
        ],
        cursors=[
            CursorStatus(source, part, offset, shown(read_at, zone))
            for source, part, offset, read_at in (cursors(reader.connection, agent) if agent else [])
        ],
    )


def _agent(one: AgentTotals, zone: tzinfo) -> AgentStatus:
    return AgentStatus(
        sources=one.sources, gone_sources=one.gone_sources, sessions=one.sessions, turns=one.turns, chunks=one.chunks,
        first_turn=shown(one.first_turn, zone), last_turn=shown(one.last_turn, zone),
        last_read=shown(one.last_read, zone), last_project=one.last_project,
        skipped_records=dict(sorted(one.skipped.items())), unknown_records=dict(sorted(one.unknown.items())),
        unknown_by_version=one.unknown_by_version, failed_sources=one.failed_sources,
    )  # fmt: skip


def _problems(name: str, one: AgentTotals) -> list[str]:
    found = [f"{name}: {path} could not be read: {why}" for path, why in one.failed_sources.items()]
    if one.unknown:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(one.unknown.items()))
        found.append(f"{name}: records of unknown types were passed over: {kinds}.")
    if one.skipped:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(one.skipped.items()))
        found.append(f"{name}: stretches of logs that are no records were passed over: {kinds}.")
    return found
