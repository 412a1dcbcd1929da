"""The vector spaces of one store, as the hosts use them: fill, list, drop, and the encoder of the one that is searched."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_raw_rag.errors import ModelError, StoreBusyError

if TYPE_CHECKING:
    from agent_raw_rag.config import Settings
    from agent_raw_rag.encode.base import Encoder
    from agent_raw_rag.encode.choice import Choice
    from agent_raw_rag.ingest.run import IngestReport, Note
    from agent_raw_rag.runtime.models import Models
    from agent_raw_rag.search.spaces import SpaceItem
    from agent_raw_rag.search.status import ModelFacts
    from agent_raw_rag.store.connection import Connection
    from agent_raw_rag.store.reader import Reader
    from agent_raw_rag.store.spaces import SpaceRow

SLICE_WAIT_SECONDS = 600.0
"""How long made vectors wait for another writer before they are given up, to be made again by the next run."""


@dataclass(frozen=True)
class VectorSpaces:
    """Safe to use from several threads."""

    home: str
    settings: Settings
    models: Models
    reader: Callable[[], Reader]

    def active(self) -> SpaceRow | None:
        """The space that is searched; None: nothing was embedded yet."""
        from agent_raw_rag.store.spaces import Spaces

        return Spaces(self.reader().connection).active()

    def encoder(self) -> Encoder | None:
        """The encoder of the space that is searched; None: lexical search only.

        Raises:
            ModelError: its files are missing or damaged, or it is not the model that made the space.
        """
        return self.models.searching_encoder(self.active())

    def facts(self) -> ModelFacts:
        """What status says of the models. Loads none; a server is asked only where no space is there yet and its model or
        dimension is not configured."""
        from agent_raw_rag.search.status import ModelFacts

        problems = []
        space, active = None, self.active()
        try:
            choice = self.models.encoder_choice(active)
            if choice is not None:
                space = active.name if active else self.models.encoder(choice).space.name
        except ModelError as error:
            problems.append(str(error))
        if (why := self.wanted_problem()) is not None:
            problems.append(why)
        reranker = None
        try:
            made = self.models.reranker(active)
            reranker = made.name if made else None
        except ModelError as error:
            problems.append(str(error))
        return ModelFacts(space, reranker, tuple(problems))

    def wanted_problem(self) -> str | None:
        """Why the encoder that is configured cannot fill a space beside the one that is searched; None: it can, or need not."""
        active = self.active()
        choice = self.models.encoder_choice(active)
        if choice is None or active is None or choice.kind == active.kind:
            return None
        try:
            self.models.encoder(choice).space  # noqa: B018 - what it says is not needed, only whether it can be said
        except ModelError as error:
            return f"The configured encoder cannot be used, and {active.name} stays searched: {error}"
        return None

    def items(self) -> list[SpaceItem]:
        """The spaces there are, with how full each is."""
        from agent_raw_rag.search.spaces import space_items

        return space_items(self.reader())

    def backlog(self) -> int:
        """Chunks without a vector in the space that is searched; 0 if no encoder is set."""
        from agent_raw_rag.store.vectors import Vectors

        active = self.active()
        if self.models.encoder_choice(active) is None:
            return 0
        return Vectors(self.reader().connection, active.name if active else "").count()[1]

    def feed(self) -> None:
        """Bring the cache of the space that is searched up to the vectors that are stored. No model is asked.
        Nothing happens while another process makes vectors or writes: it will be done then."""
        from agent_raw_rag.ingest.feed_vectors import feed_cache
        from agent_raw_rag.store.lock import EMBEDDER, WRITER, lock

        active = self.active()
        if active is None:
            return
        try:
            with (
                lock(self.home, EMBEDDER, wait_seconds=0, purpose="vectors"),
                lock(self.home, WRITER, wait_seconds=1.0, purpose="vectors"),
                closing(self._connect()) as connection,
            ):
                feed_cache(connection, self.home, active.name, active.dim)
        except StoreBusyError:
            pass

    def embed(self, report: IngestReport, on_note: Callable[[Note], None]) -> None:
        """Make the vectors that are missing, unless another process does; the report says what came of it."""
        choice = self.models.encoder_choice(self.active())
        if choice is None:
            report.backlog = 0
            return
        try:
            self._embed(choice, report, on_note)
        except StoreBusyError as busy:
            report.notes.append(str(busy))
            report.backlog = self.backlog()

    def _embed(self, choice: Choice, report: IngestReport, on_note: Callable[[Note], None]) -> None:
        from agent_raw_rag.ingest.run import Note
        from agent_raw_rag.ingest.spaces import Embedding
        from agent_raw_rag.store.lock import EMBEDDER, lock

        def progress(done: int, total: int) -> None:
            on_note(Note("embed", done, total))

        with lock(self.home, EMBEDDER, wait_seconds=0, purpose="vectors"), closing(self._connect()) as connection:
            share = self.settings.encoder.refill_share
            embedding = Embedding(connection, self.home, self.models.encoder, self._gate, progress, share)
            done = embedding.run(choice)
            report.embedded, report.backlog, report.encoder_problem = done.encoded, done.backlog, done.problem
            report.notes += embedding.notes

    def drop(self, name: str) -> None:
        """Delete a space that is not searched, with its vectors and its cache.

        Raises:
            NotFoundError: there is no such space.
            UsageError: it is the one that is searched.
            StoreBusyError: another process writes.
        """
        from agent_raw_rag.ingest.spaces import drop_space
        from agent_raw_rag.store.lock import EMBEDDER, WRITER, lock

        with (
            lock(self.home, EMBEDDER, wait_seconds=10.0, purpose="drop a vector space"),
            lock(self.home, WRITER, wait_seconds=10.0, purpose="drop a vector space"),
            closing(self._connect()) as connection,
        ):
            drop_space(connection, self.home, name)

    def _connect(self) -> Connection:
        from agent_raw_rag.store.connection import connect

        return connect(self.settings.store_path(), write=True)

    def _gate(self) -> AbstractContextManager[None]:
        from agent_raw_rag.store.lock import WRITER, lock

        return lock(self.home, WRITER, wait_seconds=SLICE_WAIT_SECONDS, purpose="vectors")
