"""What one transaction has touched: sessions with their counters, and from which turn on each must be cut again."""

from __future__ import annotations

from collections.abc import Callable

from agent_raw_rag.models import CleanText, SessionInfo
from agent_raw_rag.sources.projects import Projects
from agent_raw_rag.store.rows import SessionRow
from agent_raw_rag.store.writer import Writer

CleanLabel = Callable[[str], CleanText]


class Changes:
    """The sessions of one batch, each loaded once and saved once.

    ``source_id``: None: what a caller of a memory door says. ``whole``: the source was read whole. ``gone``: sources whose
    files no longer exist.
    """

    def __init__(
        self,
        writer: Writer,
        agent: str,
        source_id: int | None,
        *,
        whole: bool = False,
        gone: frozenset[int] = frozenset(),
    ) -> None:
        self.writer = writer
        self.agent = agent
        self.source_id = source_id
        self.whole = whole
        self.gone = gone
        self._preferences: dict[int, str] = {}
        self._by_id: dict[int, SessionRow] = {}
        self._by_native: dict[str, SessionRow] = {}
        self.first_changed: dict[int, int] = {}
        self.given_up = 0
        """Live turns that turned out to be copies."""

    def session(self, native: str) -> SessionRow:
        """The session of this native id."""
        row = self._by_native.get(native)
        if row is None:
            row = self._keep(self.writer.session(self.agent, native))
            if row.source_id is None:
                row.source_id = self.source_id
        return row

    def session_by_id(self, session_id: int) -> SessionRow:
        """A session that another turn of this batch has led to."""
        row = self._by_id.get(session_id)
        return row if row is not None else self._keep(self.writer.session_by_id(session_id))

    def _keep(self, row: SessionRow) -> SessionRow:
        self._by_id[row.id] = self._by_native[row.native] = row
        return row

    def is_better_than(self, source_id: int | None) -> bool:
        """Whether this source, which was read whole, is a better copy than another one of the same session."""
        if not self.whole or self.source_id is None or source_id is None or source_id == self.source_id:
            return False
        for number in (self.source_id, source_id):
            self._preferences.setdefault(number, self.writer.preference_of(number))
        return self._preferences[self.source_id] < self._preferences[source_id]

    def touch(self, session_id: int, ordinal: int) -> None:
        """The session's stream changes from this turn on."""
        self.first_changed[session_id] = min(ordinal, self.first_changed.get(session_id, ordinal))

    def save(self) -> None:
        """Write all counters and facts back."""
        for row in self._by_id.values():
            self.writer.save_session(row)


def apply_info(row: SessionRow, info: SessionInfo, projects: Projects, clean: CleanLabel) -> None:
    """Fill in what a session did not know; the last title and version win."""
    if info.cwd and not row.cwd:
        row.cwd = clean(info.cwd)
        project = projects.of(info.cwd)
        row.project, row.remote = clean(project.path), project.remote and clean(project.remote)
    row.branch = row.branch or (clean(info.branch) if info.branch else None)
    row.started = row.started if row.started is not None else info.started
    if info.parent and not row.parent and info.parent != row.native:
        row.parent, row.parent_kind = info.parent, info.parent_kind
    row.title = clean(info.title) if info.title and not row.forgotten else row.title
    row.version = clean(info.version) if info.version else row.version
