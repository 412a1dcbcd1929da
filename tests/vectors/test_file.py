"""The cache's file: writers, readers, crashes and damage."""

from __future__ import annotations

import gc
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.errors import StoreError
from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.layout import VectorRow, file_bytes
from tests.vectors.rows import DIM, filled, reader, rows_of, vectors_of, writer


def ids(cache: VectorCache) -> list[int]:
    return [int(chunk_id) for chunk_id in cache.chunk_ids()]


def test_what_was_committed_is_there_after_opening_again(tmp_path: Path) -> None:
    filled(tmp_path / "deep/v", 5).close()
    for cache in (writer(tmp_path / "deep/v"), reader(tmp_path / "deep/v")):
        assert (ids(cache), len(cache), cache.high_water) == ([1, 2, 3, 4, 5], 5, 5)
        cache.close()


def test_a_reader_sees_what_the_writer_commits(tmp_path: Path) -> None:
    path = tmp_path / "v"
    early = reader(path)
    assert (ids(early), early.refresh()) == ([], False)
    cache = filled(path, 3)
    assert (early.refresh(), ids(early)) == (True, [1, 2, 3])
    cache.append(rows_of(2, first=10), vectors_of(2, seed=1))
    assert not early.refresh()
    cache.commit(11, dropped=4)
    assert (early.refresh(), ids(early), early.high_water, early.dropped) == (True, [1, 2, 3, 10, 11], 11, 4)
    assert early.search(vectors_of(2, seed=1)[1], 1)[0].tolist() == [11]
    cache.drop([2, 99])
    cache.commit(11, dropped=5)
    assert (early.refresh(), ids(early), early.dead, early.dropped) == (True, [1, 3, 10, 11], 1, 5)
    assert not early.refresh()
    cache.close()


def test_dropped_chunks_are_not_found(tmp_path: Path) -> None:
    cache = filled(tmp_path / "v", 10)
    cache.drop([4])
    cache.commit(10)
    assert 4 not in cache.search(vectors_of(10)[3], 10)[0]
    cache.close()


def test_a_stretch_that_is_gone_as_a_whole_is_compacted_away(tmp_path: Path) -> None:
    cache = filled(tmp_path / "v", 3000)
    cache.drop([1, *range(1025, 3001)])
    cache.commit(3000)
    cache.compact()
    assert (ids(cache), cache.dead) == (list(range(2, 1025)), 0)
    cache.close()


def test_an_id_that_comes_again_is_there_once_with_its_last_vector(tmp_path: Path) -> None:
    cache = filled(tmp_path / "v", 4)
    cache.append([VectorRow(2)], vectors_of(1, seed=7))
    cache.commit(4)
    assert ids(cache) == [1, 2, 3, 4]
    assert cache.search(vectors_of(1, seed=7)[0], 1)[0].tolist() == [2]
    cache.close()


def test_killed_before_commit_the_torn_tail_is_passed_over_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "v"
    cache = filled(path, 3)
    cache.append(rows_of(2, first=4), vectors_of(2, seed=1))
    cache.close()
    with path.open("ab") as file:
        file.write(b"torn")
    assert ids(reader(path)) == [1, 2, 3]
    again = writer(path)
    assert again.high_water == 3
    again.append(rows_of(2, first=4), vectors_of(2, seed=2))
    again.commit(5)
    assert (ids(again), again.search(vectors_of(2, seed=2)[0], 1)[0].tolist()) == ([1, 2, 3, 4, 5], [4])
    again.close()


@pytest.mark.parametrize("damage", ["missing", "empty", "short", "header", "torn rows", "other format"])
def test_a_damaged_file_opens_empty_and_is_filled_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "v"
    filled(path, 5).close()
    whole = path.read_bytes()
    match damage:
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "short":
            path.write_bytes(whole[:40])
        case "header":
            path.write_bytes(whole[:20] + b"\xff" + whole[21:])
        case "torn rows":
            path.write_bytes(whole[:-1])
        case "other format":
            path.write_bytes(b"OTHERFMT" + whole[8:])
    late = reader(path)
    assert (ids(late), late.high_water, late.refresh()) == ([], 0, False)
    filled(path, 6).close()
    assert (late.refresh(), len(late)) == (True, 6)


@pytest.mark.parametrize("other", [{"generation": "h"}, {"space": "t"}, {"dim": DIM + 1}])
def test_another_store_space_or_dimension_is_empty_to_a_reader_and_replaced_by_a_writer(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    path = tmp_path / "v"
    filled(path, 5).close()
    before = reader(path)
    assert len(reader(path, **other)) == 0
    assert len(reader(path)) == 5
    writer(path, **other).close()
    assert (before.refresh(), len(before), before.high_water) == (True, 0, 0)


def test_a_reader_keeps_its_file_while_a_new_one_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "v"
    cache = filled(path, 3000)
    old = reader(path)
    cache.compact()
    cache.drop(range(1, 2951))
    cache.commit(3000, dropped=9)
    cache.compact()
    assert len(old) == 3000
    assert old.search(vectors_of(3000)[0], 1)[0].tolist() == [1]
    assert (old.refresh(), ids(old), old.dead) == (True, list(range(2951, 3001)), 0)
    assert (old.high_water, old.dropped) == (3000, 9)
    assert old.search(vectors_of(3000)[2980], 1)[0].tolist() == [2981]
    assert path.stat().st_size == file_bytes(50, DIM) < file_bytes(3000, DIM)
    cache.append(rows_of(1, first=4000), vectors_of(1, seed=3))
    cache.commit(4000)
    assert (old.refresh(), len(old)) == (True, 51)
    cache.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    cache = reader(tmp_path / "v")
    for write in (
        lambda: cache.append(rows_of(1), vectors_of(1)), lambda: cache.drop([1]), lambda: cache.commit(1), cache.compact,
    ):  # fmt: skip
        with pytest.raises(StoreError, match="for reading"):
            write()
    assert list(tmp_path.iterdir()) == []


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    filled(tmp_path / "deep/v", 1).close()
    assert stat.S_IMODE((tmp_path / "deep/v").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


def test_a_file_that_is_cut_short_under_a_reader_is_an_error(tmp_path: Path) -> None:
    filled(tmp_path / "v", 3000).close()
    late = reader(tmp_path / "v")
    os.truncate(tmp_path / "v", 9000)
    with pytest.raises(StoreError, match="cut short"):
        late.search(vectors_of(1)[0], 5)
    assert (late.refresh(), len(late)) == (True, 0)


def test_a_cache_that_is_let_go_closes_its_files(tmp_path: Path) -> None:
    filled(tmp_path / "v", 5).close()
    gc.collect()  # what earlier tests let go must not be counted
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        reader(tmp_path / "v").search(vectors_of(1)[0], 1)
    gc.collect()
    assert len(os.listdir("/dev/fd")) == before
