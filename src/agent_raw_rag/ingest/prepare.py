"""Arrows 1 to 4 of a LINES source: bytes -> batches of clean turns that are ready to be stored.

A large stretch of log is prepared in a process of its own, so that reading and cleaning go on while the writer writes.
It talks over a pipe only, touches neither the store nor the terminal, and ends when the pipe does.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import Full, Queue
from threading import Event, Thread
from typing import Any

from agent_raw_rag.adapters.base import Adapter
from agent_raw_rag.adapters.registry import adapter as adapter_of
from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.ingest.fingerprint import stamp
from agent_raw_rag.ingest.reading import Batch, Cursor, Mark, read_batches
from agent_raw_rag.models import BadRecord, CleanTurn, SessionInfo, Source, Tokenizer
from agent_raw_rag.sanitize import Options, clean, redact
from agent_raw_rag.sources.lines import read_lines
from agent_raw_rag.store.sources import CursorRow

AHEAD_BYTES = 24 << 20
"""Less than this is prepared in place: starting a process costs 0.3 s."""
WAITING_BATCHES = 2
"""So many prepared batches may wait for the writer; bounds memory."""


@dataclass(slots=True)
class Prepared:
    """What one transaction stores of one source: a batch, cleaned, with the cursor it leads to."""

    turns: list[CleanTurn]
    infos: dict[str, SessionInfo]
    marks: list[Mark]
    bad: list[BadRecord]
    tally: dict[str, int]
    cursor: CursorRow
    whole: bool = False


Waiting = Queue[Prepared | OSError | None]
"""Batches between the pipe and the writer; None is the end."""


def prepared(batch: Batch, cursor: CursorRow, tokens: Tokenizer, options: Options) -> Prepared:
    """A batch, cleaned."""
    turns = [one for turn in batch.turns if (one := clean(turn, tokens, options)) is not None]
    return Prepared(turns, batch.infos, batch.marks, batch.bad, dict(batch.tally), cursor, batch.whole)


def prepare_lines(
    adapter: Adapter, source: Source, cursor: Cursor, tokens: Tokenizer, options: Options
) -> Iterator[Prepared]:
    """The rest of a source behind its cursor."""
    for batch in read_batches(adapter, read_lines(source.path, cursor.offset), cursor):
        end = batch.cursor
        state = _masked(end.state) if options.redact else end.state
        row = CursorRow(stamp(source.path, batch.end), end.offset, end.done, state, end.tally)
        yield prepared(batch, row, tokens, options)


def _masked(state: Any) -> Any:
    """What an adapter remembers, without secrets: it is stored with the cursor."""
    if isinstance(state, str):
        return redact(state)[0]
    if isinstance(state, list | tuple):
        return [_masked(one) for one in state]
    if isinstance(state, dict):
        return {name: _masked(one) for name, one in state.items()}
    return state


def prepare_ahead(source: Source, cursor: Cursor, options: Options) -> Iterator[Prepared]:
    """The same from a process of its own, a few batches ahead of whoever stores them.

    Raises:
        OSError: the file cannot be opened or read, or the process died.
    """
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    worker = spawn.Process(target=_work, args=(theirs, source, cursor, options), daemon=True)
    worker.start()
    theirs.close()
    waiting: Waiting = Queue(WAITING_BATCHES)
    stopped = Event()
    receiver = Thread(target=_receive, args=(ours, waiting, stopped), name="prepared", daemon=True)
    receiver.start()
    try:
        while (found := waiting.get()) is not None:
            if isinstance(found, OSError):
                raise found
            yield found
    finally:
        stopped.set()
        worker.terminate()  # it has ended, or nobody wants the rest; it holds nothing that could be left half done
        worker.join()
        receiver.join()
        ours.close()


def _receive(pipe: Connection[Any, Any], waiting: Waiting, stopped: Event) -> None:
    """Take prepared batches off the pipe, so that the other process never waits for a commit, only for a full queue."""
    found: Prepared | OSError | None
    while not stopped.is_set():
        try:
            found = pipe.recv()
        except (EOFError, OSError):
            found = OSError("The process that reads ahead died.")
        while not stopped.is_set():
            try:
                waiting.put(found, timeout=0.1)
                break
            except Full:
                continue
        if not isinstance(found, Prepared):
            return


def _work(pipe: Connection[Any, Any], source: Source, cursor: Cursor, options: Options) -> None:
    """The other process: sends batches, then None, or the error that ended it."""
    _leave_the_terminal()
    try:
        for found in prepare_lines(adapter_of(source.agent), source, cursor, tokenizer(), options):
            pipe.send(found)
        pipe.send(None)
    except OSError as error:
        with suppress(BrokenPipeError, ConnectionResetError):  # the writer has stopped
            pipe.send(error)


def _leave_the_terminal() -> None:
    """Standard input and output may be a protocol's; hold neither open."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
