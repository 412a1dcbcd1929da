"""The raw layer of one space: telling it what was said and what happened, and finding that again, word for word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.ingest.captured import EMPTY, FOR_GOOD, FORGOTTEN, Capturing, Stored
from agent_raw_rag.ingest.run import IngestOptions
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.echo import without_echoes
from agent_raw_rag.memory.raw_search import RawQuery, RawSearch, Weighed
from agent_raw_rag.memory.results import Captured, RawFound
from agent_raw_rag.models import Actor, Capture, Millis, Tokenizer
from agent_raw_rag.search.words import Words
from agent_raw_rag.store.captured import CapturedRows, EventRow
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.rows import text_hash

MOST_CONTENT = 2_000_000
"""Characters of one capture."""
LONGEST_LABEL = 200
ECHO = "recall_echo"
PASSES = "It is for its session alone: no search finds it, and it is forgotten when the session ends."
AGAIN = "It was recorded before; event_id is the first one's."
_WHY_NOT = {
    ECHO: "Nothing was recorded: the content is only what was recalled from here.",
    EMPTY: "Nothing was recorded: nothing of the content can be stored.",
    FOR_GOOD: "Nothing was recorded: this is to pass, and its session is stored for good. Give it a session of its own.",
    FORGOTTEN: "Nothing was recorded: this was forgotten on demand, and stays so.",
}


@dataclass(frozen=True)
class RawMemory:
    """The raw layer of one space. Safe to use from several threads."""

    store: SpaceStore
    tokenizer: Callable[[], Tokenizer]
    options: IngestOptions
    words: Words
    """The space's lexical index."""
    zone: tzinfo
    after: Callable[[int], None] = lambda chunks: None
    """Called after captures with the number of chunks they made, outside the transaction."""
    inside: Callable[[Connection, Sequence[Stored], Actor], None] = lambda connection, stored, actor: None
    """Called in the transaction of captures, with what is new: for what is to be stored together with it."""

    def capture(self, capture: Capture, actor: Actor) -> Captured:
        """Store one turn for good: when this returns, it is on the disk and found by ``search``. Sent again, it is the same turn.

        Raises:
            BadArgumentError: blank or too long content, source or names. Nothing was written.
            StoreError: it could not be written.
        """
        return self.capture_all([capture], actor)[0]

    def capture_all(self, captures: Sequence[Capture], actor: Actor) -> list[Captured]:
        """Store several turns, all or none, in their order. Raises as ``capture``."""
        for one in captures:
            _check(one)
        told = [replace(one, content=without_echoes(one.content)) for one in captures]
        kept = [one for one in told if one.content.strip()]
        stored = iter(self._stored(kept, actor) if kept else [])
        return [_answer(next(stored)) if one.content.strip() else _echoed(one) for one in told]

    def search(self, query: RawQuery) -> RawFound:
        """The turns that hold the query's words, from logs and doors, the ones just captured too.

        Raises:
            BadArgumentError: too long a query, an empty range.
            UsageError: a date that is none.
            StoreError: the store cannot be read.
        """
        return RawFound([one.event for one in self.weighed(query)])

    def weighed(self, query: RawQuery) -> list[Weighed]:
        """As ``search``, with what speaks for each turn."""
        if not self.store.exists():
            return []
        return RawSearch(self.store.read(), self.words, self.zone).weighed(query)

    def event(self, event: str) -> EventRow:
        """A live turn, from a log or a door, by its event id. Raises NotFoundError."""
        return CapturedRows(self.store.read().connection).event(event)

    def _stored(self, captures: Sequence[Capture], actor: Actor) -> list[Stored]:
        tokenizer = self.tokenizer()  # loaded before the lock is taken
        now = self.store.now()
        with self.store.write() as connection:
            capturing = Capturing(connection, tokenizer, self.options, now)
            stored = capturing.store(captures)
            new = [one for one in stored if one.new]
            for one in new:
                _write_down(connection, one, actor, now)
            self.inside(connection, new, actor)
        self.after(capturing.new_chunks)
        return stored


def _write_down(connection: Connection, one: Stored, actor: Actor, now: Millis) -> None:
    Journal(connection).add(
        actor, "capture", time=now, target=one.event, source=one.source, after=text_hash(one.text),
        detail={"session": one.session},
    )  # fmt: skip


def _answer(one: Stored) -> Captured:
    if one.skipped is not None:
        return Captured(None, one.source, one.session, False, note=_WHY_NOT[one.skipped], skipped=one.skipped)
    if one.new:
        if one.passing:
            return Captured(one.event, one.source, one.session, True, note=PASSES)
        return Captured(one.event, one.source, one.session, True)
    return Captured(one.event, one.source, one.session, True, duplicate=True, note=AGAIN)


def _echoed(one: Capture) -> Captured:
    session = one.session or f"ext:{one.source.strip()}"
    return Captured(None, one.source.strip(), session, False, note=_WHY_NOT[ECHO], skipped=ECHO)


def _check(one: Capture) -> None:
    if not one.content.strip():
        raise BadArgumentError("The content is blank.", hint="Give what was said or what happened.")
    if len(one.content) > MOST_CONTENT:
        raise BadArgumentError(
            f"The content has {len(one.content):,} characters.", hint=f"At most {MOST_CONTENT:,} are taken at once."
        )
    if not one.source.strip():
        raise BadArgumentError("The source is blank.", hint="Say who tells it: an agent, a person, a program.")
    if one.kept and one.passing:
        raise BadArgumentError("It is to be kept and to pass.", hint="Say one of the two, or neither.")
    named = {"source": one.source, "session": one.session, "host_turn_id": one.host_turn_id, "author": one.author}
    for name, value in named.items():
        if value is not None and len(value) > LONGEST_LABEL:
            raise BadArgumentError(
                f"The {name} has {len(value):,} characters.", hint=f"At most {LONGEST_LABEL} are taken: it is a name."
            )
