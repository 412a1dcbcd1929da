"""Which logs hold something that is not stored yet, told from outside: no log is opened, and nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.fingerprint import look, look_database
from agent_raw_rag.ingest.picture import changed_at
from agent_raw_rag.models import Shape, Source
from agent_raw_rag.sources.discover import find_sources
from agent_raw_rag.sources.document import document_stamp
from agent_raw_rag.store.rows import SourceRow
from agent_raw_rag.store.sources import Sources


@dataclass(frozen=True, slots=True)
class Log:
    """A source as it is on disk."""

    path: str
    changed: float
    """When it was written to last, in seconds since 1970."""
    failed: bool = False
    """Whether it could not be read when it was tried last."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One agent's sources on disk beside the store."""

    sources: int = 0
    logs: tuple[Log, ...] = ()
    """New ones, and those that changed since they were read; the one that changed last comes first."""
    newest: float | None = None
    """The last change of any source, in seconds since 1970."""
    closed: dict[str, str] = field(default_factory=dict)
    """Folder -> why it cannot be looked into."""


def waiting(adapter: Adapter, roots: tuple[Root, ...], sources: Sources | None) -> Waiting:
    """What of an agent's sources is not read yet. ``sources`` None: there is no store, and so nothing was."""
    closed: dict[str, str] = {}
    found = find_sources(adapter, roots, lambda error: closed.update({str(error.filename): str(error.strerror)}))
    known = sources.known(adapter.agent) if sources else {}
    logs, newest = [], None
    for source in found:
        moment = changed_at(source.path)
        if moment is None:  # it went meanwhile
            continue
        newest = max(moment, newest or moment)
        row = known.get(source.path)
        if row is None or not _was_read(source, row, sources):
            logs.append(Log(source.path, moment, failed=row is not None and row.error is not None))
    logs.sort(key=lambda log: (-log.changed, log.path))
    return Waiting(len(found), tuple(logs), newest, closed)


def _was_read(source: Source, row: SourceRow, sources: Sources | None) -> bool:
    try:
        if source.shape is Shape.DOCUMENT:
            cursor = sources.cursor(row.id) if sources else None
            return cursor is not None and cursor.stamp == document_stamp(source)
        now = look_database(source.path) if source.shape is Shape.DATABASE else look(source.path)
        return now.key == (row.device, row.inode, row.size, row.mtime_ns)
    except (OSError, SourceError):
        return False
