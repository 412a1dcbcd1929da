"""Spaces: each has a store of its own, and all share the loaded models."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.errors import BadArgumentError, StoreError
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.homes import spaces_with_store


def runtime(tmp_path: Path) -> Runtime:
    environment = {"HOME": str(tmp_path), "RAW_RAG_HOME": str(tmp_path / "home")}
    return Runtime.load(environment=environment)


def test_the_default_space_is_the_home_itself(tmp_path: Path) -> None:
    root = runtime(tmp_path)
    assert root.in_space("default") is root
    assert root.space == "default"


def test_another_space_has_a_folder_of_its_own_and_the_same_models(tmp_path: Path) -> None:
    root = runtime(tmp_path)
    room = root.in_space("proj-1")
    assert room.home == str(tmp_path / "home" / "spaces" / "proj-1")
    assert room.models is root.models
    assert root.in_space("proj-1") is room


@pytest.mark.parametrize("slug", ["", "..", "a/b", "A", "-a", "x" * 64, "a b", "ä", "a\0"])
def test_what_could_lead_out_of_the_folder_is_no_space(tmp_path: Path, slug: str) -> None:
    with pytest.raises(BadArgumentError):
        runtime(tmp_path).in_space(slug)


def test_the_runtime_used_longest_ago_is_given_up(tmp_path: Path) -> None:
    root = runtime(tmp_path)
    first = root.in_space("s0")
    for number in range(1, 65):
        root.in_space(f"s{number}")
    assert root.in_space("s0") is not first


def test_writing_to_a_space_makes_its_store_and_no_other(tmp_path: Path) -> None:
    root = runtime(tmp_path)
    store = root.in_space("proj").memory.store
    assert not store.exists()
    with pytest.raises(StoreError):
        store.read()
    with store.write() as connection:
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
    assert store.exists()
    assert spaces_with_store(root.settings.store_path()) == ["proj"]
    assert store.read().generation


def test_a_failed_write_leaves_nothing_and_is_told_as_the_stores_error(tmp_path: Path) -> None:
    store = runtime(tmp_path).memory.store
    with pytest.raises(StoreError), store.write() as connection:
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'c')")
    assert store.read().connection.execute("SELECT count(*) FROM meta WHERE key = 'a'").fetchone()[0] == 0


def test_a_store_that_was_put_back_is_read_and_written_from_then_on(tmp_path: Path) -> None:
    root = runtime(tmp_path)
    store = root.memory.store
    with store.write() as connection:
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'old')")
    other = Runtime.load(environment={"HOME": str(tmp_path), "RAW_RAG_HOME": str(tmp_path / "other")})
    with other.memory.store.write() as connection:
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'new')")
        generation = other.reader.generation
    other.memory.store.read().connection.close()
    del other, connection
    store.read()
    for suffix in ("-wal", "-shm"):
        (tmp_path / "home" / f"raw_rag.db{suffix}").unlink(missing_ok=True)
    (tmp_path / "other" / "raw_rag.db").replace(tmp_path / "home" / "raw_rag.db")
    wal = tmp_path / "other" / "raw_rag.db-wal"
    if wal.exists():
        wal.replace(tmp_path / "home" / "raw_rag.db-wal")
    assert store.read().generation == generation
