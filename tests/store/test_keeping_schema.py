"""A store from before sessions could be kept or pass: it is brought up, and says of every session that it is neither."""

from __future__ import annotations

from pathlib import Path

from agent_raw_rag.models import Ask
from agent_raw_rag.store.connection import connect, is_current
from tests.samples import sample_runtime

NEW = ("kept", "passing", "heard", "endings")


def test_sessions_of_an_older_store_are_neither_kept_nor_passing(tmp_path: Path) -> None:
    room = sample_runtime(tmp_path)
    before = [one.session for one in room.sessions(Ask(project="*"))]
    path = room.settings.store_path()
    older = connect(path, write=True)
    older.execute("DROP INDEX sessions_passing")
    for name in NEW:
        older.execute(f"ALTER TABLE sessions DROP COLUMN {name}")
    older.execute("DELETE FROM _sqlite_migrations WHERE name = 'm004_keeping'")
    older.close()
    assert not is_current(path)
    connect(path, write=True).close()
    assert is_current(path)
    later = room.sessions(Ask(project="*"))
    assert [one.session for one in later] == before and not any(one.kept for one in later)
    assert room.status().passing == 0
    assert room.search("why did we drop the retry in the uploader?", Ask()).passages
