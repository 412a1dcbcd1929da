"""What becomes of a candidate: pending, a note, merged into one, in conflict with one. Inside the caller's transaction, each
step with its row in the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from agent_raw_rag.errors import ConflictError
from agent_raw_rag.memory.checks import Outcome, Verdict, checked_importance, checked_statement, verdict
from agent_raw_rag.memory.protected import KEEP, protected
from agent_raw_rag.memory.statements import RULE, statement_hash
from agent_raw_rag.memory.taken import Taker
from agent_raw_rag.models import Actor, CleanText, Millis
from agent_raw_rag.store.candidates import CONFLICT, PROMOTED, CandidateRow, CandidateRows, candidate_id
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.notes import ACTIVE, NoteRow, NoteRows
from agent_raw_rag.store.rows import text_hash


@dataclass(frozen=True, slots=True)
class Made:
    """A candidate after a step."""

    row: CandidateRow
    note: str | None = None
    """The note it became or was merged into."""
    merged: bool = False
    superseded: str | None = None
    """The note that it replaced."""

    @property
    def promoted(self) -> bool:
        """Whether it became a note of its own."""
        return self.note is not None and not self.merged

    @property
    def in_conflict(self) -> bool:
        """Whether an active note says the opposite."""
        return self.row.status == CONFLICT


@dataclass(frozen=True)
class Becoming:
    """The steps, in one transaction, by one actor, at one instant."""

    connection: Connection
    actor: Actor
    now: Millis
    take: Taker
    new_note: Callable[[], str]

    @property
    def rows(self) -> CandidateRows:
        """The candidates."""
        return CandidateRows(self.connection)

    def row(
        self, *, kind: str, statement: str, quote: str, evidence: tuple[str, ...], source: str, rule: str | None = None,
        importance: str = "medium", confidence: float = 0.5,
    ) -> CandidateRow:  # fmt: skip
        """A candidate that is not stored yet, of text that may be stored.

        Raises:
            BadArgumentError: the statement is blank, too short or too long, or not its quote and of high importance.
        """
        checked_statement(statement)
        checked_importance(importance, statement, quote)
        said = self.take.statement(statement)
        checked_statement(said)
        name = candidate_id(self.rows.generation(), kind, statement_hash(said), evidence)
        return CandidateRow(
            name, kind, said, statement_hash(said), self.take.statement(quote), evidence, source, self.actor.name, self.now,
            importance, confidence, rule,
        )  # fmt: skip

    def propose(self, row: CandidateRow, *, promote: bool) -> Made:
        """Store a new candidate; with ``promote`` it becomes a note at once, unless it is a rule or in conflict."""
        self.rows.add(row)
        self._say("candidate", row.id, row, after=text_hash(row.statement), rule=row.rule)
        found = verdict(self.connection, row.statement)
        if found.outcome is Outcome.CONFLICT:
            return self.conflict(row, found)
        if promote and row.kind != RULE:
            return self.promote(row, found)
        return Made(row)

    def conflict(self, row: CandidateRow, found: Verdict, reason: CleanText | None = None) -> Made:
        """Say that an active note says the opposite."""
        self.rows.decide(row.id, CONFLICT, None, note=found.note, reason=reason)
        self._say("conflict", row.id, row, note=found.note)
        return Made(replace(row, status=CONFLICT, note=found.note))

    def promote(self, row: CandidateRow, found: Verdict, reason: CleanText | None = None) -> Made:
        """Make it a note, or merge it into the one that says the same; a note that says the opposite is replaced.

        Raises:
            ConflictError: the note to replace is a rule.
            ProtectedError: it is tagged ``keep``.
        """
        if found.outcome is Outcome.MERGE and found.note is not None:
            return self._merge(row, found.note, reason)
        old = found.note if found.outcome is Outcome.CONFLICT else None
        if old is not None and found.kind == RULE and row.kind != RULE:
            raise ConflictError(
                f"{row.id} contradicts the rule {old}.",
                hint=f"Rules give way to people only: memory_update {old}, or memory_reject {row.id}.",
            )
        note = self._note(row, old)
        notes = NoteRows(self.connection)
        if old is not None:
            held = notes.get(old)
            if held is not None and KEEP in held.tags:
                raise protected(old)
            notes.supersede(old, note.id, self.now, reason)
        notes.add(note)
        self.rows.decide(row.id, PROMOTED, self.now, note=note.id, reason=reason)
        self._say("promote", note.id, row, after=text_hash(row.statement), candidate=row.id, supersedes=old)
        return Made(replace(row, status=PROMOTED, note=note.id, decided=self.now), note.id, superseded=old)

    def _merge(self, row: CandidateRow, note: str, reason: CleanText | None) -> Made:
        held = NoteRows(self.connection).get(note)
        assert held is not None  # it was found in this transaction
        NoteRows(self.connection).add_evidence(held, row.evidence, self.now)
        self.rows.decide(row.id, PROMOTED, self.now, note=note, reason=reason)
        self._say("merge", note, row, after=text_hash(row.statement), candidate=row.id)
        return Made(replace(row, status=PROMOTED, note=note, decided=self.now), note, merged=True)

    def merge_evidence(self, row: CandidateRow, evidence: Iterable[str]) -> bool:
        """Give the note that a candidate became more evidence. Whether it was news."""
        held = NoteRows(self.connection).get(row.note or "")
        if held is None or not NoteRows(self.connection).add_evidence(held, evidence, self.now):
            return False
        self._say("merge", held.id, row, candidate=row.id)
        return True

    def holds(self, row: CandidateRow) -> bool:
        """Whether the note that a candidate became is active."""
        note = NoteRows(self.connection).get(row.note or "")
        return note is not None and note.status == ACTIVE

    def _note(self, row: CandidateRow, old: str | None) -> NoteRow:
        return NoteRow(
            self.new_note(), row.kind, row.statement, row.statement_hash, self.take.source(row.source), self.now, self.now,
            author=self.actor.name, importance=row.importance, confidence=row.confidence, evidence=row.evidence,
            candidate=row.id, supersedes=old,
        )  # fmt: skip

    def _say(
        self, action: str, target: str, row: CandidateRow, after: bytes | None = None, **detail: str | None
    ) -> None:
        told = {"kind": row.kind, "evidence": list(row.evidence), **{key: one for key, one in detail.items() if one}}
        Journal(self.connection).add(
            self.actor, action, time=self.now, target=target, source=row.source, after=after, detail=told
        )
