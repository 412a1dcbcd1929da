"""A store filled with turns that come from no log, through the product's own sanitizer, chunker, index and encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.ingest.embed import embed_backlog
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.ingest.prepare import prepared
from agent_raw_rag.ingest.reading import Batch
from agent_raw_rag.models import Role, SessionInfo, Shape, Source, Text, Turn
from agent_raw_rag.sanitize import Options
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.sources import CursorRow, Sources
from agent_raw_rag.store.writer import Writer

Said = tuple[Role, str, int | None]


class Stored:
    """A store in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = str(folder)
        self.connection = connect(str(folder / "raw_rag.db"), write=True)
        self.committer = Committer(Writer(self.connection), Sources(self.connection), tokenizer())
        self.reader = Reader(self.connection)

    def add_session(self, name: str, said: Iterable[Said], cwd: str = "/bench") -> None:
        """A session of turns (role, text, time)."""
        source = Source("bench", f"/bench/{name}", "/bench", Shape.DOCUMENT, session=name)
        turns = [
            Turn(name, role, f"{name}:{place}", time, [Text(text)], [], 0, 0, settled=True)
            for place, (role, text, time) in enumerate(said)
        ]
        batch = Batch(turns, {name: SessionInfo(name, cwd=cwd)}, whole=True)
        ready = prepared(batch, CursorRow("1"), tokenizer(), Options(redact=False))
        self.committer.commit(source, self.committer.sources.add(source), ready)

    def chunks(self) -> int:
        """How many chunks there are."""
        return int(self.connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def index(self, encoder: Callable[[], Encoder | None]) -> None:
        """Bring index and vectors up."""
        feed_lexical(self.reader, self.home)
        problem = embed_backlog(self.connection, self.home, encoder).problem
        if problem:
            raise SystemExit(problem)
