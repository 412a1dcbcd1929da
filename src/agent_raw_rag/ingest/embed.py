"""Arrow 7: chunks without a vector -> vectors. A durable backlog in the store, in chunk order, across all agents.

Each slice is one transaction: killed at any moment, the next run goes on with the rest. A text that has a vector
in the space already costs nothing, whatever chunk it stands in. The model works outside the writer's lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from agent_raw_rag.encode.base import Encoder, checked_vectors
from agent_raw_rag.encode.half import no_vector, to_half
from agent_raw_rag.errors import ModelError, TextRefusedError
from agent_raw_rag.ingest.feed_vectors import cached_up_to, feed_cache
from agent_raw_rag.store.connection import Connection, transaction
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.vectors import Missing, Vectors

SLICE = 64
"""Texts that are encoded and stored together."""
FEED_EVERY_SLICES = 32
PROBE = "A text that any model takes."
"""Encoded when a text is refused: a model that refuses this one too is set up wrongly, and the text is not to blame."""

Gate = Callable[[], AbstractContextManager[None]]
"""What is held while the store or a cache is written: the writer's lock."""
Rest = Callable[[float], None]
"""Called after each slice with the seconds it took."""


class Embedded(NamedTuple):
    """What came of a backlog."""

    encoded: int
    """Texts."""
    backlog: int
    """Chunks still without a vector; -1: not counted."""
    problem: str | None
    """Why it did not go on. None: all is well."""
    refused: tuple[str, ...] = ()
    """What was said of texts that the model will not take. They are found by words."""


def embed_backlog(
    connection: Connection, home: str, encoder: Callable[[], Encoder | None],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    *, gate: Gate = nullcontext, rest: Rest = lambda seconds: None, slice_chunks: int = SLICE,
) -> Embedded:  # fmt: skip
    """Encode what has no vector yet, and bring the vector cache up."""
    try:
        model = encoder()
        if model is None:
            return Embedded(0, 0, None)
        space = model.space
    except ModelError as error:
        return Embedded(0, -1, str(error))
    work = _Work(connection, home, model, Vectors(connection, space.name), gate, rest, slice_chunks)
    with gate():  # what a killed run has made is not searched yet
        feed_cache(connection, home, space.name, space.dim)
    reached = cached_up_to(connection, home, space.name, space.dim)
    missing = work.vectors.missing(reached)
    try:
        problem = work.encode(reached, missing, on_progress) if missing else None
    finally:  # whoever is told of progress may end it
        with gate():
            feed_cache(connection, home, space.name, space.dim)
    return Embedded(work.encoded, work.vectors.missing(reached) if missing else 0, problem, tuple(work.refused))


class _Work:
    """One backlog being worked off."""

    def __init__(
        self, connection: Connection, home: str, model: Encoder, vectors: Vectors, gate: Gate, rest: Rest,
        slice_chunks: int,
    ) -> None:  # fmt: skip
        self.connection = connection
        self.home = home
        self.model = model
        self.vectors = vectors
        self.gate = gate
        self.rest = rest
        self.slice_chunks = slice_chunks
        self.encoded = 0
        self.refused: list[str] = []

    def encode(self, after: int, missing: int, on_progress: Callable[[int, int], None]) -> str | None:
        """All slices behind chunk ``after``; why it ended early, if it did."""
        done = slices = 0
        last = Reader(self.connection).last_chunk()  # what others capture meanwhile waits: they may never pause
        while after < last and (batch := self.vectors.backlog(after, self.slice_chunks)):
            began = time.monotonic()
            try:
                self._slice(batch)
            except ModelError as error:
                return str(error)
            done, after, slices = done + len(batch), batch[-1].chunk_id, slices + 1
            on_progress(min(done, missing), missing)
            if slices % FEED_EVERY_SLICES == 0:
                with self.gate():
                    feed_cache(self.connection, self.home, self.model.space.name, self.model.space.dim)
            self.rest(time.monotonic() - began)
        return None

    def _slice(self, batch: Sequence[Missing]) -> None:
        texts = {one.hash: one.text for one in batch}
        rows = self._rows(list(texts.values()))
        with self.gate(), transaction(self.connection):
            self.vectors.put(list(zip(texts, rows, strict=True)))
        self.encoded += len(texts)

    def _rows(self, texts: list[str]) -> list[bytes]:
        """Vectors as they are stored. A text that the model will never take gets zeros, so that nothing waits for it for ever."""
        space = self.model.space
        try:
            return to_half(checked_vectors(self.model.encode_passages(texts), len(texts), space))
        except TextRefusedError as error:
            if len(texts) > 1:
                return [row for text in texts for row in self._rows([text])]
            self._takes_texts()
            self.refused.append(str(error))
            return [no_vector(space.dim)]

    def _takes_texts(self) -> None:
        """Raise ModelError if the model takes no text at all: zeros in place of everything would count as a full space."""
        try:
            self.model.encode_passages([PROBE])
        except TextRefusedError as error:
            raise ModelError(
                f"The model of {self.model.space.name} takes no text: {error.message}", hint=error.hint
            ) from error
