"""Vectors in the space of the configured model, and in the one that is searched until that is complete.

Changing the model leaves the index as it is: the new space fills beside the old one, and takes its place when every chunk has
a vector. Until then new chunks go into both. The old space stays, to be gone back to or dropped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_raw_rag.derived import cache_files
from agent_raw_rag.encode.base import Discovers, Encoder
from agent_raw_rag.encode.choice import Choice
from agent_raw_rag.errors import ModelError, NotFoundError, UsageError
from agent_raw_rag.ingest.embed import SLICE, Embedded, Gate, embed_backlog
from agent_raw_rag.store.connection import Connection, transaction
from agent_raw_rag.store.spaces import SpaceRow, Spaces


@dataclass
class Embedding:
    """One run over all spaces that need vectors."""

    connection: Connection
    home: str
    made: Callable[[Choice], Encoder]
    """The encoder of a choice. Raises ModelError."""
    gate: Gate
    on_progress: Callable[[int, int], None] = lambda done, total: None
    refill_share: float = 1.0
    """Of the time, spent on a space that is not searched yet."""
    pause: Callable[[float], None] = time.sleep
    slice_chunks: int = SLICE
    """Chunks that are embedded and stored at once."""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spaces = Spaces(self.connection)

    def run(self, choice: Choice) -> Embedded:
        """Bring the space that is searched up, then the configured one, and switch to that when it is complete."""
        try:
            target = self._registered(choice)
        except ModelError as error:
            kept = self._keep_up(self.spaces.active())
            return Embedded(kept.encoded, -1, str(error))
        active = self.spaces.active()
        if active is None or active.name == target:
            return self._embed(lambda: self.made(choice), filling=False)
        kept = self._keep_up(active)
        filled = self._embed(lambda: self.made(choice), filling=True)
        if filled.problem is None and filled.backlog == 0:
            self._switch(active.name, target)
        elif not self.spaces.vectors(target):
            self._unregister(target)
        return Embedded(kept.encoded + filled.encoded, filled.backlog, filled.problem)

    def _registered(self, choice: Choice) -> str:
        """The name of a choice's space, known to the store. The first space of a store is searched at once."""
        encoder = self.made(choice)
        space = encoder.discover() if isinstance(encoder, Discovers) else encoder.space
        row = SpaceRow(
            space.name, space.model, space.revision, space.dim, space.instruction, choice.kind, choice.options
        )
        if self.spaces.row(row.name) != row or self.spaces.active_name() is None:
            with self.gate(), transaction(self.connection):
                self.spaces.register(row)
                if self.spaces.active_name() is None:
                    self.spaces.activate(row.name)
        return row.name

    def _keep_up(self, active: SpaceRow | None) -> Embedded:
        """New chunks into the space that is searched. It may be there no more: words find them all the same."""
        if active is None:
            return Embedded(0, 0, None)
        done = self._embed(lambda: self._maker_of(active), filling=False)
        if done.problem is not None:
            self.notes.append(f"New chunks get no vector in {active.name}, which is searched: {done.problem}")
        return done

    def _maker_of(self, space: SpaceRow) -> Encoder:
        """The encoder that made a space.

        Raises:
            ModelError: it cannot be made, or another model is there by now, whose vectors belong elsewhere.
        """
        encoder = self.made(Choice(space.kind, space.options))
        if encoder.space.name != space.name:
            raise ModelError(f"{encoder.space.model} is there now, and did not make it.")
        return encoder

    def _embed(self, made: Callable[[], Encoder], *, filling: bool) -> Embedded:
        share = self.refill_share if filling else 1.0
        done = embed_backlog(
            self.connection, self.home, made, self.on_progress, gate=self.gate,
            rest=lambda seconds: self.pause(seconds * (1 / share - 1)) if share < 1 else None,
            slice_chunks=self.slice_chunks,
        )  # fmt: skip
        if done.refused:
            self.notes.append(f"{len(done.refused)} texts are found by words only: {done.refused[0]}")
        return done

    def _unregister(self, name: str) -> None:
        """An encoder that never made a vector leaves no space behind."""
        with self.gate(), transaction(self.connection):
            self.spaces.drop_some(name)

    def _switch(self, old: str, new: str) -> None:
        with self.gate(), transaction(self.connection):
            self.spaces.activate(new)
        self.notes.append(f"{new} is complete and searched from now on. `raw-rag spaces drop {old}` frees the old one.")


def drop_space(connection: Connection, home: str, name: str) -> None:
    """Delete a space, its cache and its vectors. The caller holds both locks.

    The cache goes first: what it holds is never made again, so it may not outlive the vectors if this is killed halfway.

    Raises:
        NotFoundError: there is no such space.
        UsageError: it is the one that is searched.
    """
    spaces = Spaces(connection)
    if spaces.row(name) is None:
        known = ", ".join(row.name for row in spaces.rows()) or "none"
        raise NotFoundError(f"There is no vector space {name!r}.", hint=f"There are: {known}.")
    if spaces.active_name() == name:
        raise UsageError(
            f"{name} is the space that is searched.", hint="Configure another model and let it fill first."
        )
    for file in cache_files(home, name):
        os.remove(file)
    more = True
    while more:
        with transaction(connection):
            more = spaces.drop_some(name)
