"""Metrics: by hand, against their definitions, and by law."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.evals.metrics import KS, Found, found, mean, measures, percentile, recall

IDS = "abcdefgh"
Ranked = list[list[str]]
Gold = list[frozenset[str]]

windows = st.lists(st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True), max_size=20)
golds = st.lists(st.frozensets(st.sampled_from(IDS + "xyz"), min_size=1, max_size=2), min_size=1, max_size=4)


def score(ranked: Ranked, *gold: str) -> dict[str, float]:
    """Gold turns as one text each, turns that stand for each other side by side; every turn is ten characters long."""
    return measures(found(ranked, [frozenset(group) for group in gold], lambda name: 10))


@pytest.mark.parametrize(
    ("ranked", "gold", "expected"),
    [
        ([["a"], ["b"], ["c"]], ["a"], {"recall@1": 1, "hit@1": 1, "all@1": 1, "MRR": 1, "nDCG@10": 1, "chars@1": 10}),
        ([["a"], ["b"], ["c"]], ["c"], {"recall@1": 0, "recall@3": 1, "MRR": 1 / 3, "nDCG@10": 0.5, "chars@3": 30}),
        ([["a", "b"], ["c", "d"]], ["b", "d"], {"recall@1": 0.5, "hit@1": 1, "all@1": 0, "all@3": 1, "chars@5": 40}),
        ([["a"], ["b"]], ["ab"], {"recall@1": 1, "all@1": 1, "nDCG@10": 1}),
        ([["b"], ["a"]], ["ax", "y"], {"recall@1": 0, "recall@3": 0.5, "MRR": 0.5, "all@15": 0}),
        ([["a", "b", "c"]], ["a", "b", "c"], {"recall@1": 1, "nDCG@10": 1, "chars@1": 30}),
        ([], ["a"], {"recall@15": 0, "hit@15": 0, "MRR": 0, "nDCG@10": 0, "chars@15": 0}),
    ],
)
def test_metrics_of_a_list_as_counted_by_hand(ranked: Ranked, gold: list[str], expected: dict[str, float]) -> None:
    shown = score(ranked, *gold)
    assert {name: shown[name] for name in expected} == pytest.approx(expected)


def test_two_pieces_of_evidence_at_ranks_two_and_four() -> None:
    shown = score([["a"], ["b"], ["c"], ["d"]], "b", "d")
    gain, ideal = 1 / math.log2(3) + 1 / math.log2(5), 1 + 1 / math.log2(3)
    assert shown["nDCG@10"] == pytest.approx(gain / ideal)
    assert (shown["recall@3"], shown["recall@5"], shown["MRR"]) == (0.5, 1.0, 0.5)


def test_a_rank_beyond_the_depth_counts_for_nothing() -> None:
    ranked = [["a"]] * 100 + [["b"]]
    assert score(ranked, "b")["MRR"] == 0.0
    assert found(ranked, [frozenset("b")], lambda name: 1) == Found((0,), tuple(range(1, KS[-1] + 1)))


@given(windows, golds)
def test_shares_grow_with_k_and_stay_between_zero_and_one(ranked: Ranked, gold: Gold) -> None:
    shown = measures(found(ranked, gold, len))
    for name in ("recall", "hit", "all", "chars"):
        values = [shown[f"{name}@{k}"] for k in KS]
        assert values == sorted(values)
    assert all(0 <= value <= 1 for name, value in shown.items() if not name.startswith("chars"))
    assert all(shown[f"all@{k}"] <= shown[f"recall@{k}"] <= shown[f"hit@{k}"] for k in KS)


@given(windows, golds)
def test_metrics_equal_their_definitions(ranked: Ranked, gold: Gold) -> None:
    shown = measures(found(ranked, gold, lambda name: ord(name)))
    for k in KS:
        seen = {name for ids in ranked[:k] for name in ids}
        assert shown[f"recall@{k}"] == pytest.approx(sum(bool(group & seen) for group in gold) / len(gold))
        assert shown[f"chars@{k}"] == sum(ord(name) for ids in ranked[:k] for name in ids)
    first = [rank for rank, ids in enumerate(ranked, start=1) if any(group & set(ids) for group in gold)]
    assert shown["MRR"] == (1 / first[0] if first else 0.0)


@given(st.integers(1, 12))
def test_a_perfect_ranking_of_turns_scores_as_high_as_can_be(size: int) -> None:
    gold = [frozenset([f"t{place}"]) for place in range(size)]
    shown = measures(found([list(group) for group in gold], gold, len))
    assert shown["MRR"] == 1.0
    assert shown["nDCG@10"] == pytest.approx(1.0)
    assert all(shown[f"recall@{k}"] == pytest.approx(min(k, size) / size) for k in KS)


@given(windows, golds, st.randoms(use_true_random=False))
def test_the_order_inside_a_window_and_of_the_gold_does_not_matter(ranked: Ranked, gold: Gold, chance) -> None:  # type: ignore[no-untyped-def]
    shuffled = [chance.sample(ids, len(ids)) for ids in ranked]
    other = chance.sample(gold, len(gold))
    assert measures(found(shuffled, other, len)) == pytest.approx(measures(found(ranked, gold, len)))


@given(windows, golds)
def test_what_follows_the_last_piece_of_evidence_changes_no_share(ranked: Ranked, gold: Gold) -> None:
    one, longer = (found(pages, gold, len) for pages in (ranked, [*ranked, ["nothing"]]))
    assert [recall(one, k) for k in KS] == [recall(longer, k) for k in KS]


def test_means_and_percentiles() -> None:
    assert mean([{"x": 1.0, "y": 0.0}, {"x": 0.0, "y": 0.0}]) == {"x": 0.5, "y": 0.0}
    assert [percentile([3, 1, 2, 4], share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 3, 4, 4]
    assert percentile([], 0.5) == 0.0
