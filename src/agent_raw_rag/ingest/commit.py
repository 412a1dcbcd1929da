"""Arrow 6: one batch of one source -> one transaction: turns, copies, branches, chunks and the cursor that leads on."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from agent_raw_rag.chunker import Windows
from agent_raw_rag.ingest.branches import mark_branches, roll_back
from agent_raw_rag.ingest.changes import Changes, apply_info
from agent_raw_rag.ingest.merge import merge_whole, reorder
from agent_raw_rag.ingest.place import place_turn
from agent_raw_rag.ingest.prepare import Prepared
from agent_raw_rag.ingest.recut import recut
from agent_raw_rag.models import CleanTurn, Shape, Source, Tokenizer
from agent_raw_rag.sanitize import Options, clean_label
from agent_raw_rag.sources.projects import Projects
from agent_raw_rag.store.connection import transaction
from agent_raw_rag.store.rows import Status, key_hash
from agent_raw_rag.store.sources import Sources
from agent_raw_rag.store.writer import Writer


@dataclass(slots=True)
class Added:
    """What a batch, or a run, has added to the store."""

    sessions: int = 0
    turns: int = 0
    chunks: int = 0

    def as_json(self) -> dict[str, int]:
        """What a caller counts in."""
        return {"sessions": self.sessions, "turns": self.turns}

    def add(self, other: Added) -> None:
        """Count another one in."""
        self.sessions += other.sessions
        self.turns += other.turns
        self.chunks += other.chunks


@dataclass(slots=True)
class Committer:
    """Stores batches. Holds what all of them need; keeps nothing between them but the projects it has seen."""

    writer: Writer
    sources: Sources
    tokenizer: Tokenizer
    windows: Windows = field(default_factory=Windows)
    options: Options = field(default_factory=Options)
    projects: Projects = field(default_factory=Projects)
    gone: frozenset[int] = frozenset()
    """Row numbers of the sources whose files no longer exist."""

    def commit(self, source: Source, source_id: int, batch: Prepared, part: str = "") -> Added:
        """Store one batch and its cursor, or nothing at all."""
        with transaction(self.writer.connection):
            changes = Changes(self.writer, source.agent, source_id, whole=batch.whole, gone=self.gone)
            for native, info in batch.infos.items():
                apply_info(changes.session(native), info, self.projects, clean_label)
            added = self._place(changes, batch.turns, batch.whole)
            self._mark(changes, batch)
            for session_id, ordinal in changes.first_changed.items():
                session = changes.session_by_id(session_id)
                added.chunks += recut(self.writer, session, ordinal, self.tokenizer, self.windows)
            changes.save()
            self.sources.quarantine(source_id, batch.bad)
            self.sources.save_cursor(source_id, batch.cursor, part)
        return added

    def start_again(self, source_id: int, *, trusted: bool) -> None:
        """Have a source read from its beginning again. What is stored of it stays, and stays searchable, until it is met again:
        a log that cannot be read after all, or a kill, costs nothing. See ``Sources.start_rereading``."""
        with transaction(self.writer.connection):
            for session_id in self.writer.mark_for_rereading(source_id):
                if not self.writer.cut_by(session_id, self.windows.size, self.windows.step):
                    self._recut(session_id, 1)
            self.sources.start_rereading(source_id, trusted=trusted)

    def end_again(self, source: Source, source_id: int) -> None:
        """A source was read to its end: if it was read again, settle what it did not hold, and the order of its turns."""
        trusted = self.sources.rereading(source_id)
        if trusted is None:
            return
        with transaction(self.writer.connection):
            for session_id in self.writer.end_rereading(source_id, delete=bool(trusted)):
                session = self.writer.session_by_id(session_id)
                changed = reorder(self.writer, session, source_id, by_place=source.shape is Shape.LINES)
                if changed is not None:
                    self._recut(session_id, changed)
            self.sources.end_rereading(source_id)

    def _recut(self, session_id: int, ordinal: int) -> None:
        session = self.writer.session_by_id(session_id)
        recut(self.writer, session, ordinal, self.tokenizer, self.windows)
        self.writer.save_session(session)

    def _place(self, changes: Changes, turns: list[CleanTurn], whole: bool) -> Added:
        by_session: dict[str, dict[str, CleanTurn]] = defaultdict(dict)
        for turn in turns:
            by_session[turn.session].setdefault(turn.key, turn)
        added = Added()
        for native, by_key in by_session.items():
            group = list(by_key.values())
            first = changes.session(native).turns == 0
            new = [row for turn in group if (row := place_turn(changes, turn)) is not None]
            added.turns += sum(row.status is not Status.FORGOTTEN for row in new)
            added.sessions += first and any(row.status is Status.LIVE for row in new)
            if whole:
                merge_whole(changes, changes.session(native), [key_hash(changes.agent, turn.key) for turn in group])
            elif any(turn.branch_from for turn in group) and changes.session(native).branched:
                mark_branches(self.writer, changes.session(native))
        added.turns -= changes.given_up
        return added

    def _mark(self, changes: Changes, batch: Prepared) -> None:
        if batch.whole:
            for native in batch.infos:
                session = changes.session(native)
                if session.branched:
                    self.writer.set_abandoned(session.id, range(1, session.turns + 1), 0)
        for mark in batch.marks:
            session = changes.session(mark.session)
            session.branched = True
            last = key_hash(changes.agent, mark.after_key) if mark.after_key else None
            roll_back(self.writer, session, mark, last)
