"""A store and an ingest of it, in process, for tests: real SQLite, real files."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.ingest.commit import Added, Committer
from agent_raw_rag.ingest.sync import AgentReport, Sync
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.sources import Sources
from agent_raw_rag.store.writer import Writer


class Ingest:
    """One store, fed from one HOME."""

    def __init__(self, home: Path, store: Path) -> None:
        self.home = home
        self.connection: sqlite3.Connection = connect(str(store / "raw_rag.db"), write=True)

    def run(
        self, *agents: str, again: bool = False, ahead_bytes: int | None = None, only: Collection[str] | None = None
    ) -> dict[str, AgentReport]:
        committer = self.committer()
        sync = Sync(committer, committer.sources, ahead_bytes=ahead_bytes)
        rows = {name: row for name, row in adapters().items() if not agents or name in agents}
        roots = {name: row.roots({}, str(self.home)) for name, row in rows.items()}
        return {name: sync.run(row, roots[name], again=again, only=only) for name, row in rows.items()}

    def committer(self) -> Committer:
        return Committer(Writer(self.connection), Sources(self.connection), tokenizer())

    def added(self, *agents: str) -> Added:
        total = Added()
        for report in self.run(*agents).values():
            total.add(report.added)
        return total
