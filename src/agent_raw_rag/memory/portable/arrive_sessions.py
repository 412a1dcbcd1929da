"""Sessions and turns of an export -> store: each session one transaction, in the file's order, its chunks cut again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_raw_rag.ingest.changes import Changes
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.ingest.copies import resolve_copy
from agent_raw_rag.ingest.merge import merge_order, renumber
from agent_raw_rag.ingest.recut import recut
from agent_raw_rag.memory.portable.arrived import Arrived
from agent_raw_rag.memory.portable.masking import masked
from agent_raw_rag.sanitize import clean_label
from agent_raw_rag.store.arrivals import Arrivals
from agent_raw_rag.store.captured import event_id
from agent_raw_rag.store.connection import transaction
from agent_raw_rag.store.portable import STATUS
from agent_raw_rag.store.rows import SessionRow, Status, TurnRow, text_hash

Values = Mapping[str, Any]
_IDS = ("parent", "parent_kind")
_FACTS = (*_IDS, "cwd", "project", "remote", "branch", "title", "version")


class SessionArrivals:
    """Takes the sources and sessions of one export."""

    def __init__(self, committer: Committer, arrivals: Arrivals, result: Arrived) -> None:
        self._committer = committer
        self._writer = committer.writer
        self._arrivals = arrivals
        self._result = result
        self._sources: dict[int, int] = {}

    def source(self, values: Values) -> None:
        """A source: its number in the file, from here on, is its row here."""
        with transaction(self._writer.connection):
            self._sources[values["number"]] = self._arrivals.source(values)

    def session(self, values: Values, turns: Sequence[Values]) -> int:
        """A session with its turns. Returns the number of chunks written."""
        agent, _, native = values["session"].partition(":")
        with transaction(self._writer.connection):
            new = not self._arrivals.knows_session(agent, native)
            changes = Changes(self._writer, agent, self._row_of(values))
            session = changes.session(native)
            self._facts(session, values, new=new)
            self._count("session", new=new)
            before = [] if new else self._writer.turns_of(session.id)
            added = [row for turn in turns if (row := self._turn(changes, session, turn)) is not None]
            if added:
                self._order(changes, session, before, turns)
            chunks = 0
            for number, ordinal in changes.first_changed.items():
                touched = changes.session_by_id(number)
                chunks += recut(self._writer, touched, ordinal, self._committer.tokenizer, self._committer.windows)
            changes.save()
        return chunks

    def _row_of(self, values: Values) -> int | None:
        return self._sources.get(values.get("source", 0))

    def _count(self, kind: str, *, new: bool) -> None:
        (self._result.added if new else self._result.present)[kind] += 1

    def _facts(self, session: SessionRow, values: Values, *, new: bool) -> None:
        """What the session does not know of itself yet."""
        for name in _FACTS:
            given = values.get(name)
            if given and not getattr(session, name) and not (name == "title" and session.forgotten):
                setattr(session, name, given if name in _IDS else clean_label(given))
        if session.started is None:
            session.started = values.get("started")
        times = [time for time in (session.last, values.get("last")) if time is not None]
        session.last = max(times, default=None)
        session.branched = session.branched or bool(values.get("branched"))
        session.kept = session.kept or bool(values.get("kept"))
        session.endings = max(session.endings, values.get("endings", 0))
        if new:
            session.forgotten = bool(values.get("forgotten"))

    # ------------------------------------------------------------ turns

    def _turn(self, changes: Changes, session: SessionRow, values: Values) -> TurnRow | None:
        """Store a turn; returns its row if it is new."""
        holders = self._writer.holders_of(bytes.fromhex(values["key"]))
        mine = next((row for row in holders if row.session_id == session.id), None)
        if mine is not None:
            self._again(changes, mine, values)
            return None
        status = Status(STATUS[values["status"]])
        if session.forgotten or any(row.status is Status.FORGOTTEN for row in holders):
            self._result.forgotten += status is not Status.FORGOTTEN
            status = Status.FORGOTTEN
        elif status is Status.FORGOTTEN and holders:
            self._result.kept += 1
            return None
        text, redactions = masked(values, redacting=self._committer.options.redact)
        self._result.masked += status is Status.LIVE and text != values.get("text", "")
        row = self._arrivals.add_turn(session, values, status, text, redactions, self._row_of(values))
        self._count("turn", new=True)
        if status is Status.LIVE:
            changes.touch(session.id, row.ordinal)
            resolve_copy(changes, row, holders)
        return row

    def _again(self, changes: Changes, mine: TurnRow, values: Values) -> None:
        if mine.status is Status.FORGOTTEN:
            self._result.forgotten += values["status"] != "forgotten"
        elif values["status"] == "forgotten":
            self._result.kept += 1
        self._count("turn", new=False)
        if mine.open and mine.status is Status.LIVE and values["status"] == "live" and not values.get("open"):
            text, redactions = masked(values, redacting=self._committer.options.redact)
            self._arrivals.settle_turn(mine, values, text, redactions)
            if text_hash(text) != mine.text_hash:
                changes.touch(mine.session_id, mine.ordinal)

    # ------------------------------------------------------------ order

    def _order(self, changes: Changes, session: SessionRow, before: list[TurnRow], turns: Sequence[Values]) -> None:
        """The file's order, and in it what only this store has; then what each turn answers."""
        rows = self._writer.turns_of(session.id)
        by_key = {row.key: row for row in rows}
        wanted = [key for turn in turns if (key := bytes.fromhex(turn["key"])) in by_key]
        order = [by_key[key] for key in merge_order([row.key for row in before], wanted)]
        parents = self._parents(rows, before, turns)
        session.exchange, changed = renumber(self._writer, order)
        numbers = {row.key: number for number, row in enumerate(order, start=1)}
        for row in order:
            parent = numbers.get(parents.get(row.key, b""))
            if parent != row.branch_from:
                self._writer.set_branch(row.id, parent)
        if changed is not None:
            changes.touch(session.id, changed)

    @staticmethod
    def _parents(rows: list[TurnRow], before: list[TurnRow], turns: Sequence[Values]) -> dict[bytes, bytes]:
        """Key of a turn -> key of the turn it answers, where that is not the one before it."""
        known = {row.key for row in before}
        by_ordinal = {row.ordinal: row.key for row in rows}
        by_id = {event_id(row.key): row.key for row in rows}
        parents = {row.key: by_ordinal[row.branch_from] for row in before if row.branch_from in by_ordinal}
        for turn in turns:
            key, parent = bytes.fromhex(turn["key"]), by_id.get(turn.get("answers", ""))
            if parent is not None and key not in known:
                parents[key] = parent
        return parents
