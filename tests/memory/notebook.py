"""A memory of its own for a test, with a clock that the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.notes import Notes, Save
from agent_raw_rag.memory.recall import Recall, RecallAsk, RecallOptions
from agent_raw_rag.memory.results import Recalled
from agent_raw_rag.memory.taken import Taker
from agent_raw_rag.models import Actor, Capture
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.journal import Journal as JournalRows
from agent_raw_rag.store.journal import JournalRow

ACTOR = Actor("laptop", "http", "rrt_1234")
DAY = 24 * 3600 * 1000
START = 1_796_000_000_000


@dataclass
class Clock:
    """A clock that stands still."""

    now: int = START

    def __call__(self) -> int:
        return self.now


@dataclass
class Notebook:
    """The notes of a new store, and what is to be seen of them."""

    folder: Path
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        environment = {"HOME": str(self.folder), "RAW_RAG_HOME": str(self.folder / "home")}
        self.memory = Runtime.load(environment=environment).memory
        made = self.memory.store
        self.store = SpaceStore(made.space, made.home, made.read, made.write, made.exists, self.clock)
        self.notes = self.with_recall()

    def with_recall(self, options: RecallOptions | None = None, **parts: Any) -> Notes:
        """The same notes, recalled in another way."""
        return Notes(
            self.store, Recall(self.store, options or RecallOptions(), mark=lambda: "0123456789", **parts), Taker()
        )

    def save(self, content: str, kind: str = "fact", **rest: Any) -> str:
        """The id of a statement that is kept."""
        return self.notes.save(Save(content, rest.pop("source", "test"), kind=kind, **rest), ACTOR).node_id

    def capture(self, content: str) -> str:
        """The id of an event that is recorded."""
        return self.memory.raw.capture(Capture(content, "test"), ACTOR).event_id or ""

    def recall(self, query: str, **rest: Any) -> Recalled:
        """What is recalled."""
        return self.notes.recall(RecallAsk(query, **rest))

    def texts(self, query: str, **rest: Any) -> list[str]:
        """The texts of what is recalled."""
        return [one.text for one in self.recall(query, **rest).memories]

    def journal(self) -> list[JournalRow]:
        """All that was written down; nothing if there is no store."""
        return list(JournalRows(self.store.read().connection).rows()) if self.store.exists() else []

    def counted(self) -> dict[str, int]:
        """Status -> notes."""
        if not self.store.exists():
            return {}
        rows = self.store.read().connection.execute("SELECT status, count(*) FROM notes GROUP BY status")
        return {row[0]: row[1] for row in rows}
