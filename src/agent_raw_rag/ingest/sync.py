"""Logs -> store, for all sources of some agents: what is new is read, each source on its own, each batch committed.

A source that fails is noted and passed over; the others go on. Nothing is remembered between runs but the store.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.commit import Added, Committer
from agent_raw_rag.ingest.fingerprint import Look, look, look_database, verdict
from agent_raw_rag.ingest.prepare import Prepared, prepare_ahead, prepare_lines, prepared
from agent_raw_rag.ingest.reading import Batch, Cursor, read_whole, start_cursor
from agent_raw_rag.models import Record, SessionInfo, Shape, Source
from agent_raw_rag.sources.discover import find_sources, sources_at
from agent_raw_rag.sources.document import document_stamp, read_document
from agent_raw_rag.sources.foreign import foreign_sessions, read_session
from agent_raw_rag.sources.lines import read_lines
from agent_raw_rag.store.rows import SourceRow
from agent_raw_rag.store.sources import CursorRow, Sources


@dataclass(slots=True)
class AgentReport:
    """What a run found and added for one agent."""

    sources: int = 0
    read: int = 0
    added: Added = field(default_factory=Added)
    failed: dict[str, str] = field(default_factory=dict)
    """Path -> why it could not be read."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in sources of one agent."""

    agent: str
    path: str
    done: int
    total: int


