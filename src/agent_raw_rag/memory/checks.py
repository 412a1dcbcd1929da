"""What a proposed statement must satisfy, and what it is next to the notes there are. No model: rules only.

Above: ``sweep`` and ``promotion``. A proposal is refused (an error that says why), or it is valid, or an active note says
exactly that already (merge), or one says the opposite (conflict).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.polarity import are_twins, is_about_something, landmark, reading
from agent_raw_rag.memory.statements import normal, statement_hash
from agent_raw_rag.store.candidates import statements_with
from agent_raw_rag.store.captured import CapturedRows, EventRow
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.notes import NoteRows

SHORTEST, LONGEST = 3, 600
"""Characters of a statement, and of a quote."""
MOST_EVIDENCE = 50


class Outcome(StrEnum):
    """What a statement is next to the notes there are."""

    VALID = "valid"
    MERGE = "merge"
    """An active note says exactly that."""
    CONFLICT = "conflict"
    """An active note says the opposite."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, and the note it is about."""

    outcome: Outcome
    note: str | None = None
    kind: str | None = None
    """Of that note."""


def checked_statement(statement: str) -> None:
    """Raises BadArgumentError: blank, too short or too long."""
    _within("statement", statement)


def checked_evidence(connection: Connection, evidence: Iterable[str], quote: str) -> list[EventRow]:
    """The events that a quote rests on.

    Raises:
        BadArgumentError: there are none, or too many; the quote stands in none of them, or is too short or too long.
        NotFoundError: an id names no event of this space, or one that was forgotten.
    """
    names = list(dict.fromkeys(evidence))
    if not names:
        raise BadArgumentError("There is no evidence.", hint="Give the event_id of the turn that says so.")
    if len(names) > MOST_EVIDENCE:
        raise BadArgumentError(f"{len(names)} events are given; at most {MOST_EVIDENCE} are taken.")
    _within("quote", quote)
    events = [CapturedRows(connection).event(name) for name in names]
    wanted = normal(quote)
    if not wanted or not any(wanted in normal(one.text) for one in events):
        raise BadArgumentError(
            "The quote stands in none of the events given as evidence.", hint="Copy it word for word from one of them."
        )
    return events


def checked_importance(importance: str, statement: str, quote: str) -> None:
    """Raises BadArgumentError: what is said to be of high importance is not the very words of its evidence."""
    if importance == "high" and normal(statement) != normal(quote):
        raise BadArgumentError(
            "A statement of high importance must be its quote, word for word.", hint="Or propose it as medium."
        )


def verdict(connection: Connection, statement: str) -> Verdict:
    """What a statement is next to the active notes."""
    same = NoteRows(connection).active_of(statement_hash(statement))
    if same is not None:
        return Verdict(Outcome.MERGE, same.id, same.kind)
    said = reading(statement)
    if is_about_something(said):
        for note, kind, other in statements_with(connection, landmark(said)):
            if are_twins(said, reading(other)):
                return Verdict(Outcome.CONFLICT, note, kind)
    return Verdict(Outcome.VALID)


def _within(name: str, text: str) -> None:
    length = len(text.strip())
    if not length:
        raise BadArgumentError(f"The {name} is blank.")
    if not SHORTEST <= length <= LONGEST:
        raise BadArgumentError(f"The {name} has {length} characters; it must have from {SHORTEST} to {LONGEST}.")
