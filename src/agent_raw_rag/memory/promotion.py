"""From raw turns to notes, without a model: what the sweep finds, what a host agent proposes, what a person decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotFoundError
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.becoming import Becoming, Made
from agent_raw_rag.memory.checks import Outcome, Verdict, checked_evidence, verdict
from agent_raw_rag.memory.results import CandidateItem, Candidates, Promoted, Proposed, Rejected, Swept, stamp
from agent_raw_rag.memory.results import Promotion as OnePromotion
from agent_raw_rag.memory.statements import IMPORTANCE, KINDS, RULE
from agent_raw_rag.memory.sweep import ALL_VALID, SWEEPER, Sweep
from agent_raw_rag.memory.taken import Taker, one_of
from agent_raw_rag.models import Actor, CleanText, Millis
from agent_raw_rag.store.candidates import (
    CONFLICT,
    PROMOTED,
    REJECTED,
    STATUSES,
    UNDECIDED,
    CandidateRow,
    CandidateRows,
)
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.rows import text_hash
from agent_raw_rag.store.sweep import SweepRows

ALL = "all"
REFUSED = CleanText("Refused once: it contradicts a note.")
"""The reason of a candidate that may be promoted now, if it is meant."""
MOST = 1000
"""Candidates of one list, and of one decision."""


@dataclass(frozen=True, slots=True)
class Propose:
    """A statement that a note should be made of."""

    statement: str
    quote: str
    """Words of one of the events, as they stand there."""
    evidence: tuple[str, ...]
    """Ids of the events it rests on."""
    kind: str = "fact"
    importance: str = "medium"
    source: str | None = None
    """None: that of the first event."""


@dataclass(frozen=True)
class Promotion:
    """The candidates of one space. Safe to use from several threads."""

    store: SpaceStore
    sweeping: Sweep

    @property
    def _take(self) -> Taker:
        return self.sweeping.take

    # ------------------------------------------------------------ finding

    def sweep(self, *, everything: bool = False, actor: Actor = SWEEPER) -> Swept:
        """Look through what was stored since the last sweep; see ``Sweep``."""
        return self.sweeping(everything=everything, actor=actor)

    def swept_at(self) -> Millis | None:
        """When the last sweep ended; None: there was none."""
        return SweepRows(self.store.read().connection).last() if self.store.exists() else None

    def due_in(self, interval_seconds: float) -> float:
        """Seconds until a sweep is due; 0: now. A space without a store has nothing to sweep until an interval has passed."""
        if not self.store.exists():
            return interval_seconds
        last = self.swept_at()
        passed = (self.store.now() - last) / 1000 if last is not None else interval_seconds
        return interval_seconds - passed if 0 <= passed < interval_seconds else 0.0

    def propose(self, ask: Propose, actor: Actor) -> Proposed:
        """Propose a statement. What was proposed before with the same evidence is given back as it stands.

        Raises:
            BadArgumentError: it is blank, too short or too long, of an unknown kind; the quote is not in its evidence.
            NotFoundError: an event is not of this space, or was forgotten.
        """
        one_of("kind", ask.kind, KINDS)
        one_of("importance", ask.importance, IMPORTANCE)
        with self._changing() as connection:
            becoming = self._becoming(connection, actor)
            row, known = self._candidate(becoming, ask)
            if known is not None:
                return Proposed(candidate_item(known), created=False)
            made = becoming.propose(row, promote=self.sweeping.auto_promote == ALL_VALID)
        return Proposed(candidate_item(made.row), created=True, merged=made.merged)

    def _candidate(self, becoming: Becoming, ask: Propose) -> tuple[CandidateRow, CandidateRow | None]:
        """(the candidate of a proposal, not stored yet; the one that is stored under its id, if there is one)."""
        events = checked_evidence(becoming.connection, ask.evidence, ask.quote)
        row = becoming.row(
            kind=ask.kind, statement=ask.statement, quote=ask.quote, evidence=tuple(one.id for one in events),
            source=self._take.source(ask.source or events[0].source), importance=ask.importance,
        )  # fmt: skip
        return row, becoming.rows.get(row.id)

    # ------------------------------------------------------------ deciding

    def candidates(self, status: str | None = None, limit: int = 50) -> Candidates:
        """Candidates, the newest first. Without a status those that nobody decided about: pending and in conflict.

        Raises:
            BadArgumentError: an unknown status.
        """
        chosen: tuple[str, ...] = UNDECIDED
        if status is not None:
            chosen = STATUSES if status == ALL else (one_of("status", status, (*STATUSES, ALL)),)
        if not self.store.exists():
            return Candidates([])
        rows = CandidateRows(self.store.read().connection).listed(chosen, max(1, min(limit, MOST)))
        return Candidates([candidate_item(row) for row in rows])

    def promote(self, ids: Sequence[str], actor: Actor, note: str | None = None) -> Promoted:
        """Make notes of candidates: all of them, or none. What is promoted already stays so; what was rejected comes back.

        One that contradicts an active note is refused the first time, whoever found out; promoting it again replaces that note.

        Args:
            note: Why, in a few words.

        Raises:
            BadArgumentError: no ids, or too many.
            NotFoundError: one of them, or what it rests on, is not there any more.
            ConflictError: one contradicts an active note, and nobody was refused it yet; or that note is a rule.
        """
        names = list(dict.fromkeys(ids))
        if not 0 < len(names) <= MOST:
            raise BadArgumentError(
                "Promote which?", hint=f"Give from 1 to {MOST} ids, as memory_candidates shows them."
            )
        reason = self._take.reason(note)
        self._mark_conflicts(names, actor)
        with self._changing() as connection:
            becoming = self._becoming(connection, actor)
            made = [self._promote(becoming, _known(becoming.rows, name), reason) for name in names]
        return Promoted([OnePromotion(one.row.id, one.note or "", one.merged, one.superseded) for one in made])

    def _mark_conflicts(self, names: Sequence[str], actor: Actor) -> None:
        """Written before anybody is told of it, as the refusal undoes nothing else."""
        with self._changing() as connection:
            becoming = self._becoming(connection, actor)
            refused = [_first_refusal(becoming, _known(becoming.rows, name)) for name in names]
        told = next((one for one in refused if one is not None), None)
        if told is not None:
            raise told

    def _promote(self, becoming: Becoming, row: CandidateRow, reason: CleanText | None) -> Made:
        if row.status == PROMOTED:
            return Made(row, row.note)
        if not row.evidence:
            raise NotFoundError(f"What {row.id} rests on was forgotten.", hint="Nothing can be made of it any more.")
        checked_evidence(becoming.connection, row.evidence, row.quote)
        return becoming.promote(row, verdict(becoming.connection, row.statement), reason)

    def promote_reworded(self, candidate: str, statement: str, actor: Actor, note: str | None = None) -> Promoted:
        """Make a note that says what a candidate means in other words, resting on the same quote and evidence.

        The words are proposed as a candidate of their own and promoted; the one they stand for is rejected then. All of it
        happens or none, but that a first refusal for a conflict is written down, as ``promote`` does.

        Raises:
            BadArgumentError, NotFoundError, ConflictError: as ``propose``, ``promote`` and ``reject``.
        """
        reason = self._take.reason(note)
        with self._changing() as connection:
            becoming = self._becoming(connection, actor)
            row = _undecided(becoming.rows, candidate)
            own = self._reworded(becoming, row, statement)
            refused = _first_refusal(becoming, own)
            if refused is None:
                made = self._promote(becoming, own, reason)
                if own.id != row.id:
                    _reject(becoming, row, self._take.reason(f"Reworded as {own.id}."))
        if refused is not None:
            raise refused
        return Promoted([OnePromotion(own.id, made.note or "", made.merged, made.superseded)])

    def _reworded(self, becoming: Becoming, row: CandidateRow, statement: str) -> CandidateRow:
        told = Propose(statement, row.quote, row.evidence, row.kind, row.importance, row.source)
        own, known = self._candidate(becoming, told)
        return known or becoming.propose(own, promote=False).row

    def reject(self, candidate: str, reason: str, actor: Actor) -> Rejected:
        """Say that a candidate is not worth a note. It is kept, and hidden from the usual list.

        Raises:
            BadArgumentError: no reason.
            NotFoundError: there is no such candidate.
            ConflictError: it is a note already.
        """
        why = self._take.reason(reason)
        if why is None:
            raise BadArgumentError("The reason is blank.", hint="Say in a few words why it is not worth keeping.")
        with self._changing() as connection:
            becoming = self._becoming(connection, actor)
            row = _undecided(becoming.rows, candidate)
            _reject(becoming, row, why)
        return Rejected(row.id, why if row.status != REJECTED else row.reason or why)

    # ------------------------------------------------------------ parts

    def _becoming(self, connection: Connection, actor: Actor) -> Becoming:
        return Becoming(connection, actor, self.store.now(), self._take, self.sweeping.new_note)

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """A transaction; none if there is no store, which it would make."""
        if not self.store.exists():
            raise NotFoundError("There is nothing in this space yet.", hint="memory_capture records what was said.")
        with self.store.write() as connection:
            yield connection


def _undecided(rows: CandidateRows, name: str) -> CandidateRow:
    """A candidate that is no note. Raises NotFoundError, ConflictError."""
    row = _known(rows, name)
    if row.status == PROMOTED:
        raise ConflictError(f"{row.id} is the note {row.note} already.", hint="memory_update changes a note.")
    return row


def _reject(becoming: Becoming, row: CandidateRow, why: CleanText | None) -> None:
    """Nothing happens to one that is rejected already."""
    if row.status == REJECTED:
        return
    becoming.rows.decide(row.id, REJECTED, becoming.now, reason=why)
    Journal(becoming.connection).add(
        becoming.actor, "reject", time=becoming.now, target=row.id, source=row.source, before=text_hash(row.statement)
    )


def _first_refusal(becoming: Becoming, row: CandidateRow) -> ConflictError | None:
    """Write down that a candidate contradicts a note, where nobody was told of it yet; the error to tell it with.

    None: there is no such conflict, or promoting it is refused for good, which ``Becoming.promote`` says.
    """
    found = verdict(becoming.connection, row.statement)
    if found.outcome is not Outcome.CONFLICT or row.status == PROMOTED or _was_refused(row, found):
        return None
    becoming.conflict(row, found, reason=REFUSED)
    if found.kind == RULE and row.kind != RULE:
        return None
    return ConflictError(
        f"{row.id} contradicts the note {found.note}.",
        hint=f"Promote it again to replace that note, or memory_reject {row.id}.",
    )


def _was_refused(row: CandidateRow, found: Verdict) -> bool:
    """Whether somebody who promoted it was told of this very note; that the sweep saw it is not enough."""
    return row.status == CONFLICT and row.note == found.note and row.reason is not None


def _known(rows: CandidateRows, name: str) -> CandidateRow:
    row = rows.get(name)
    if row is None:
        raise NotFoundError(
            f"There is no candidate {name[:80]!r} in this space.", hint="memory_candidates gives the ids."
        )
    return row


def candidate_item(row: CandidateRow) -> CandidateItem:
    """A candidate as the results show it."""
    return CandidateItem(
        id=row.id, kind=row.kind, statement=row.statement, quote=row.quote, evidence=list(row.evidence), source=row.source,
        importance=row.importance, confidence=row.confidence, rule=row.rule, proposer=row.proposer, status=row.status,
        reason=row.reason, note=row.note, created=stamp(row.created), decided=stamp(row.decided),
    )  # fmt: skip
