"""Reading without a query: the last turns of a project, the surroundings of a turn, a whole session, the lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import tzinfo
from typing import Any

from agent_raw_rag.errors import NotFoundError
from agent_raw_rag.search.budget import Line, excerpt
from agent_raw_rag.search.expand import turn_ref
from agent_raw_rag.search.result import TurnRef
from agent_raw_rag.search.zone import shown
from agent_raw_rag.store.reader import Reader, Scope, SessionFacts
from agent_raw_rag.store.rows import SessionRow, ShownTurn

TURN_FRAME_TOKENS = 12


@dataclass
class SessionItem:
    """A session in a list. ``parent`` is the public id of the session it belongs to or was forked from."""

    session: str
    agent: str
    project: str | None
    cwd: str | None
    parent: str | None
    parent_kind: str | None
    branch: str | None
    title: str | None
    version: str | None
    started: str | None
    last: str | None
    turns: int
    source: str | None
    source_gone: bool
    resume: str | None = None
    kept: bool = False
    """No forgetting by filters takes it."""


@dataclass
class ReadTurn(TurnRef):
    """A turn with its text."""

    session: str
    agent: str
    text: str
    truncated: bool = False


@dataclass
class TurnsResult:
    """Turns in order, within a budget."""

    turns: list[ReadTurn]
    notes: list[str] = field(default_factory=list)
    session: SessionItem | None = None
    projects: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Browser:
    """The reading use cases over one open store."""

    reader: Reader
    zone: tzinfo

    def recent(self, scope: Scope, limit: int, budget: int) -> TurnsResult:
        """The last turns of a scope, oldest first; the newest are sure of their place in the budget."""
        turns = self.reader.recent(scope, limit)
        return self._fitted(turns, list(range(len(turns) - 1, -1, -1)), budget)

    def context(self, name: str, turn: int, before: int, after: int, budget: int, offset: int = 0) -> TurnsResult:
        """The turns around one, nearest first into the budget. ``offset`` characters of that turn are passed over.

        Raises:
            NotFoundError: the session or the turn does not exist.
        """
        session = self.reader.session(name)
        turns = self.reader.turns(session.id, turn - before, turn + after)
        place = next((n for n, one in enumerate(turns) if one.ordinal == turn), None)
        if place is None:
            raise NotFoundError(
                f"Session {session.public_id} has no turn {turn}.", hint=f"Its turns are 1 to {session.turns}."
            )
        if offset:
            whole = turns[place]
            whole.tokens = int(whole.tokens * max(0, len(whole.text) - offset) / max(1, len(whole.text)))
            whole.text = whole.text[offset:]
        order = sorted(range(len(turns)), key=lambda n: (abs(n - place), n))
        result = self._fitted(turns, order, budget)
        result.session = self.item(session)
        return result

    def whole(self, name: str) -> TurnsResult:
        """Every live turn of a session.

        Raises:
            NotFoundError: there is no such session.
        """
        session = self.reader.session(name)
        turns = [self._read(turn, session) for turn in self.reader.turns(session.id)]
        return TurnsResult(turns, session=self.item(session))

    def sessions(self, scope: Scope, limit: int) -> list[SessionItem]:
        """Sessions of a scope, the one last spoken in first."""
        return [self.listed(facts) for facts in self.reader.sessions(scope, limit)]

    def item(self, session: SessionRow) -> SessionItem:
        """One session as it is listed."""
        facts = self.reader.sessions(Scope(sessions=(session.id,), passing=True), 1)
        return self.listed(facts[0] if facts else SessionFacts(session, 0, None, False))

    def listed(self, facts: SessionFacts) -> SessionItem:
        """A session of a list."""
        row = facts.row
        parent, kind = row.parent, row.parent_kind
        if parent is None:
            parent = self.reader.fork_owner(row.id)
            kind = "fork" if parent else None
        return SessionItem(
            session=row.public_id, agent=row.agent, project=row.project, cwd=row.cwd,
            parent=f"{row.agent}:{parent}" if parent else None, parent_kind=kind, branch=row.branch, title=row.title,
            version=row.version, started=shown(row.started, self.zone), last=shown(row.last, self.zone),
            turns=facts.live_turns, source=facts.source_path, source_gone=facts.source_gone,
            kept=row.kept,
        )  # fmt: skip

    def _read(self, turn: ShownTurn, session: SessionRow) -> ReadTurn:
        return ReadTurn(
            **asdict(turn_ref(turn, self.zone)), session=session.public_id, agent=session.agent, text=turn.text
        )

    def _fitted(self, turns: Sequence[ShownTurn], order: Sequence[int], budget: int) -> TurnsResult:
        """``order``: places of the turns, the most wanted first."""
        sessions = self.reader.session_rows({turn.session_id for turn in turns})
        kept: dict[int, ReadTurn] = {}
        left = budget
        for place in order:
            if left < 2 * TURN_FRAME_TOKENS:
                break
            turn = self._read(turns[place], sessions[turns[place].session_id])
            fitted = excerpt(Line(turn.text, turns[place].tokens), max(left - TURN_FRAME_TOKENS, 1), 0.0)
            turn.truncated, turn.text = fitted.truncated, fitted.text
            left -= fitted.tokens + TURN_FRAME_TOKENS
            kept[place] = turn
        notes = (
            [f"{len(turns) - len(kept)} turns left out to keep within {budget} tokens."]
            if len(kept) < len(turns)
            else []
        )
        return TurnsResult([kept[place] for place in sorted(kept)], notes)
