"""Nearest vectors, against a search by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.vectors.layout import VectorRow
from agent_raw_rag.vectors.scan import VectorFilter
from tests.vectors.rows import DIM, brute_force, reader, rows_of, vectors_of, writer

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


@pytest.mark.parametrize("dim", [7, 8, 64, 2560])
@pytest.mark.parametrize("share", [0.001, 0.4, 1.0])
def test_codes_over_many_blocks_miss_none_of_the_best(tmp_path: Path, dim: int, share: float) -> None:
    count = 5000 if dim < 1000 else 1500
    rows = [VectorRow(n + 1, session=int(n % 1000 >= share * 1000)) for n in range(count)]
    vectors, query = vectors_of(count, dim=dim), vectors_of(1, 9, dim)[0]
    cache = writer(tmp_path / "v", dim=dim)
    for first in range(0, count, 700):
        cache.append(rows[first : first + 700], vectors[first : first + 700])
        cache.commit(first)
    where = VectorFilter(sessions=[0])
    ids, _ = cache.search(query, 40, where)
    assert ids.tolist() == [chunk_id for chunk_id, _ in brute_force(rows, vectors, query, 40, where)]
    cache.close()


def test_equal_vectors_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    cache = writer(tmp_path / "v")
    same = np.repeat(vectors_of(1), 2500, axis=0)
    cache.append([VectorRow(3000 - n) for n in range(2500)], same)
    cache.commit(3000)
    assert cache.search(same[0], 3)[0].tolist() == [501, 502, 503]
    cache.close()


@pytest.mark.parametrize("value", [0.0, 1e-38, 1.0])
def test_vectors_of_any_size_have_codes(tmp_path: Path, value: float) -> None:
    cache = writer(tmp_path / "v")
    cache.append([VectorRow(1)], np.full((1, DIM), value))
    cache.commit(1)
    ids, scores = cache.search(np.ones(DIM), 1)
    assert (ids.tolist(), scores.tolist()) == ([1], [pytest.approx(DIM * value, abs=1e-6)])
    cache.close()


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
