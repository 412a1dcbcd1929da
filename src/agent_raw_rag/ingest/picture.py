"""What an agent's sources look like from outside, and which of them changed since they were looked at last.

No file is opened and the store is not asked: this is what happens once a minute while nothing happens.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.fingerprint import look, look_database
from agent_raw_rag.models import Shape, Source
from agent_raw_rag.sources.discover import could_be_source, find_sources
from agent_raw_rag.sources.document import document_stamp

LOGS = ("-wal", "-journal")
"""What a database writes first stands in a file beside it."""
Mark = tuple[int, int, int, int] | str


@dataclass
class Picture:
    """One agent's sources."""

    adapter: Adapter
    roots: tuple[Root, ...]
    _seen: dict[str, tuple[Source, Mark | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resolve()

    def _resolve(self) -> None:
        """Follow the links of the roots; they may be set anew at any time."""
        self._real = tuple(Root(os.path.realpath(root.path), root.patterns) for root in self.roots)

    @property
    def paths(self) -> set[str]:
        """The sources there are."""
        return set(self._seen)

    def holds(self, path: str) -> bool:
        """Whether a path lies in one of the agent's folders."""
        return any(path.startswith(os.path.join(root.path, "")) for root in self._real)

    def source_of(self, path: str) -> str | None:
        """The known source that a file belongs to: it is one, or the log of one."""
        for suffix in LOGS:
            if path.endswith(suffix) and path.removesuffix(suffix) in self._seen:
                return path.removesuffix(suffix)
        return path if path in self._seen else None

    def may_be_news(self, path: str) -> bool:
        """Whether a file that is no known source is a reason to look everywhere: it may be a new one, or part of a document."""
        return any(could_be_source(root, path) for root in self._real) or any(
            source.members for source, _ in self._seen.values()
        )

    def changed(self, paths: Iterable[str] | None = None) -> set[str]:
        """Of the known sources among ``paths`` those that changed or vanished; with None, of all, and the new ones too. The next
        look compares with this one."""
        if paths is None:
            self._resolve()
            found = {source.path: source for source in find_sources(self.adapter, self.roots, lambda error: None)}
        else:
            found = {path: self._seen[path][0] for path in paths if path in self._seen}
        different = set()
        for path, source in found.items():
            mark = _mark(source)
            if path not in self._seen or self._seen[path][1] != mark:
                different.add(path)
                self._seen[path] = (source, mark)
        if paths is None:
            vanished = self._seen.keys() - found.keys()
            different |= vanished
            for path in vanished:
                del self._seen[path]
        return different


def changed_at(path: str) -> float | None:
    """When a source was written to last, in seconds since 1970; None: it is not there."""
    times = []
    for name in (path, *(f"{path}{suffix}" for suffix in LOGS)):
        try:
            times.append(os.stat(name).st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def _mark(source: Source) -> Mark | None:
    """None: it cannot be looked at."""
    try:
        if source.shape is Shape.DOCUMENT:
            return document_stamp(source)
        return (look_database(source.path) if source.shape is Shape.DATABASE else look(source.path)).key
    except (OSError, SourceError):
        return None
