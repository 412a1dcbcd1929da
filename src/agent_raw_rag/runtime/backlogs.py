"""The backlogs of every space: captured turns leave words to index and vectors to make, wherever they were captured."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_raw_rag.errors import RawRagError, StoreBusyError
from agent_raw_rag.log import NAME
from agent_raw_rag.store.homes import DEFAULT_SPACE, spaces_with_store

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import IngestReport, Note
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.runtime.parts import Parts

FEED_EVERY = 64
"""Chunks that one process captures between two looks at the index. A search scans what is not in it yet."""


def feed_words(parts: Parts, least: int = 1) -> bool:
    """Bring the lexical index of a space up, if at least ``least`` chunks came or went. Whether it was done, or need not be:
    whoever holds the writer's lock does it, and nobody waits."""
    from agent_raw_rag.ingest.run import IngestRun
    from agent_raw_rag.store.connection import connect
    from agent_raw_rag.store.lock import WRITER, lock

    try:
        with (
            lock(parts.home, WRITER, wait_seconds=0, purpose="index"),
            closing(connect(parts.settings.store_path(), write=True)) as connection,
        ):
            IngestRun(connection, parts.home, parts.tokenizer, parts.ingest_options).settle(least)
    except StoreBusyError:
        return False
    return True


def other_rooms(root: Runtime) -> Iterator[Runtime]:
    """The spaces that have a store, besides the default one."""
    for slug in spaces_with_store(root.settings.store_path()):
        if slug != DEFAULT_SPACE:
            yield root.in_space(slug)


def keep_up(root: Runtime, report: IngestReport, on_note: Callable[[Note], None], *, embed: bool = True) -> None:
    """Work off what the other spaces still lack; ``report`` counts it in. What one space refuses holds up no other."""
    for room in other_rooms(root):
        one = type(report)({}, embedded=0, backlog=0, seconds=0.0)
        try:
            feed_words(room)
            if embed:
                room.spaces.embed(one, on_note)
            else:
                one.backlog = room.spaces.backlog()
        except RawRagError as error:
            one.notes.append(str(error))
        report.embedded += one.embedded
        report.backlog += max(one.backlog, 0)
        report.encoder_problem = report.encoder_problem or one.encoder_problem
        report.notes += [f"space {room.space}: {note}" for note in one.notes]


@dataclass
class Feeding:
    """Counts what this process captures into one space, and brings the index up now and then, in a thread: a capture never
    waits for that. Safe to use from several threads."""

    parts: Parts
    _since: int = FEED_EVERY - 1
    """So that a process that captures once looks, too."""
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __call__(self, chunks: int) -> None:
        """So many chunks were made."""
        with self._lock:
            self._since += chunks
            if self._since < FEED_EVERY or (self._thread is not None and self._thread.is_alive()):
                return
            self._since = 0
            self._thread = threading.Thread(target=self._feed, name="feeding", daemon=True)
            self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """For what is being done: a process that ends would cut it off."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _feed(self) -> None:
        try:
            feed_words(self.parts, FEED_EVERY)
        except Exception as error:
            logging.getLogger(NAME).warning("the lexical index was not brought up: %s", error)
