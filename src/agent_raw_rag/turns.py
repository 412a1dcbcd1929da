"""Arrow 3: events -> turns. Pure and agent-neutral; knows which turns are open and which are settled.

A user (task, summary) message is a turn. An assistant turn is what the assistant says and the action lines that
follow, until it speaks again or somebody else does.

A turn is *settled* when nothing that can follow in the log changes it: its session has gone on to the next turn and all
its calls are answered, or ``SETTLE_LAG`` turns of the source have started since. Both depend on the order of
the records only, never on where a read began or ended; that is what makes reading in pieces equal to reading whole:
``resume_point`` is the first record of the oldest turn that is not settled, and feeding everything from there again
gives the same turns. Where sessions interleave in one source, some parts behind that point belong to turns that are
settled; ``Done`` says up to where each session's parts are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from agent_raw_rag.models import (
    Action,
    Image,
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Trail,
    Turn,
)

SETTLE_LAG = 16
"""A call that is never answered (the agent was killed) may hold the cursor back by this many turns of its session, not for
ever."""
SOURCE_LAG = 32
"""The same in turns of all sessions of the source: a sub-agent that is done says nothing more to tell."""

State = TypeVar("State")
Place = tuple[int, int]
"""Of a part: (first byte of its record, number of the part in the record, 1-based)."""
Done = dict[str, Place]
"""Session -> place of the last part that belongs to a settled turn."""


class _Open(Generic[State]):
    """A turn that may still change, and where reading has to begin to see it again."""

    __slots__ = ("last", "pending", "replaced", "state", "turn")

    def __init__(self, turn: Turn, state: State, last: Place) -> None:
        self.turn = turn
        self.state = state
        self.last = last
        self.pending: list[Action] = []
        self.replaced = False

    @property
    def complete(self) -> bool:
        return self.replaced and not self.pending


class Assembler(Generic[State]):
    """Collects the events of one source, in order, into turns.

    ``State`` is whatever the reader must restore to read again from a turn's first record; it is handed back
    untouched by ``resume_point``.
    """

    def __init__(self, done: Done | None = None) -> None:
        self._open: list[_Open[State]] = []
        self._current: dict[str, _Open[State]] = {}
        self._settled: list[Turn] = []
        self._before: Done = dict(done or {})
        self._done: Done = dict(self._before)
        self._record = -1
        self._part = 0

    def feed(self, event: Message | Trail, session: str, start: int, end: int, state: State) -> None:
        """Take one event of the record that spans ``start``..``end``; ``state`` is the reader's before that record."""
        if start != self._record:
            self._record, self._part = start, 0
        if isinstance(event, Trail):
            current = self._current.get(session)
            if current is not None:
                current.turn.trail.append(event.record_id)
            return
        if event.role is Role.ASSISTANT:
            self._assistant(event, session, start, end, state)
        else:
            self._words(event, session, start, end, state)
        self._settle()

    def current_key(self, session: str) -> str | None:
        """Key of the session's last turn, while it is open."""
        current = self._current.get(session)
        return current.turn.key if current is not None else None

    def take_settled(self) -> list[Turn]:
        """The turns settled since the last call, oldest first; they are forgotten here."""
        settled, self._settled = self._settled, []
        return settled

    def open_turns(self) -> Iterator[Turn]:
        """The turns that may still change, oldest first."""
        return (opened.turn for opened in self._open)

    def resume_point(self) -> tuple[int, State, Done] | None:
        """Where to read again to see the oldest open turn: its first byte, the reader's state there, and what behind that
        point is settled already. None: nothing is open."""
        if not self._open:
            return None
        start = self._open[0].turn.start
        return start, self._open[0].state, self.done_from(start)

    def done_from(self, start: int) -> Done:
        """What from this byte on is settled already."""
        return {session: place for session, place in self._done.items() if place[0] >= start}

    # ------------------------------------------------------------ steps

    def _is_done(self, session: str) -> bool:
        """Count one part of the current record; True if it belongs to a turn that was settled before this read began."""
        self._part += 1
        done = self._before.get(session)
        return done is not None and (self._record, self._part) <= done

    def _words(self, message: Message, session: str, start: int, end: int, state: State) -> None:
        items = [part for part in message.parts if isinstance(part, Text | Thinking | Image)]
        if items and not self._is_done(session):
            self._begin(message, 0, session, start, end, state).turn.items.extend(items)

    def _begin(self, message: Message, part: int, session: str, start: int, end: int, state: State) -> _Open[State]:
        before = self._current.get(session)
        if before is not None:
            before.replaced = True
        turn = Turn(
            session=session,
            role=message.role,
            key=f"{message.key}/{part}" if part else message.key,
            time=message.time,
            items=[],
            record_ids=[message.record_id] if message.record_id else [],
            start=start,
            end=end,
            trail=[message.record_id] if message.record_id else [],
            group=message.group,
            branch_from=message.branch_from,
        )
        opened = _Open(turn, state, (self._record, self._part))
        self._open.append(opened)
        self._current[session] = opened
        return opened

    def _assistant(self, message: Message, session: str, start: int, end: int, state: State) -> None:
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                self._answer(part, message, session, end)
                continue
            if self._is_done(session):
                continue
            opened = self._current.get(session)
            if opened is None or not self._continues(opened.turn, part, message.group):
                opened = self._begin(message, number, session, start, end, state)
            self._extend(opened, part, message, end)
            opened.last = (self._record, self._part)

    @staticmethod
    def _continues(turn: Turn, part: Text | Thinking | Image | ToolCall, group: str | None) -> bool:
        if turn.role is not Role.ASSISTANT:
            return False
        if isinstance(part, ToolCall):
            return True
        if any(isinstance(item, Action) for item in turn.items):
            return False
        return (group is not None and group == turn.group) or not any(isinstance(item, Text) for item in turn.items)

    @staticmethod
    def _extend(opened: _Open[State], part: Text | Thinking | Image | ToolCall, message: Message, end: int) -> None:
        turn = opened.turn
        if isinstance(part, ToolCall):
            action = Action(part)
            turn.items.append(action)
            opened.pending.append(action)
        else:
            turn.items.append(part)
            turn.group = message.group
        _touch(turn, message.record_id, end)

    def _answer(self, result: ToolResult, message: Message, session: str, end: int) -> None:
        """Give a result to its call: the nearest one before it of this id, or the oldest open one where the log has no ids.

        Only the nearest counts, answered or not: an earlier call of the same id may be settled and out of sight.
        """
        mine = [opened for opened in self._open if opened.turn.session == session]
        if result.call_id is None:
            found = next(((opened, action) for opened in mine for action in opened.pending), None)
        else:
            found = next(
                (
                    (opened, item)
                    for opened in reversed(mine)
                    for item in reversed(opened.turn.items)
                    if isinstance(item, Action) and item.call.call_id == result.call_id
                ),
                None,
            )
        if found is not None and found[1].result is None:
            opened, action = found
            action.result = result
            opened.pending.remove(action)
            _touch(opened.turn, message.record_id, end)

    def _settle(self) -> None:
        # Turns settle in order: the cursor can only stand before the oldest that is still open.
        while self._open and (self._open[0].complete or self._overdue()):
            opened = self._open.pop(0)
            opened.turn.settled = True
            self._settled.append(opened.turn)
            self._done[opened.turn.session] = opened.last
            if self._current.get(opened.turn.session) is opened:
                del self._current[opened.turn.session]

    def _overdue(self) -> bool:
        if len(self._open) <= SETTLE_LAG:
            return False
        oldest = self._open[0].turn.session
        return len(self._open) > SOURCE_LAG or sum(one.turn.session == oldest for one in self._open) > SETTLE_LAG


def _touch(turn: Turn, record_id: str | None, end: int) -> None:
    turn.end = max(turn.end, end)
    if record_id and (not turn.record_ids or turn.record_ids[-1] != record_id):
        turn.record_ids.append(record_id)
        turn.trail.append(record_id)
