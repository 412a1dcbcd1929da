"""Reading a space as a page shows it: page by page, at a glance, with what an empty space answers. Changes nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_raw_rag import __version__
from agent_raw_rag.errors import ModelError, NotFoundError
from agent_raw_rag.models import Ask, Millis, Role

if TYPE_CHECKING:
    from agent_raw_rag.memory.results import CandidateItem, NoteItem
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.search.browse import SessionItem
    from agent_raw_rag.search.status import StatusReport
    from agent_raw_rag.store.overview import Overview, PagedTurn, Place
    from agent_raw_rag.store.reader import Reader, Scope
    from agent_raw_rag.store.rows import SessionRow

MOST_BRANCHES = 500
MOST_LEARNED = 500
SLICE = 200
"""Turns that are read at once."""
Behind = tuple[Millis, str] | None
"""Where a list of notes or candidates was left: when the last one was made, and its id."""


class TurnsPage(NamedTuple):
    """Some turns of a session."""

    session: SessionItem
    turns: list[dict[str, Any]]
    next: int | None
    """The number of the turn that the next page begins with; None: there is none."""


@dataclass(frozen=True)
class Reading:
    """The reading use cases of one space. Safe to use from several threads."""

    runtime: Runtime

    @property
    def has_store(self) -> bool:
        """Whether anything was ever stored."""
        return self.runtime.memory.store.exists()

    # ------------------------------------------------------------ passages

    def passages(self, query: str, ask: Ask, limit: int, *, explain: bool, again: bool = True) -> dict[str, Any]:
        """The passages that answer a query, as JSON values, with each turn's own text, its actions, and what to mark.

        ``again`` in it: the passages would be read again, and perhaps be others, if that was not left out.

        Raises:
            UsageError, NotFoundError: as ``Runtime.search``.
        """
        from agent_raw_rag.search.highlight import highlights
        from agent_raw_rag.search.result import SearchResult

        began = time.perf_counter()
        if self.has_store or not query.strip():
            found = self.runtime.search(query, ask, top_k=limit, again=again)
        else:
            found = SearchResult(query[:500], [], [], ["Nothing is stored yet."])
        timing = {"total_ms": round((time.perf_counter() - began) * 1000, 1)}
        content = found.as_json(explain=explain, parts=True)
        for passage in content["passages"]:
            passage["parts"] = [_told_apart(part) for part in passage["parts"]]
        closer = not again and bool(found.passages) and self._reads_again()
        return {**content, "again": closer, "terms": highlights(query), "timing": timing}

    def filters(self) -> dict[str, Any]:
        """What there is to filter by."""
        roles = [role.value for role in Role]
        if not self.has_store:
            return {"agents": [], "projects": [], "branches": [], "roles": roles}
        overview = self._overview
        return {
            "agents": [{"agent": agent, "sessions": sessions} for agent, sessions in overview.agents()],
            "projects": [asdict(item) for item in self.runtime.projects()],
            "branches": overview.branches(MOST_BRANCHES),
            "roles": roles,
        }

    # ------------------------------------------------------------ sessions

    def sessions(self, ask: Ask, limit: int, after: Place | None = None) -> tuple[list[SessionItem], Place | None]:
        """Sessions, the one last spoken in first, and where the next page begins.

        Raises:
            UsageError, NotFoundError: as ``Runtime.scope``.
        """
        from agent_raw_rag.store.overview import Place

        if not self.has_store:
            return [], None
        facts = self._overview.sessions(self.runtime.scope(ask), limit + 1, after)
        items = [self.runtime.resumable(self.runtime.browser.listed(one)) for one in facts[:limit]]
        last = facts[limit - 1].row if len(facts) > limit else None
        return items, Place(last.last, last.id) if last else None

    def turns(self, name: str, first: int, limit: int) -> TurnsPage:
        """Turns of a session from a number on.

        Raises:
            NotFoundError, UsageError: as ``Reader.session``; a passing session is not found.
        """
        row = self._session(name)
        turns = self._overview.turns(row.id, first, limit + 1)
        following = turns[limit].ordinal if len(turns) > limit else None
        shown = [self._shown(turn) for turn in turns[:limit]]
        return TurnsPage(self.runtime.resumable(self.runtime.browser.item(row)), shown, following)

    def all_turns(self, name: str) -> Iterator[dict[str, Any]]:
        """Every live turn of a session, read slice by slice: each may be asked for in another thread."""
        following: int | None = 1
        while following is not None:
            _, turns, following = self.turns(name, following, SLICE)
            yield from turns

    def tree(self, name: str) -> dict[str, Any]:
        """The family of a session, and its own branches. Raises as ``turns``."""
        from agent_raw_rag.memory.results import stamp
        from agent_raw_rag.search.family import family

        row = self._session(name)
        found, overview = family(self._reader, row), self._overview
        nodes = [
            {
                "session": one.row.public_id, "parent": one.parent.public_id if one.parent else None, "kind": one.kind,
                "title": one.row.title, "agent": one.row.agent, "started": stamp(one.row.started),
                "turns": overview.live_turns(one.row.id),
            }
            for one in found.members
        ]  # fmt: skip
        branches = [asdict(stretch) for stretch in overview.stretches(row.id)]
        return {"root": nodes[0]["session"], "nodes": nodes, "complete": found.complete, "branches": branches}

    def event(self, event: str) -> dict[str, Any]:
        """The turn of an event id. Raises NotFoundError."""
        from agent_raw_rag.memory.results import stamp
        from agent_raw_rag.sanitize.actions import said_and_done
        from agent_raw_rag.store.captured import CapturedRows, no_event

        if not self.has_store:
            raise no_event(event)
        row = CapturedRows(self._reader.connection).event(event)
        text, actions = said_and_done(row.role, row.text)
        return {
            "event_id": row.id, "session": f"{row.agent}:{row.native}", "turn": row.ordinal, "role": row.role.value,
            "time": stamp(row.time), "text": text, "actions": actions, "agent": row.agent, "source": row.source,
        }  # fmt: skip

    # ------------------------------------------------------------ at a glance

    def timeline(self, ask: Ask) -> dict[str, Any]:
        """How much was said on which day, and what was learned. Raises as ``Runtime.scope``."""
        from agent_raw_rag.memory.results import stamp
        from agent_raw_rag.search.timeline import timeline
        from agent_raw_rag.store.notes import NoteRows

        zone = self.runtime.zone
        said: dict[str, Any] = {"zone": datetime.now(zone).tzname() or "", "days": [], "learned": []}
        if not self.has_store:
            return said
        scope = self.runtime.scope(ask)
        notes = NoteRows(self._reader.connection).made(scope.after, scope.before, MOST_LEARNED)
        said["days"] = [asdict(day) for day in timeline(self._overview, scope, zone)]
        said["learned"] = [
            {"time": stamp(one.created), "id": one.id, "kind": one.kind, "statement": one.statement,
             "source": one.source, "status": one.status}
            for one in notes
        ]  # fmt: skip
        return said

    def status(self) -> StatusReport:
        """As ``Runtime.status``; of an empty space, too."""
        from agent_raw_rag.search.status import StatusReport

        if self.has_store:
            return self.runtime.status()
        path = self.runtime.settings.store_path()
        return StatusReport(__version__, path, 0, 0, 0, 0, True, None, 0, 0, None, [], {})

    # ------------------------------------------------------------ memory

    def notes(
        self, *, status: str | None, kind: str | None, topic: str | None, limit: int, after: Behind = None
    ) -> tuple[list[NoteItem], Behind]:
        """Notes, the newest first, and where the next page begins. None leaves a side open."""
        from agent_raw_rag.memory.notes import note_item
        from agent_raw_rag.store.notes import NoteRows

        if not self.has_store:
            return [], None
        rows = NoteRows(self._reader.connection).page(
            status=status, kind=kind, topic=topic, limit=limit + 1, after=after
        )
        following = (rows[limit - 1].created, rows[limit - 1].id) if len(rows) > limit else None
        return [note_item(row) for row in rows[:limit]], following

    def candidates(
        self, statuses: tuple[str, ...], limit: int, after: Behind = None
    ) -> tuple[list[CandidateItem], Behind]:
        """Candidates of some statuses, the newest first, and where the next page begins."""
        from agent_raw_rag.memory.promotion import candidate_item
        from agent_raw_rag.store.candidates import CandidateRows

        if not self.has_store:
            return [], None
        rows = CandidateRows(self._reader.connection).page(statuses, limit + 1, after)
        following = (rows[limit - 1].created, rows[limit - 1].id) if len(rows) > limit else None
        return [candidate_item(row) for row in rows[:limit]], following

    def touched(self, scope: Scope, most: int) -> tuple[int, list[SessionItem]]:
        """How many windows lie in a scope, and the sessions that do, at most so many."""
        facts = self._overview.sessions(scope, most)
        return self._overview.chunks(scope), [self.runtime.browser.listed(one) for one in facts]

    # ------------------------------------------------------------ parts

    @property
    def _reader(self) -> Reader:
        return self.runtime.reader

    @property
    def _overview(self) -> Overview:
        from agent_raw_rag.store.overview import Overview

        return Overview(self._reader)

    def _reads_again(self) -> bool:
        """Whether a search reads its passages again where nobody says no. Loads nothing."""
        funnel = self.runtime.funnel
        try:
            return bool(funnel.settings.rerank_budget_ms) and funnel.reranker() is not None
        except ModelError:
            return True  # a search that tries says what is wrong

    def _session(self, name: str) -> SessionRow:
        if not self.has_store:
            raise NotFoundError(f"There is no session {name[:80]!r}.", hint="This space is empty.")
        row = self._reader.session(name)
        if row.passing:  # found by its exact id alone, and by nobody here: as if there was none
            raise NotFoundError(f"There is no session {name!r}.", hint="`raw-rag sessions` lists them.")
        return row

    def _shown(self, turn: PagedTurn) -> dict[str, Any]:
        from agent_raw_rag.memory.results import stamp
        from agent_raw_rag.sanitize.actions import said_and_done

        text, actions = said_and_done(turn.role, turn.text)
        return {
            "turn": turn.ordinal, "event_id": turn.event, "exchange": turn.exchange, "role": turn.role,
            "time": stamp(turn.time), "text": text, "actions": actions, "abandoned": turn.abandoned,
            "partial": turn.partial, "branch_from": turn.branch_from, "record_ids": turn.record_ids,
        }  # fmt: skip


def _told_apart(part: dict[str, Any]) -> dict[str, Any]:
    from agent_raw_rag.sanitize.actions import said_and_done

    text, actions = said_and_done(part["role"], part["text"])
    return {**part, "text": text, "actions": actions}


def disk(home: str) -> dict[str, int]:
    """Bytes of the store, of its index and of its vectors' caches, and those that are free beside them."""
    import shutil

    from agent_raw_rag.derived import lexical_folder

    place = home
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    store = sum(_bytes(entry.path) for entry in os.scandir(place) if ".db" in entry.name) if place == home else 0
    return {
        "store_bytes": store, "index_bytes": _bytes(lexical_folder(home)), "vectors_bytes": _bytes(os.path.join(home, "vectors")),
        "free_bytes": shutil.disk_usage(place).free,
    }  # fmt: skip


def _bytes(path: str) -> int:
    """Of a file, or of all files under a folder; what is removed meanwhile counts nothing."""
    try:
        if not os.path.isdir(path):
            return os.path.getsize(path)
        return sum(_bytes(entry.path) for entry in os.scandir(path) if not entry.is_symlink())
    except OSError:
        return 0
