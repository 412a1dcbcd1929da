"""A store of version 0.2 stands at the same place: it is moved aside, never read and never lost."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Reader, Scope


def test_a_store_of_version_0_2_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "raw_rag.db"
    old = sqlite3.connect(path)
    old.executescript("CREATE TABLE ingestion_cursors (source_key TEXT); CREATE TABLE sessions (session_id TEXT);")
    old.execute("INSERT INTO sessions VALUES ('kept')")
    old.commit()
    old.close()
    connection = connect(str(path), write=True)
    assert Reader(connection).sessions(Scope()) == []
    connection.close()
    kept = sqlite3.connect(tmp_path / "raw_rag.db.0.2")
    assert kept.execute("SELECT session_id FROM sessions").fetchall() == [("kept",)]
    kept.close()
