"""The sweep: stored turns past its own cursor -> candidates, and notes of what was said outright. Deterministic, no model.

It reads rows, not processes: whatever any door or log stored since the last sweep is in it. Each slice is one transaction with
its candidates, the cursor and the journal, so that a killed sweep goes on where it was, and a second one finds nothing new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.becoming import Becoming
from agent_raw_rag.memory.results import Swept
from agent_raw_rag.memory.statements import normal
from agent_raw_rag.memory.taken import Taker
from agent_raw_rag.memory.triggers import Hit, Triggers
from agent_raw_rag.models import Actor
from agent_raw_rag.store.candidates import REJECTED, UNDECIDED, CandidateRow
from agent_raw_rag.store.captured import CapturedRows
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.notes import new_note_id
from agent_raw_rag.store.sweep import Slice, SweepRows, TurnToSweep

SLICE = 500
"""Turns of a slice, at most. Rules run before its transaction, which is short."""
MOST_HITS = 40
"""Sentences of a slice, from which on it ends: each is compared with the notes there are while others wait to write."""
SWEEPER = Actor("sweep", "sweep")
OFF, EXPLICIT, ALL_VALID = "off", "explicit", "all_valid"
CONFIDENCE = {True: 0.9, False: 0.5}
"""Of what was said outright, and of what a rule only reads out of a sentence."""


@dataclass(slots=True)
class _Counts:
    read: int = 0
    created: int = 0
    promoted: int = 0
    merged: int = 0
    conflicts: int = 0
    history: int = 0


@dataclass(frozen=True)
class Sweep:
    """The sweep of one space."""

    store: SpaceStore
    triggers: Callable[[], Triggers]
    """Read anew for each sweep. Raises ConfigError: the user's own file is wrong."""
    auto_promote: str
    take: Taker
    new_note: Callable[[], str] = new_note_id
    slice_turns: int = SLICE
    most_hits: int = MOST_HITS

    def __call__(self, *, everything: bool = False, actor: Actor = SWEEPER) -> Swept:
        """Sweep what is new; with ``everything`` also the history that logs told before there was this store, of which
        nothing is promoted by itself.

        Raises:
            ConfigError: the user's trigger rules are wrong.
            StoreError: the store cannot be written.
        """
        counts, triggers = _Counts(), self.triggers()
        if self.store.exists():
            run = _Run(self, triggers, actor, counts)
            run.waiting()
            run.news()
            if everything:
                run.history()
            run.end()
        return Swept(
            counts.read,
            counts.created,
            counts.promoted,
            counts.merged,
            counts.conflicts,
            0 if everything else counts.history,
        )


@dataclass(frozen=True)
class _Run:
    """One sweep."""

    sweep: Sweep
    triggers: Triggers
    actor: Actor
    counts: _Counts

    def waiting(self) -> None:
        """Turns that settled behind the cursor."""
        while (part := self._rows().waiting(self.sweep.slice_turns)).waiting:
            found, upto = self._found(part, history=False)
            with self.sweep.store.write() as connection:
                self._place(connection, found)
                SweepRows(connection).take_in(number for number in part.waiting if number <= upto)

    def news(self) -> None:
        """Turns behind the cursor. Should another sweep have moved it meanwhile, what it did is not done again."""
        while (start := self._rows().cursor()) < (newest := self._rows().newest()):
            part = self._rows().after(start, newest, self.sweep.slice_turns)
            found, upto = self._found(part, history=False)
            with self.sweep.store.write() as connection:
                rows = SweepRows(connection)
                if rows.cursor() == start:
                    self._place(connection, found)
                    rows.pass_to(upto)

    def history(self) -> None:
        """Everything from the first turn on. The cursor is where ``news`` left it."""
        start, newest = 0, self._rows().cursor()
        while start < newest:
            part = self._rows().after(start, newest, self.sweep.slice_turns)
            found, upto = self._found(part, history=True)
            if found:
                with self.sweep.store.write() as connection:
                    self._place(connection, found)
            start = upto

    def end(self) -> None:
        """Say when."""
        with self.sweep.store.write() as connection:
            SweepRows(connection).ended(self.sweep.store.now())

    def _rows(self) -> SweepRows:
        return SweepRows(self.sweep.store.read().connection)

    def _found(self, part: Slice, *, history: bool) -> tuple[list[tuple[TurnToSweep, Hit]], int]:
        """What the rules find, and the row number that was come to."""
        found: list[tuple[TurnToSweep, Hit]] = []
        for turn in part.turns:
            if turn.is_new != history:
                self.counts.read += 1
                found += [(turn, hit) for hit in self.triggers.hits(turn.text)]
            self.counts.history += not turn.is_new
            if len(found) >= self.sweep.most_hits:
                return found, turn.number
        return found, part.upto

    def _place(self, connection: Connection, found: list[tuple[TurnToSweep, Hit]]) -> None:
        placing = _Placing(self.sweep, connection, self.actor, self.counts)
        for turn, hit in found:
            placing.place(turn, hit)


@dataclass(frozen=True)
class _Placing:
    """Hits -> candidates, inside a transaction."""

    sweep: Sweep
    connection: Connection
    actor: Actor
    counts: _Counts

    def place(self, turn: TurnToSweep, hit: Hit) -> None:
        """Propose a sentence, once: what was proposed before takes the turn in as evidence."""
        evidence = CapturedRows(self.connection).events([turn.event]).get(turn.event)
        if evidence is None or normal(hit.text) not in normal(evidence.text):
            return  # it was forgotten, or changed, since it was read
        becoming = self._becoming()
        try:
            row = becoming.row(
                kind=hit.rule.kind, statement=hit.text, quote=hit.text, evidence=(turn.event,), source=turn.source,
                rule=hit.rule.name, confidence=CONFIDENCE[hit.rule.explicit],
            )  # fmt: skip
        except BadArgumentError:
            return  # nothing is left of it once secrets are masked, or it is too short
        by_itself = turn.is_new and self._may_promote(hit)
        known = becoming.rows.saying(row.statement_hash)
        if any(turn.event in one.evidence for one in known):
            return
        if known and not self._says_anew(known[0], hit):
            self._take_in(becoming, known[0], row, by_itself=by_itself)
            return
        made = becoming.propose(row, promote=by_itself)
        self.counts.created += 1
        self.counts.promoted += made.promoted
        self.counts.merged += made.merged
        self.counts.conflicts += made.in_conflict

    def _take_in(self, becoming: Becoming, known: CandidateRow, row: CandidateRow, *, by_itself: bool) -> None:
        if known.status == REJECTED:
            return
        becoming.rows.add_evidence(known, row.evidence)
        if known.status not in UNDECIDED and by_itself:
            self.counts.merged += becoming.merge_evidence(known, row.evidence)

    def _says_anew(self, known: CandidateRow, hit: Hit) -> bool:
        """Whether a sentence that was decided about is worth deciding again: it was rejected and is now said outright, or the
        note that it became no longer holds."""
        if known.status == REJECTED:
            return hit.rule.explicit
        return known.status not in UNDECIDED and not self._becoming().holds(known)

    def _may_promote(self, hit: Hit) -> bool:
        mode = self.sweep.auto_promote
        return mode == ALL_VALID or (mode == EXPLICIT and hit.rule.explicit)

    def _becoming(self) -> Becoming:
        return Becoming(self.connection, self.actor, self.sweep.store.now(), self.sweep.take, self.sweep.new_note)
