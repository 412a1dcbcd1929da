"""An ingest run: read the agents' logs and bring the lexical index up. One writer, resumable anywhere. Vectors: ``spaces``."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.chunker import Windows
from agent_raw_rag.derived import cache_files, lexical_folder
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.ingest.feed_vectors import feed_cache
from agent_raw_rag.ingest.forget import Also, Forgotten, forget, nothing_else
from agent_raw_rag.ingest.prepare import AHEAD_BYTES
from agent_raw_rag.ingest.sync import AgentReport, Progress, Sync
from agent_raw_rag.models import Tokenizer
from agent_raw_rag.sanitize import Options
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.forget import has_traces, scrub
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.sources import Sources
from agent_raw_rag.store.spaces import Spaces
from agent_raw_rag.store.totals import AgentTotals, UnknownTypes, totals, unknown_types
from agent_raw_rag.store.writer import Writer

FEED_EVERY_CHUNKS = 4000
"""The lexical index is committed after so many new chunks, and at the end."""
FEED_LEAST_CHUNKS = 32
"""Fewer than this wait for the next run; a search looks at them one by one."""


@dataclass(frozen=True)
class Note:
    """Something to tell whoever waits."""

    stage: str
    """``read`` or ``embed``."""
    done: int
    total: int
    text: str = ""


@dataclass
class AgentCounts:
    """One agent in a report: what is stored, and what this run added."""

    sources: int = 0
    sessions: int = 0
    turns: int = 0
    chunks: int = 0
    new_sessions: int = 0
    new_turns: int = 0
    skipped_records: int = 0
    unknown_records: dict[str, int] = field(default_factory=dict)
    """Type -> records of types that nothing is known of, in all that was ever read."""
    new_unknown_records: dict[str, int] = field(default_factory=dict)
    """Those of them whose type, or its version, this run met for the first time."""
    failed_sources: dict[str, str] = field(default_factory=dict)


@dataclass
class IngestReport:
    """What a run did."""

    agents: dict[str, AgentCounts]
    embedded: int
    backlog: int
    seconds: float
    looked_in: dict[str, list[str]] = field(default_factory=dict)
    """Agent -> folders, for the agents that have no log."""
    encoder_problem: str | None = None
    notes: list[str] = field(default_factory=list)
    """What else happened: a switch to another vector space, vectors left to another process."""

    @property
    def failed(self) -> bool:
        """Whether any source could not be read."""
        return any(counts.failed_sources for counts in self.agents.values())

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class IngestOptions:
    """What the settings say about ingest."""

    sanitize: Options = field(default_factory=Options)
    windows: Windows = field(default_factory=Windows)
    ahead_bytes: int | None = AHEAD_BYTES
    """From this much on, a log is prepared in a process of its own. None: never."""


@dataclass
class IngestRun:
    """One writer at work on one store. The caller holds the writer lock."""

    connection: Connection
    home: str
    tokenizer: Tokenizer
    options: IngestOptions
    on_note: Callable[[Note], None] = lambda note: None

    def __post_init__(self) -> None:
        self.committer = Committer(
            Writer(self.connection),
            Sources(self.connection),
            self.tokenizer,
            self.options.windows,
            self.options.sanitize,
        )
        self._unfed = 0
        self._note = Note("read", 0, 0)

    def run(
        self,
        chosen: Mapping[str, tuple[Adapter, tuple[Root, ...]]],
        *,
        again: bool,
        only: Collection[str] | None = None,
    ) -> IngestReport:
        """Read the chosen agents' logs, and index what is new. ``only``: of these paths; the report then counts what is new,
        and not what is stored, since that takes a look at all of it."""
        began = time.perf_counter()
        self._remove_traces()
        known = unknown_types(self.connection) if only is None else {}
        sync = Sync(self.committer, self.committer.sources, self._progress, self._chunks, self.options.ahead_bytes)
        reports = {name: sync.run(adapter, roots, again=again, only=only) for name, (adapter, roots) in chosen.items()}
        self.index(1 if again else FEED_LEAST_CHUNKS)
        counts = self._counts(reports, totals(self.connection) if only is None else {})
        if only is None:
            for name, new in _new(known, unknown_types(self.connection), counts).items():
                counts[name].new_unknown_records = new
        return IngestReport(
            agents=counts,
            embedded=0,
            backlog=-1,
            seconds=round(time.perf_counter() - began, 3),
            looked_in={
                name: [root.path for root in chosen[name][1]] for name, report in reports.items() if not report.sources
            },
        )

    def index(self, least: int = 1) -> None:
        """Bring the lexical index up to the store, if at least ``least`` chunks came or went."""
        feed_lexical(Reader(self.connection), self.home, least)
        self._unfed = 0

    def chunks_written(self, count: int) -> None:
        """Count chunks that others wrote through ``committer``, and index them as often as a run does."""
        self._chunks(count)

    def settle(self, least: int = 1) -> None:
        """Bring what is derived in line with what others wrote: captures, and a forgetting that was killed halfway."""
        self._remove_traces()
        self.index(least)

    def forget(self, scope: Scope, *, dry_run: bool, kept: bool = False, also: Also = nothing_else) -> Forgotten:
        """Forget a scope, and bring everything derived in line. ``kept``, ``also``: see ``forget.forget``."""
        forgotten = forget(self.committer, scope, dry_run=dry_run, kept=kept, also=also)
        if not dry_run:
            self._remove_traces()
        return forgotten

    def _remove_traces(self) -> None:
        """After a forgetting: derived files are made anew, since an index keeps the words of what was taken out of it."""
        if not has_traces(self.connection):
            return
        for file in cache_files(self.home):
            os.remove(file)
        shutil.rmtree(lexical_folder(self.home), ignore_errors=True)
        scrub(self.connection)
        self.index()
        for space in Spaces(self.connection).rows():
            feed_cache(self.connection, self.home, space.name, space.dim)

    def _progress(self, progress: Progress) -> None:
        self._note = Note("read", progress.done, progress.total, progress.agent)
        self.on_note(self._note)

    def _chunks(self, written: int) -> None:
        self._unfed += written
        if self._unfed >= FEED_EVERY_CHUNKS:
            self.index()
        self.on_note(self._note)  # between two batches too, whoever is told may end the run: a large log has many

    def _counts(self, reports: Mapping[str, AgentReport], stored: Mapping[str, AgentTotals]) -> dict[str, AgentCounts]:
        counts = {}
        for name, report in reports.items():
            one = stored.get(name)
            counts[name] = AgentCounts(
                sources=report.sources,
                sessions=one.sessions if one else 0,
                turns=one.turns if one else 0,
                chunks=one.chunks if one else 0,
                new_sessions=report.added.sessions,
                new_turns=report.added.turns,
                skipped_records=sum(one.skipped.values()) if one else 0,
                unknown_records=dict(sorted(one.unknown.items())) if one else {},
                failed_sources=report.failed,
            )
        return counts


def _new(before: UnknownTypes, after: UnknownTypes, agents: Iterable[str]) -> dict[str, dict[str, int]]:
    """Agent -> type -> how many, of the types and versions that were not there before."""
    found: dict[str, dict[str, int]] = {}
    for agent in agents:
        kinds = after.get(agent, {})
        for version, what in sorted(kinds.keys() - before.get(agent, {}).keys()):
            counts = found.setdefault(agent, {})
            counts[what] = counts.get(what, 0) + kinds[version, what]
    return found
