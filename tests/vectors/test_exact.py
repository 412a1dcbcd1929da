"""Exactness: what the codes leave out must never be among the best. Bounds as laws, and searches over hostile vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.vectors.ceilings import Query, ceilings, lowered
from agent_raw_rag.vectors.kernel import by_numpy, kernel
from agent_raw_rag.vectors.layout import BLOCK_ROWS, VectorRow, quantised
from agent_raw_rag.vectors.mapping import SEGMENT_ROWS, Mapping
from agent_raw_rag.vectors.scan import VectorFilter
from tests.vectors.rows import brute_force, filled, reader, rows_of, vectors_of, writer

Vectors = NDArray[np.float32]
KINDS = ("random", "clustered", "duplicates", "one-hot", "dynamic range", "outlier", "zeros", "opposite")
FILTERS = st.none() | st.builds(
    VectorFilter,
    sessions=st.none() | st.sets(st.integers(-1, 6), max_size=4),
    after=st.none() | st.integers(0, 3000),
    before=st.none() | st.integers(0, 3000),
    roles=st.integers(0, 7),
)


def hostile(kind: str, count: int, dim: int, seed: int) -> Vectors:
    """Vectors that make codes err: of any length."""
    chance = np.random.default_rng(seed)
    made = vectors_of(count, seed, dim)
    match kind:
        case "clustered":
            made = made[:1] + 0.001 * made
        case "duplicates":
            made = made[np.minimum(chance.integers(0, 3, count), count - 1)]
        case "one-hot":
            made = np.eye(dim, dtype=np.float32)[chance.integers(0, dim, count)]
        case "dynamic range":
            made = made * 10.0 ** chance.uniform(-6, 2, made.shape)
        case "outlier":
            made[:, 0] = 30.0
        case "zeros":
            made[:: max(2, count // 3)] = 0
        case "opposite":
            made = made[:1] * chance.choice([-1, 1], (count, 1))
    return made.astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS), st.sampled_from(KINDS), st.integers(0, 2500), st.sampled_from([1, 5, 64]),
    st.integers(0, 1000), st.sampled_from([1, 3, 128, 3000]), FILTERS,
)  # fmt: skip
def test_a_search_over_hostile_vectors_equals_a_search_by_hand(
    tmp_path_factory: pytest.TempPathFactory, kind: str, asked: str, count: int, dim: int, seed: int, limit: int,
    where: VectorFilter | None,
) -> None:  # fmt: skip
    rows, vectors, query = rows_of(count), hostile(kind, count, dim, seed), hostile(asked, 1, dim, seed + 1)[0]
    cache = writer(tmp_path_factory.mktemp("cache") / "v", dim=dim)
    cache.append(rows, vectors)
    cache.commit(count)
    ids, scores = cache.search(query, limit, where)
    expected = brute_force(rows, vectors, query, limit, where)
    assert ids.tolist() == [chunk_id for chunk_id, _ in expected]
    np.testing.assert_allclose(scores, [score for _, score in expected], rtol=1e-6, atol=1e-6)
    cache.close()


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.integers(1, 40), st.sampled_from([1, 7, 384]), st.integers(0, 1000))
def test_the_lengths_beside_a_code_bound_what_it_leaves_out(kind: str, count: int, dim: int, seed: int) -> None:
    vectors = hostile(kind, count, dim, seed).astype(np.float16).astype(np.float64)
    coded = quantised(vectors)
    near = coded.code.astype(np.float64) * coded.scale[:, None].astype(np.float64)
    assert (np.linalg.norm(vectors - near, axis=1) <= coded.slack).all()
    assert (np.linalg.norm(near, axis=1) <= coded.length).all()
    assert np.abs(coded.code).max() <= 127


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.integers(1, 1500),
    st.sampled_from([1, 7, 384]),
    st.integers(0, 1000),
)
def test_no_row_scores_above_its_ceiling(
    tmp_path_factory: pytest.TempPathFactory, kind: str, asked: str, count: int, dim: int, seed: int
) -> None:
    path = tmp_path_factory.mktemp("cache") / "v"
    vectors, query = hostile(kind, count, dim, seed), Query.of(hostile(asked, 1, dim, seed + 1)[0])
    cache = writer(path, dim=dim)
    cache.append(rows_of(count), vectors)
    cache.commit(count)
    cache.close()
    with path.open("rb") as file:
        mapped = Mapping(file.fileno(), count, dim)
    scores = vectors.astype(np.float16).astype(np.float64) @ query.vector
    high = ceilings(mapped, query, None)
    assert (high >= scores).all()
    lower = lowered(mapped, query, high, np.arange(count))
    assert (lower >= scores).all()
    assert (lower <= high + 1e-5 * (1 + np.abs(high))).all()


@settings(max_examples=60)
@given(st.integers(0, 300), st.sampled_from([1, 2, 63, 64, 65, 384, 1025, 2560]), st.integers(0, 1000), st.booleans())
def test_both_kernels_give_the_same_whole_numbers(count: int, dim: int, seed: int, extreme: bool) -> None:
    chance = np.random.default_rng(seed)
    codes, query = (chance.integers(-127, 128, (n, dim), dtype=np.int8) for n in (count, 1))
    if extreme:
        codes, query = np.where(codes < 0, np.int8(-127), np.int8(127)), np.full((1, dim), 127, np.int8)
    expected = codes.astype(np.int64) @ query[0].astype(np.int64)
    assert by_numpy(codes, query[0]).tolist() == expected.tolist()
    if count:
        assert kernel()(codes, query[0]).tolist() == expected.tolist()


def test_a_file_of_several_segments_is_searched_whole_and_followed_as_it_grows(tmp_path: Path) -> None:
    count, dim = SEGMENT_ROWS + BLOCK_ROWS + 5, 4
    rows, vectors = rows_of(count + 10), vectors_of(count + 10, dim=dim)
    cache, late = writer(tmp_path / "v", dim=dim), reader(tmp_path / "v", dim=dim)
    done = 0
    for until in (SEGMENT_ROWS - 3, SEGMENT_ROWS + 3, count, count + 10):
        cache.append(rows[done:until], vectors[done:until])
        cache.commit(until)
        done = until
        assert late.refresh()
        for where in (None, VectorFilter(sessions=[2]), VectorFilter(after=SEGMENT_ROWS - 9), VectorFilter(roles=4)):
            ids, _ = late.search(vectors[until - 1], 20, where)
            by_hand = brute_force(rows[:until], vectors[:until], vectors[until - 1], 20, where)
            assert ids.tolist() == [chunk_id for chunk_id, _ in by_hand]
    cache.drop([count, SEGMENT_ROWS])
    cache.commit(count + 10)
    late.refresh()
    assert len(late) == count + 8
    assert not {count, SEGMENT_ROWS} & set(late.search(vectors[count - 1], 50)[0].tolist())
    cache.close()


@pytest.mark.parametrize("sessions", [[1 << 40], [-5, 1 << 40], [-5], [(1 << 62) + 3]])
def test_session_numbers_may_be_of_any_size(tmp_path: Path, sessions: list[int]) -> None:
    known = [*sessions, 3, 1 << 41]
    cache = writer(tmp_path / "v")
    cache.append([VectorRow(n + 1, session) for n, session in enumerate(known)], vectors_of(len(known)))
    cache.commit(9)
    ids, _ = cache.search(vectors_of(1)[0], 9, VectorFilter(sessions=sessions))
    assert sorted(ids.tolist()) == list(range(1, len(sessions) + 1))
    cache.close()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6])
def test_a_vector_that_is_no_number_is_refused_and_nothing_changes(tmp_path: Path, value: float) -> None:
    cache = filled(tmp_path / "v", 3)
    vectors = vectors_of(2, seed=1)
    vectors[1, 3] = value
    with np.errstate(over="ignore"), pytest.raises(StoreError, match="half precision cannot"):
        cache.append(rows_of(2, first=4), vectors)
    cache.commit(5)
    assert cache.chunk_ids().tolist() == [1, 2, 3]
    cache.close()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.1, 0.01, 0.002])
def test_rows_whose_codes_stand_in_another_order_than_their_vectors_are_ranked_by_their_vectors(
    tmp_path: Path, seed: int, noise: float
) -> None:
    dim, count = 64, 3000
    rows, base = rows_of(count), vectors_of(1, seed, dim)
    vectors = base + noise * vectors_of(count, seed + 10, dim)
    query = (base + noise * vectors_of(1, seed + 20, dim))[0]
    cache = writer(tmp_path / "v", dim=dim)
    cache.append(rows, vectors)
    cache.commit(count)
    for limit in (1, 10, 128):
        ids, _ = cache.search(query, limit)
        assert ids.tolist() == [chunk_id for chunk_id, _ in brute_force(rows, vectors, query, limit, None)]
    cache.close()


SMALL = [1, 0.0039]
"""The second number has the code 0: it is less than half of the first one's 127th part."""


@pytest.mark.parametrize(("rows", "query"), [([SMALL, [0, 0.0025]], [0, 1]), ([[0, 1], [0.0025, 0]], SMALL)])
def test_what_a_code_leaves_out_of_a_row_or_of_the_query_may_decide(
    tmp_path: Path, rows: list[list[float]], query: list[float]
) -> None:
    cache = writer(tmp_path / "v", dim=2)
    cache.append([VectorRow(1), VectorRow(2)], np.array(rows))
    cache.commit(2)
    assert cache.search(np.array(query), 1)[0].tolist() == [1]
    cache.close()
