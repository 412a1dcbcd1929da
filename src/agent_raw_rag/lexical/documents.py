"""What is indexed, and what a search may be narrowed to. Plain values; the meaning of a filter is ``LexicalFilter.matches``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from agent_raw_rag.models import Millis


@dataclass(frozen=True, slots=True)
class LexicalDoc:
    """One chunk."""

    chunk_id: int
    """Positive; the index holds an id once."""
    text: str
    session: int = 0
    agent: str = ""
    projects: tuple[str, ...] = ()
    """Paths or remotes the session belongs to, without their parents."""
    branch: str | None = None
    roles: tuple[str, ...] = ()
    start: Millis | None = None
    end: Millis | None = None
    """Instants of the chunk's first and last turn; None where the log has none."""


@dataclass(frozen=True, slots=True)
class LexicalFilter:
    """What a chunk must be to be found. None: anything; an empty collection: nothing. Collections are any-of."""

    projects: Collection[str] | None = None
    """A folder stands for everything below it."""
    agents: Collection[str] | None = None
    sessions: Collection[int] | None = None
    branches: Collection[str] | None = None
    roles: Collection[str] | None = None
    after: Millis | None = None
    before: Millis | None = None
    """The chunk overlaps [after, before). A chunk without a time is outside every range."""

    def matches(self, doc: LexicalDoc) -> bool:
        """The same answer for one chunk that the index gives for all."""
        return (
            _any_of(self.projects, {path for project in doc.projects for path in lineage(project)}, normalise=True)
            and _any_of(self.agents, {doc.agent})
            and (self.sessions is None or doc.session in self.sessions)
            and _any_of(self.branches, {doc.branch or ""})
            and _any_of(self.roles, set(doc.roles))
            and (self.after is None or (doc.end is not None and doc.end >= self.after))
            and (self.before is None or (doc.start is not None and doc.start < self.before))
        )


ANYTHING = LexicalFilter()
"""No restriction."""


def lineage(project: str) -> list[str]:
    """A path and all folders above it, the deepest first: ``/a/b`` -> /a/b, /a, /."""
    path = trim(project)
    found = [path] if path else []
    while "/" in path[1:]:
        path = path.rpartition("/")[0]
        found.append(path)
    return [*found, "/"] if project.startswith("/") and path != "/" else found


def trim(project: str) -> str:
    """A path without the slashes at its end."""
    return project.rstrip("/") or project[:1]


def _any_of(wanted: Collection[str] | None, have: set[str], *, normalise: bool = False) -> bool:
    if wanted is None:
        return True
    return not have.isdisjoint(map(trim, wanted) if normalise else wanted)