@dataclass(slots=True)
class Sync:
    """One run over some agents' sources."""

    committer: Committer
    sources: Sources
    on_progress: Callable[[Progress], None] = lambda progress: None
    on_chunks: Callable[[int], None] = lambda count: None
    """Called after each commit with the number of chunks it wrote."""
    ahead_bytes: int | None = None
    """From this much on, a log is prepared in a process of its own. None: never."""

    def run(
        self, adapter: Adapter, roots: tuple[Root, ...], *, again: bool = False, only: Collection[str] | None = None
    ) -> AgentReport:
        """Read what is new in the sources under ``roots``; with ``again``, everything that can still be read.

        ``only``: of these paths. The folders are walked nevertheless if any of them is new or gone, as it may have been
        renamed.
        """
        report = AgentReport()
        found, known = self._found(adapter, roots, only, report)
        report.sources = len(found)
        for done, source in enumerate(found):
            self.on_progress(Progress(adapter.agent, source.path, done, len(found)))
            self._one(adapter, source, known.get(source.path), again, report)
        return report

    def _found(
        self, adapter: Adapter, roots: tuple[Root, ...], only: Collection[str] | None, report: AgentReport
    ) -> tuple[list[Source], dict[str, SourceRow]]:
        """The sources to read, and those that are known."""
        if only is not None:
            known = self.sources.known(adapter.agent)
            named = sources_at(adapter, roots, only)
            if named.keys() == set(only) <= known.keys():
                self.committer.gone = frozenset(row.id for row in known.values() if row.gone)
                return sorted(named.values(), key=lambda source: (source.order, source.path)), known
        found = find_sources(adapter, roots, lambda error: report.failed.update({str(error.filename): _why(error)}))
        known = self._known(adapter, found)
        return [source for source in found if only is None or source.path in only], known

    # ------------------------------------------------------------ what is known of the files

    def _known(self, adapter: Adapter, found: list[Source]) -> dict[str, SourceRow]:
        """Known sources by path, after following renamed files and noting those that are gone."""
        known = self.sources.known(adapter.agent)
        paths = {source.path for source in found}
        lost = {path: row for path, row in known.items() if path not in paths and _is_gone(path)}
        by_inode: dict[tuple[int | None, int | None], SourceRow]
        by_inode = {(row.device, row.inode): row for row in lost.values() if row.inode}
        for source in found:
            if source.path not in known and by_inode and source.shape is Shape.LINES:
                self._follow(source, by_inode, known, lost)
        self.sources.set_gone(row.id for row in lost.values() if not row.gone)
        self.committer.gone = frozenset(row.id for row in lost.values())
        return known

    def _follow(
        self, source: Source, by_inode: dict[tuple[int | None, int | None], SourceRow],
        known: dict[str, SourceRow], lost: dict[str, SourceRow],
    ) -> None:  # fmt: skip
        try:
            now = look(source.path)
        except OSError:
            return
        row = by_inode.pop((now.device, now.inode), None)
        if row is not None and self._continues(source, row):
            self.sources.rename(row.id, source.path)
            del known[row.path], lost[row.path]
            known[source.path] = row

    def _continues(self, source: Source, row: SourceRow) -> bool:
        """Whether a file holds what was read of a lost one. The number of a deleted file is soon given to another."""
        try:
            return self._holds_all(source, row.id)
        except OSError:
            return False

    def _holds_all(self, source: Source, source_id: int) -> bool:
        """Whether a file still begins with all that was read of it. Not known of sources that are read whole."""
        saved = self.sources.cursor(source_id) if source.shape is Shape.LINES else None
        return saved is not None and verdict(source.path, saved.stamp) != "rewritten"

    # ------------------------------------------------------------ one source

    def run_one(self, adapter: Adapter, source: Source) -> AgentReport:
        """Read what is new in one source, wherever it lies."""
        report = AgentReport(sources=1)
        known = self.sources.known(adapter.agent)
        self.committer.gone = frozenset(row.id for row in known.values() if row.gone)
        self._one(adapter, source, known.get(source.path), again=False, report=report)
        return report

    def _one(self, adapter: Adapter, source: Source, row: SourceRow | None, again: bool, report: AgentReport) -> None:
        source_id = row.id if row else None
        try:
            now = look_database(source.path) if source.shape is Shape.DATABASE else look(source.path)
            if source.shape is not Shape.DOCUMENT and row and not again and _unchanged(row, now):
                return
            source_id = source_id or self.sources.add(source)
            if again:
                self.committer.start_again(source_id, trusted=self._holds_all(source, source_id))
            self._read(adapter, source, source_id, now, report)
        except (OSError, SourceError) as error:
            if source_id is None:
                source_id = self.sources.add(source)
            report.failed[source.path] = _why(error)
            self.sources.failed(source_id, _why(error))

    def _read(self, adapter: Adapter, source: Source, source_id: int, now: Look, report: AgentReport) -> None:
        reader = {Shape.LINES: self._lines, Shape.DOCUMENT: self._document, Shape.DATABASE: self._database}
        tally = None
        for batch, part in reader[source.shape](adapter, source, source_id):
            added = self.committer.commit(source, source_id, batch, part)
            report.added.add(added)
            self.on_chunks(added.chunks)
            tally = batch.tally
        self.committer.end_again(source, source_id)
        if tally is not None:
            if source.shape is Shape.DATABASE:
                tally = dict(sum((Counter(one) for one in self.sources.part_tallies(source_id)), Counter()))
            report.read += 1
            self.sources.saw(source_id, now.key, tally, int(time.time() * 1000))

    def _lines(self, adapter: Adapter, source: Source, source_id: int) -> Iterator[tuple[Prepared, str]]:
        saved = self.sources.cursor(source_id)
        cursor = start_cursor(adapter, source)
        slot: SessionInfo | None = None
        if saved is not None:
            judged = verdict(source.path, saved.stamp)
            if judged == "rewritten":
                self.sources.reset(source_id)
            else:
                cursor = Cursor(saved.position, saved.done, saved.state, saved.tally)
                slot = _first_info(adapter, source) if judged == "slot" else None
        for batch in self._prepare(adapter, source, cursor):
            if slot is not None:
                batch.infos.setdefault(batch.cursor.state["session"], slot)
                slot = None
            yield batch, ""

    def _prepare(self, adapter: Adapter, source: Source, cursor: Cursor) -> Iterator[Prepared]:
        if self.ahead_bytes is not None and os.path.getsize(source.path) - cursor.offset >= self.ahead_bytes:
            return prepare_ahead(source, cursor, self.committer.options)
        return prepare_lines(adapter, source, cursor, self.committer.tokenizer, self.committer.options)

    def _document(self, adapter: Adapter, source: Source, source_id: int) -> Iterator[tuple[Prepared, str]]:
        mark = document_stamp(source)
        saved = self.sources.cursor(source_id)
        if saved is None or saved.stamp != mark:
            batch = read_whole(adapter, source, read_document(source))
            yield self._whole(batch, mark), ""

    def _database(self, adapter: Adapter, source: Source, source_id: int) -> Iterator[tuple[Prepared, str]]:
        stamps = self.sources.stamps(source_id)
        # Read as they are found: a broken family is only told after the sessions of the sound ones.
        for family, session, mark in foreign_sessions(source, adapter.families):
            if stamps.get(session) == f"{family}:{mark}":
                continue
            batch = read_whole(adapter, source, read_session(source, adapter.families, family, session))
            yield self._whole(batch, f"{family}:{mark}"), session

    def _whole(self, batch: Batch, mark: str) -> Prepared:
        cursor = CursorRow(mark, tally=dict(batch.tally))
        return prepared(batch, cursor, self.committer.tokenizer, self.committer.options)


def _unchanged(row: SourceRow, now: Look) -> bool:
    return (row.device, row.inode, row.size, row.mtime_ns) == now.key and not row.gone


def _is_gone(path: str) -> bool:
    """Whether a file does not exist. One in a folder that may not be looked into is not gone."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def _first_info(adapter: Adapter, source: Source) -> SessionInfo | None:
    """What the first record says of the session, for a title that was written over in place."""
    record = next(iter(read_lines(source.path)), None)
    if not isinstance(record, Record):
        return None
    events = adapter.parse(record, adapter.start(source))
    return next((SessionInfo(title=event.title) for event in events if isinstance(event, SessionInfo)), None)


def _why(error: OSError | SourceError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
