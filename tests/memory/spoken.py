"""A space in which things were said, without a process: turns as captures and logs leave them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent_raw_rag.models import Actor, CleanText, CleanTurn, Role
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.captured import event_id
from agent_raw_rag.store.connection import Connection, connect, transaction
from agent_raw_rag.store.rows import Status, key_hash
from agent_raw_rag.store.writer import Writer

OWNER = Actor("owner", "cli")


@dataclass
class Spoken:
    """A home with one runtime."""

    home: Path
    options: str = ""
    """Lines of its configuration."""
    _number: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def runtime(self) -> Runtime:
        """A new process's runtime."""
        self.home.mkdir(exist_ok=True)
        (self.home / "config.toml").write_text(self.options, encoding="utf-8")
        return Runtime.load(None, {"RAW_RAG_HOME": str(self.home), "HOME": str(self.home)})

    def writing(self) -> Connection:
        """A connection that writes."""
        return connect(str(self.home / "raw_rag.db"), write=True)

    def say(
        self, text: str, *, role: Role = Role.USER, agent: str = "mcp", time: int | None = None, settled: bool = True,
        key: str = "",
    ) -> str:  # fmt: skip
        """Store a turn as a door (``mcp``, ``http``, ``import``) or a log does. Returns the event's id."""
        connection = self.writing()
        key = key or f"k{next(self._number)}"
        with transaction(connection):
            writer = Writer(connection)
            session = writer.session(agent, "s")
            turn = CleanTurn("s", role, key, time, CleanText(text), (), 0, 0, settled=settled)
            row = writer.insert_turn(session, turn, self._source(connection, agent), Status.LIVE)
            writer.save_session(session)
            if agent in ("mcp", "http", "import"):
                connection.execute("INSERT INTO captured (turn_id, source) VALUES (?, 'tester')", (row.id,))
        connection.close()
        return event_id(key_hash(agent, key))

    def settle(self, key: str, text: str, agent: str = "claude") -> None:
        """An open turn ends."""
        connection = self.writing()
        with transaction(connection):
            writer = Writer(connection)
            (row,) = writer.holders(agent, key)
            turn = CleanTurn("s", row.role, key, row.time, CleanText(text), (), 0, 0)
            writer.update_turn(row, turn, self._source(connection, agent))
        connection.close()

    def _source(self, connection: Connection, agent: str) -> int:
        connection.execute("INSERT OR IGNORE INTO sources (agent, path, shape) VALUES (?, ?, 'lines')", (agent, agent))
        return int(connection.execute("SELECT id FROM sources WHERE agent = ?", (agent,)).fetchone()[0])
