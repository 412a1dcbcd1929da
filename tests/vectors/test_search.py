"""Nearest vectors, against a search by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vectors.rows import DIM, brute_force, filled, reader, rows_of, vectors_of, writer

from agent_raw_rag.vectors import scan
from agent_raw_rag.vectors.layout import VectorRow
from agent_raw_rag.vectors.scan import VectorFilter

FILTERS = st.none() | st.builds(
    VectorFilter,
    sessions=st.none() | st.sets(st.integers(0, 6), max_size=3),
    after=st.none() | st.integers(0, 70),
    before=st.none() | st.integers(0, 70),
    roles=st.integers(0, 7),
)


@settings(max_examples=80)
@given(st.integers(0, 60), st.integers(0, 5), st.integers(1, 70), FILTERS)
def test_a_search_equals_a_search_by_hand(
    tmp_path_factory: pytest.TempPathFactory, count: int, seed: int, limit: int, where: VectorFilter | None
) -> None:
    rows, vectors, query = rows_of(count), vectors_of(count, seed), vectors_of(1, seed + 100)[0]
    cache = writer(tmp_path_factory.mktemp("cache") / "v")
    cache.append(rows, vectors)
    cache.commit(count)
    ids, scores = cache.search(query, limit, where)
    expected = brute_force(rows, vectors, query, limit, where)
    assert ids.tolist() == [chunk_id for chunk_id, _ in expected]
    np.testing.assert_allclose(scores, [score for _, score in expected], atol=1e-6)
    cache.close()


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_many_blocks_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(scan, "BLOCK_FLOATS", 7 * DIM)
    monkeypatch.setattr(scan, "GATHER_ROWS", 5)
    rows = [VectorRow(n + 1, session=int(n >= share * 500)) for n in range(500)]
    vectors, query = vectors_of(500), vectors_of(1, 9)[0]
    cache = writer(tmp_path / "v")
    cache.append(rows, vectors)
    cache.commit(500)
    where = VectorFilter(sessions=[0])
    ids, _ = cache.search(query, 40, where)
    assert ids.tolist() == [chunk_id for chunk_id, _ in brute_force(rows, vectors, query, 40, where)]
    cache.close()


def test_equal_vectors_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    cache = writer(tmp_path / "v")
    same = np.repeat(vectors_of(1), 200, axis=0)
    cache.append([VectorRow(300 - n) for n in range(200)], same)
    cache.commit(300)
    assert cache.search(same[0], 3)[0].tolist() == [101, 102, 103]
    cache.close()


def test_the_matrix_of_a_mapped_file_is_not_copied(tmp_path: Path) -> None:
    filled(tmp_path / "v", 20).close()
    view = reader(tmp_path / "v")._view
    assert np.shares_memory(view.vectors, view.records)
    assert view.vectors.strides == (64 + 4 * DIM, 4)


def test_half_precision_is_taken(tmp_path: Path) -> None:
    cache = writer(tmp_path / "v")
    cache.append(rows_of(9), vectors_of(9).astype(np.float16))
    cache.commit(9)
    assert cache.search(vectors_of(9)[4], 1)[0].tolist() == [5]
    cache.close()


@pytest.mark.parametrize("limit", [0, 1])
def test_an_empty_cache_has_no_nearest(tmp_path: Path, limit: int) -> None:
    ids, scores = reader(tmp_path / "none").search(vectors_of(1)[0], limit)
    assert (len(ids), len(scores)) == (0, 0)
