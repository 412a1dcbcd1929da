"""The memory of one space, as the hosts use it: what is captured, kept, proposed and written down about it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from agent_raw_rag.store.homes import file_number

if TYPE_CHECKING:
    from agent_raw_rag.memory.base import SpaceStore
    from agent_raw_rag.memory.finding import Finding
    from agent_raw_rag.memory.journal import JournalView
    from agent_raw_rag.memory.keeping import Keeping
    from agent_raw_rag.memory.note_index import NoteIndex
    from agent_raw_rag.memory.notes import Notes
    from agent_raw_rag.memory.passing import Passing
    from agent_raw_rag.memory.promotion import Promotion
    from agent_raw_rag.memory.raw import RawMemory
    from agent_raw_rag.memory.recall import Scorer
    from agent_raw_rag.memory.results import RawFound
    from agent_raw_rag.models import Actor, Millis
    from agent_raw_rag.runtime.backlogs import Feeding
    from agent_raw_rag.runtime.parts import Parts
    from agent_raw_rag.store.connection import Connection


@dataclass
class Memory:
    """The memory of one space. Safe to use from several threads. Each part is made at first use and holds no state of its own."""

    parts: Parts
    _local: threading.local = field(default_factory=threading.local, repr=False)
    _making: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _index: NoteIndex | None = field(default=None, repr=False)
    """The notes' words, which all threads share."""
    _ready: int = field(default=0, repr=False)
    """The store's file that is known to have this version's schema."""

    @cached_property
    def store(self) -> SpaceStore:
        """What every part stands on."""
        from agent_raw_rag.memory.base import SpaceStore

        return SpaceStore(
            space=self.parts.space, home=self.parts.home, read=lambda: self.parts.reader, write=self._write,
            exists=self._exists, now=lambda: time.time_ns() // 1_000_000,
        )  # fmt: skip

    @property
    def include_raw(self) -> bool:
        """Whether raw turns are recalled where a caller does not say."""
        return self.parts.settings.memory.include_raw

    def instant(self, told: str) -> Millis:
        """The instant that somebody names: a date, a time, words; see ``search.dates``. Raises UsageError."""
        from agent_raw_rag.search.dates import instant

        return instant(told, now=datetime.now(self.parts.zone), upper=False)

    @cached_property
    def raw(self) -> RawMemory:
        """What was said and what happened, word for word: capturing and searching it."""
        from agent_raw_rag.memory.raw import RawMemory
        from agent_raw_rag.search.words import Words

        parts = self.parts
        return RawMemory(
            self.store,
            lambda: parts.tokenizer,
            parts.ingest_options,
            Words(parts.home),
            parts.zone,
            after=self._then_sweep(self.feeding),
        )

    @cached_property
    def keeping(self) -> Keeping:
        """Which sessions no forgetting by filters takes."""
        from agent_raw_rag.memory.keeping import Keeping

        return Keeping(self.store)

    @cached_property
    def passing(self) -> Passing:
        """The end of sessions that are there for their own history only."""
        from agent_raw_rag.memory.passing import Passing

        return Passing(self.store)

    def end_session(self, door: str, native: str, actor: Actor) -> bool:
        """A conversation is over: see ``Passing.end``. Whether anything was forgotten."""
        return self.passing.end(door, native, actor)

    def end_idle_sessions(self, actor: Actor) -> int:
        """End the passing sessions that were silent for ``capture.session_idle_seconds`` and that nobody holds; how many."""
        return self.passing.end_idle(self.parts.settings.capture.session_idle_seconds, actor)

    @contextmanager
    def live_session(self, native: str, door: str = "chat") -> Iterator[None]:
        """Hold a session for the time of a block, in any number of processes: meanwhile no other one ends it."""
        from agent_raw_rag.store.presence import live, present

        with present(self.parts.home, live(door, native)):
            yield

    @cached_property
    def feeding(self) -> Feeding:
        """What brings the lexical index up while this process captures."""
        from agent_raw_rag.runtime.backlogs import Feeding

        return Feeding(self.parts)

    @cached_property
    def notes(self) -> Notes:
        """What is kept on purpose: rules, facts, decisions; and recalling it."""
        from agent_raw_rag.memory.notes import Notes
        from agent_raw_rag.memory.recall import Recall, RecallOptions
        from agent_raw_rag.memory.taken import Taker

        settings = self.parts.settings.memory
        recalling = Recall(
            self.store, RecallOptions(settings.near_duplicate, settings.budget_tokens), raw=self._raw_turns,
            count=lambda text: len(self.parts.tokenizer.encode(text)),
            reranker=self._scorer if settings.rerank else lambda: None, index=self._note_index(),
        )  # fmt: skip
        return Notes(self.store, recalling, Taker(redacting=self.parts.settings.sanitize.redact))

    @cached_property
    def promotion(self) -> Promotion:
        """From raw turns to notes: sweep, proposals, candidates, decisions."""
        from agent_raw_rag.memory.promotion import Promotion
        from agent_raw_rag.memory.sweep import Sweep
        from agent_raw_rag.memory.taken import Taker
        from agent_raw_rag.memory.triggers import Triggers

        settings = self.parts.settings
        take = Taker(redacting=settings.sanitize.redact)
        return Promotion(
            self.store, Sweep(self.store, lambda: Triggers.load(settings.home), settings.promotion.auto_promote, take)
        )

    @cached_property
    def finding(self) -> Finding:
        """Notes and raw turns in one list."""
        from agent_raw_rag.memory.finding import Finding

        return Finding(self.store, self._note_index(), lambda asked: self.raw.weighed(asked))

    @property
    def sweep_interval(self) -> float:
        """Seconds between two sweeps."""
        return self.parts.settings.promotion.interval_seconds

    def _then_sweep(self, feed: Callable[[int], None]) -> Callable[[int], None]:
        """What follows a capture: its words and, if so configured, the sweep. What was captured stays, whatever happens here."""

        def follow(chunks: int) -> None:
            feed(chunks)
            if self.parts.settings.promotion.on_capture:
                from agent_raw_rag.runtime.sweeping import sweep_now

                sweep_now(self)

        return follow

    @cached_property
    def journal(self) -> JournalView:
        """Who did what."""
        from agent_raw_rag.memory.journal import JournalView

        return JournalView(self.store, self.parts.zone)

    def _note_index(self) -> NoteIndex:
        from agent_raw_rag.memory.note_index import NoteIndex

        with self._making:  # a cached property has no lock since 3.12, and two threads would each read all notes
            self._index = self._index or NoteIndex()
            return self._index

    def _raw_turns(self, query: str, limit: int, exclude_session: str | None) -> RawFound:
        from agent_raw_rag.memory.raw_search import RawQuery

        return self.raw.search(RawQuery(query, limit, exclude_session=exclude_session))

    def _scorer(self) -> Scorer | None:
        """The reranker of the settings, if it reads a text by itself: late interaction needs the vectors of chunks."""
        from agent_raw_rag.memory.recall import Scorer

        made = self.parts.reranker()
        return made if isinstance(made, Scorer) else None

    def _exists(self) -> bool:
        """Whether there is a store. One that another process is just making, or that is of an older version, is made ready."""
        number = file_number(self.parts.settings.store_path())
        if number and number != self._ready:
            self._connection()
            self._ready = number
        return bool(number)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        from agent_raw_rag.store.durable import durable_transaction

        with durable_transaction(self._connection()) as connection:
            yield connection

    def _connection(self) -> Connection:
        """This thread's durable connection, made anew where another file took the store's place: a backup was put back."""
        from agent_raw_rag.store.durable import connect_durable

        path = self.parts.settings.store_path()
        kept: tuple[int, Connection] | None = getattr(self._local, "kept", None)
        if kept is None or kept[0] != file_number(path):
            connection = connect_durable(path)
            kept = (file_number(path), connection)
            self._local.kept = kept
        return kept[1]
