"""Notes, candidates and the journal of an export -> store, with their ids. The caller holds the transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_raw_rag.errors import StoreError
from agent_raw_rag.memory.portable.arrived import Arrived
from agent_raw_rag.memory.statements import statement_hash
from agent_raw_rag.memory.values import clean_values
from agent_raw_rag.models import CleanText
from agent_raw_rag.sanitize import cleaned
from agent_raw_rag.store.arrivals import Arrivals
from agent_raw_rag.store.journal import JournalRow
from agent_raw_rag.store.notes import ACTIVE, SUPERSEDED, NoteRow, NoteRows

Values = Mapping[str, Any]
UNDECIDED = ("pending", "conflict")


class NoteArrivals:
    """Takes what was made of the turns of one export."""

    def __init__(self, arrivals: Arrivals, result: Arrived, *, redacting: bool) -> None:
        self._arrivals = arrivals
        self._notes = NoteRows(arrivals.connection)
        self._result = result
        self._redacting = redacting
        self._apart = False

    def take(self, record: Values) -> None:
        """A record of one of these types."""
        {"note": self._note, "candidate": self._candidate, "journal": self._journal}[record["type"]](record)

    def _clean(self, text: str | None) -> CleanText:
        clean, _ = cleaned(text or "", redacting=self._redacting)
        self._result.masked += clean != (text or "")
        return clean

    def _optional(self, text: str | None) -> CleanText | None:
        return self._clean(text) if text else None

    # ------------------------------------------------------------ notes

    def _note(self, values: Values) -> None:
        mine = self._notes.get(values["id"])
        if mine is None:
            self._notes.add(self._beside(self._row(values)))
            self._result.added["note"] += 1
            return
        self._result.present["note"] += 1
        if mine.status == ACTIVE and values["status"] != ACTIVE and values["changed"] >= mine.changed:
            self._arrivals.end_note(values, self._optional(values.get("reason")))
            self._result.updated += 1

    def _row(self, values: Values) -> NoteRow:
        statement = self._clean(values.get("statement"))
        return NoteRow(
            id=values["id"], kind=values["kind"], statement=statement, statement_hash=statement_hash(statement),
            source=self._clean(values["source"]), created=values["created"], changed=values["changed"],
            topic=self._optional(values.get("topic")), author=values.get("author"),
            importance=values.get("importance", "medium"), confidence=values.get("confidence", 1.0),
            evidence=tuple(values.get("evidence", ())), candidate=values.get("candidate"), status=values["status"],
            supersedes=values.get("supersedes"), superseded_by=values.get("superseded_by"),
            tags=tuple(values.get("tags", ())), reason=self._optional(values.get("reason")),
            expires=values.get("expires"), metadata=clean_values(values.get("metadata", {}), self._clean),
        )  # fmt: skip

    def _beside(self, row: NoteRow) -> NoteRow:
        """An active note that is said here already, under another id, comes as replaced by that one: its id leads there."""
        other = self._notes.active_of(row.statement_hash) if row.status == ACTIVE else None
        return row if other is None else replace(row, status=SUPERSEDED, superseded_by=other.id)

    # ------------------------------------------------------------ candidates

    def _candidate(self, values: Values) -> None:
        mine = self._arrivals.candidate_status(values["id"])
        if mine is None:
            statement = self._clean(values.get("statement"))
            hashed = statement_hash(statement) if statement else b""  # none: it was forgotten
            self._arrivals.add_candidate(
                {"importance": "medium", "confidence": 0.5, **values},
                statement,
                hashed,
                self._clean(values.get("quote")),
            )
            self._result.added["candidate"] += 1
            return
        self._result.present["candidate"] += 1
        if mine[0] in UNDECIDED and values["status"] not in UNDECIDED:
            self._arrivals.decide_candidate(values)
            self._result.updated += 1

    # ------------------------------------------------------------ the journal

    def _journal(self, values: Values) -> None:
        """A journal goes on only from its own beginning: one of another store is left out from where they part."""
        row = JournalRow(
            values["id"], values["time"], values["action"], values["actor"], values.get("token"), values["transport"],
            values.get("source"), values.get("target"), _bytes(values.get("before")), _bytes(values.get("after")),
            values.get("detail", {}), bytes.fromhex(values["chain"]),
        )  # fmt: skip
        try:
            taken = None if self._apart else self._arrivals.journal(row)
        except ValueError as error:
            raise StoreError(f"The export's journal does not hold together: {error}.") from error
        if taken is None:
            self._apart = True
            self._result.journal_left_out += 1
        else:
            (self._result.added if taken else self._result.present)["journal"] += 1


def _bytes(value: str | None) -> bytes | None:
    return bytes.fromhex(value) if value else None
