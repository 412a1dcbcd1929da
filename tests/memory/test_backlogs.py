"""What captures leave to be done: words to index, vectors to make, in whatever space, by whoever comes by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_raw_rag.daemon.captures import Captures
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.models import Capture
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.backlogs import FEED_EVERY, feed_words
from agent_raw_rag.store.lock import WRITER, lock
from agent_raw_rag.store.reader import ChunkFacts, Reader
from tests.memory.rooms import OWNER, runtime

HASHING = '[encoder]\nname = "hashing"\n[reranker]\nname = "none"\n'


@pytest.fixture
def root(tmp_path: Path) -> Runtime:
    """A home with two more spaces, an event in each of the three, and no log."""
    config = tmp_path / "config.toml"
    config.write_text(HASHING, encoding="utf-8")
    found = runtime(tmp_path, RAW_RAG_CONFIG=str(config))
    for space in ("default", "one", "two"):
        found.in_space(space).memory.raw.capture(Capture(f"tea for {space}", "tester"), OWNER)
    return found


def backlogs(root: Runtime) -> list[int]:
    return [root.in_space(space).spaces.backlog() for space in ("default", "one", "two")]


def indexed(room: Runtime) -> int:
    return room.funnel.words.index(room.reader).high_water


def test_an_ingest_makes_the_vectors_of_every_space(root: Runtime) -> None:
    assert backlogs(root) == [1, 1, 1]
    report = root.ingest()
    assert (report.embedded, report.backlog, report.notes) == (3, 0, [])
    assert backlogs(root) == [0, 0, 0]
    assert [indexed(root.in_space(space)) for space in ("one", "two")] == [1, 1]
    assert root.ingest().embedded == 0


def test_an_ingest_without_vectors_counts_what_every_space_lacks(root: Runtime) -> None:
    report = root.ingest(embed=False)
    assert (report.embedded, report.backlog) == (0, 3)


def test_a_space_that_cannot_be_read_holds_up_no_other(root: Runtime) -> None:
    broken = Path(root.in_space("one").settings.store_path())
    root.in_space("one").reader.connection.close()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{broken}{suffix}").unlink(missing_ok=True)
    broken.write_bytes(b"no database " * 100)
    report = runtime(broken.parents[3], RAW_RAG_CONFIG=str(broken.parents[3] / "config.toml")).ingest()
    assert report.embedded == 2
    assert len(report.notes) == 1 and report.notes[0].startswith("space one: ")


def test_captures_bring_the_index_up_now_and_then(root: Runtime) -> None:
    memory = root.memory
    for number in range(FEED_EVERY + 1):
        memory.raw.capture(Capture(f"tea {number}", "tester", session=str(number)), OWNER)
    memory.feeding.wait()
    assert indexed(root) >= FEED_EVERY


def test_whoever_writes_brings_the_index_up_and_nobody_waits(root: Runtime) -> None:
    with lock(root.home, WRITER, wait_seconds=0, purpose="a test"):
        assert not feed_words(root)
    assert feed_words(root)


def test_the_daemon_sees_what_others_captured(root: Runtime) -> None:
    captures = Captures()
    assert captures.are_new(root)
    assert not captures.are_new(root)
    root.in_space("two").memory.raw.capture(Capture("more tea", "tester"), OWNER)
    assert captures.are_new(root)
    assert not captures.are_new(root)
    root.ingest()  # writes to every store, and adds no text
    assert not captures.are_new(root)
    root.in_space("three").memory.raw.capture(Capture("tea", "tester"), OWNER)
    assert captures.are_new(root)


def test_feeding_ends_though_others_capture_all_the_while(root: Runtime) -> None:
    raw, room = root.memory.raw, root.in_space("default")
    reader, number = Reader(room.reader.connection), 0
    chunks_after = reader.chunks_after

    def captured_meanwhile(chunk_id: int, limit: int = -1) -> Iterator[ChunkFacts]:
        nonlocal number
        number += 1
        raw.capture(Capture(f"meanwhile {number}", "tester", session=str(number)), OWNER)
        return chunks_after(chunk_id, limit)

    reader.chunks_after = captured_meanwhile  # type: ignore[method-assign]
    feed_lexical(reader, root.home)
    assert number <= 2
