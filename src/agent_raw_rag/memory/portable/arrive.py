"""Use case: an export of ours -> a space. It adds what is not there, with its ids; it changes nothing that is, but one thing: a
note or candidate that is undecided here is decided as it was there, if that came later.

The file is read twice: once to prove it whole, before anything is written; then each session is one transaction, notes and
journal another. Killed in between, it is run again, and goes on where it was. What was forgotten here does not come back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.memory.portable.arrive_notes import NoteArrivals
from agent_raw_rag.memory.portable.arrive_sessions import SessionArrivals
from agent_raw_rag.memory.portable.arrived import Arrived
from agent_raw_rag.memory.portable.form import Reading, Record
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.arrivals import Arrivals
from agent_raw_rag.store.connection import transaction
from agent_raw_rag.store.journal import Journal


def arrive(
    committer: Committer, path: str, *, actor: Actor, now: Millis, on_chunks: Callable[[int], None] = lambda count: None
) -> Arrived:
    """Import an export. The caller holds the writer lock.

    Raises:
        SourceError: it cannot be read.
        UsageError: it is no export.
        StoreError: it was cut, changed, or made by a newer version. Nothing was written.
    """
    checked = Reading(os.path.basename(path))
    for _ in checked.records(_lines(path)):
        pass
    result = Arrived()
    arrivals = Arrivals(committer.writer.connection)
    with transaction(committer.writer.connection):
        if arrivals.is_empty():
            arrivals.take_name(checked.generation)
    sessions = SessionArrivals(committer, arrivals, result)
    rest: list[Record] = []
    for group in _groups(Reading(os.path.basename(path)).records(_lines(path))):
        kind = group[0]["type"]
        if kind == "source":
            sessions.source(group[0])
        elif kind == "session":
            on_chunks(sessions.session(group[0], group[1:]))
        else:
            rest.append(group[0])
    _rest(committer, arrivals, rest, result, checked, actor, now)
    return result


def _rest(
    committer: Committer, arrivals: Arrivals, rest: list[Record], result: Arrived, checked: Reading, actor: Actor,
    now: Millis,
) -> None:  # fmt: skip
    """Notes, candidates and journal, and that there was an import: one transaction."""
    notes = NoteArrivals(arrivals, result, redacting=committer.options.redact)
    connection = committer.writer.connection
    with transaction(connection):
        for record in rest:
            notes.take(record)
        detail = {"sha256": checked.sha256, "added": result.added}
        Journal(connection).add(actor, "import", time=now, target="export", detail=detail)


def _groups(records: Iterator[Record]) -> Iterator[list[Record]]:
    """A session with its turns; any other record on its own."""
    group: list[Record] = []
    for record in records:
        if group and record["type"] != "turn":
            yield group
            group = []
        group.append(record)
    if group:
        yield group


def _lines(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error
