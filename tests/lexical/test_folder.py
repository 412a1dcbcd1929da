"""The index's folder: writers, readers, crashes and damage."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from agent_raw_rag.errors import StoreBusyError, StoreError
from agent_raw_rag.lexical.documents import LexicalDoc
from agent_raw_rag.lexical.index import LexicalIndex
from tests.lexical.corpus import found, numbered


def written(folder: Path, texts: list[str], high_water: int, generation: str = "g") -> None:
    index = LexicalIndex.open(folder, generation, writable=True)
    index.add(numbered(*texts))
    index.commit(high_water)
    index.close()


def test_what_was_committed_is_there_after_opening_again(tmp_path: Path) -> None:
    written(tmp_path / "lex", ["retry the upload", "other"], 2)
    for writable in (True, False):
        index = LexicalIndex.open(tmp_path / "lex", "g", writable=writable)
        assert (index.high_water, len(index), index.chunk_ids()) == (2, 2, [1, 2])
        assert found(index, "retry") == [1]


def test_nothing_is_seen_before_commit(tmp_path: Path) -> None:
    index = LexicalIndex.open(tmp_path, "g", writable=True)
    index.add(numbered("retry"))
    assert found(index, "retry") == []
    index.commit(1)
    assert found(index, "retry") == [1]
    index.close()


def test_a_reader_sees_what_the_writer_commits(tmp_path: Path) -> None:
    reader = LexicalIndex.open(tmp_path, "g")
    assert (len(reader), reader.high_water, reader.reload()) == (0, 0, False)
    writer = LexicalIndex.open(tmp_path, "g", writable=True)
    writer.add(numbered("retry", "upload"))
    writer.commit(2, dropped=5)
    assert reader.reload()
    assert (found(reader, "retry"), reader.high_water, reader.dropped) == ([1], 2, 5)
    writer.remove([1, 77])
    writer.commit(2, dropped=6)
    assert (reader.reload(), found(reader, "retry"), reader.dropped) == (True, [], 6)
    assert not reader.reload()
    writer.close()


def test_killed_between_commit_and_meta_the_chunks_are_fed_again_without_doubles(tmp_path: Path) -> None:
    written(tmp_path, ["retry one"], 1)
    before = (tmp_path / "meta.json").read_bytes()
    index = LexicalIndex.open(tmp_path, "g", writable=True)
    index.add([LexicalDoc(2, "retry two"), LexicalDoc(3, "retry three")])
    index.commit(3)
    index.close()
    (tmp_path / "meta.json").write_bytes(before)  # as the kill leaves it

    again = LexicalIndex.open(tmp_path, "g", writable=True)
    assert again.high_water == 1
    again.add([LexicalDoc(2, "retry two"), LexicalDoc(3, "retry three")])
    again.commit(3)
    assert again.chunk_ids() == [1, 2, 3]
    assert sorted(found(again, "retry")) == [1, 2, 3]
    again.close()


def test_killed_before_commit_nothing_is_there(tmp_path: Path) -> None:
    written(tmp_path, ["retry one"], 1)
    index = LexicalIndex.open(tmp_path, "g", writable=True)
    index.add([LexicalDoc(2, "retry two")])
    index.close()
    assert LexicalIndex.open(tmp_path, "g").chunk_ids() == [1]


def test_an_id_that_is_added_twice_is_there_once_with_its_last_text(tmp_path: Path) -> None:
    index = LexicalIndex.open(tmp_path, "g", writable=True)
    index.add([LexicalDoc(5, "old"), LexicalDoc(5, "new")])
    index.commit(5)
    index.add([LexicalDoc(5, "newest")])
    index.commit(5)
    assert (index.chunk_ids(), found(index, "old new"), found(index, "newest")) == ([5], [], [5])
    index.close()


def test_another_generation_is_empty_to_a_reader_and_wiped_by_a_writer(tmp_path: Path) -> None:
    written(tmp_path, ["retry"], 1)
    assert len(LexicalIndex.open(tmp_path, "other")) == 0
    assert len(LexicalIndex.open(tmp_path, "g")) == 1
    written(tmp_path, ["upload"], 1, "other")
    assert found(LexicalIndex.open(tmp_path, "other"), "retry upload") == [1]
    assert LexicalIndex.open(tmp_path, "g").high_water == 0
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("damage", ["no meta", "torn meta", "foreign meta", "no segment", "torn segment", "no folder"])
def test_a_damaged_folder_opens_empty_and_is_filled_anew(tmp_path: Path, damage: str) -> None:
    written(tmp_path, ["retry", "upload"], 2)
    meta = tmp_path / "meta.json"
    build = tmp_path / json.loads(meta.read_text("utf-8"))["build"]
    segment = next(build.glob("*.term"))
    match damage:
        case "no meta":
            meta.unlink()
        case "torn meta":
            meta.write_bytes(meta.read_bytes()[:-9])
        case "foreign meta":
            meta.write_text('{"generation": "g", "format": 2, "build": "../x"}', "utf-8")
        case "no segment":
            segment.unlink()
        case "torn segment":
            segment.write_bytes(segment.read_bytes()[:-5])
        case "no folder":
            build.rename(tmp_path / "elsewhere")
    reader = LexicalIndex.open(tmp_path, "g")
    assert (reader.high_water, len(reader), found(reader, "retry")) == (0, 0, [])
    written(tmp_path, ["retry", "upload"], 2)
    assert (reader.reload(), found(reader, "retry"), reader.high_water) == (True, [1], 2)


def test_a_reader_of_a_folder_that_was_built_anew_follows(tmp_path: Path) -> None:
    written(tmp_path, ["retry"], 1)
    reader = LexicalIndex.open(tmp_path, "g")
    (tmp_path / "meta.json").unlink()
    assert (reader.reload(), len(reader)) == (True, 0)
    written(tmp_path, ["upload", "retry"], 2)
    assert (reader.reload(), found(reader, "retry")) == (True, [2])


def test_only_one_writes(tmp_path: Path) -> None:
    first = LexicalIndex.open(tmp_path, "g", writable=True)
    first.add(numbered("x"))
    second = LexicalIndex.open(tmp_path, "g", writable=True)
    with pytest.raises(StoreBusyError):
        second.add(numbered("y"))
    first.close()
    second.add(numbered("y"))
    second.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="for reading"):
        LexicalIndex.open(tmp_path, "g").add(numbered("x"))
    assert list(tmp_path.iterdir()) == []


def test_nobody_else_may_look_into_the_folder(tmp_path: Path) -> None:
    written(tmp_path / "lex", ["x"], 1)
    assert stat.S_IMODE((tmp_path / "lex").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "lex/meta.json").stat().st_mode) == 0o600
