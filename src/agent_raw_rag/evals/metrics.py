"""Metrics of one ranked list, and their means. Pure.

A rank is a list of turn ids: one turn, or the turns that a window covers. Gold is a tuple of groups; a rank finds a group if
it holds any of its turns. Shares are fractions, 0 to 1.

    recall@k    share of the gold groups found by the first k ranks
    hit@k       1 if any is            all@k   1 if every one is
    MRR         1 / the first rank that finds any, 0 if none of the first ``DEPTH`` does
    nDCG@10     each group counts 1 / log2(rank + 1) where it is first found; the ideal has one group a rank; at most 1
    chars@k     characters of the turns that the first k ranks hold
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

KS = (1, 3, 5, 10, 15)
DEPTH = 100
"""Ranks that are looked at."""
_DCG = 10


@dataclass(frozen=True, slots=True)
class Found:
    """All that the metrics need to know of a ranked list."""

    ranks: tuple[int, ...]
    """The first rank that finds each gold group, from 1 on; 0: none does."""
    chars: tuple[int, ...]
    """Characters of the first rank, of the first two, and so on, up to the largest k."""


def found(
    ranked: Iterable[Sequence[str]], gold: Sequence[frozenset[str]], chars: Callable[[str], int], depth: int = DEPTH
) -> Found:
    """Where a ranked list finds its gold."""
    first = [0] * len(gold)
    sizes = []
    for rank, ids in zip(range(1, depth + 1), ranked, strict=False):
        for place, group in enumerate(gold):
            if not first[place] and not group.isdisjoint(ids):
                first[place] = rank
        if rank <= KS[-1]:
            sizes.append(sum(map(chars, ids)))
    return Found(tuple(first), tuple(accumulate(sizes)))


def recall(one: Found, k: int) -> float:
    """recall@k of one list."""
    return sum(0 < rank <= k for rank in one.ranks) / len(one.ranks)


def measures(one: Found) -> dict[str, float]:
    """Every metric of one list."""
    shares = {k: recall(one, k) for k in KS}
    best = min((rank for rank in one.ranks if rank), default=0)
    gain = sum(1 / math.log2(rank + 1) for rank in one.ranks if 0 < rank <= _DCG)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(_DCG, len(one.ranks)) + 1))
    return {
        **{f"recall@{k}": share for k, share in shares.items()},
        **{f"hit@{k}": float(share > 0) for k, share in shares.items()},
        **{f"all@{k}": float(share == 1) for k, share in shares.items()},
        "MRR": 1 / best if best else 0.0,
        "nDCG@10": min(1.0, gain / ideal),
        **{f"chars@{k}": float(one.chars[min(k, len(one.chars)) - 1] if one.chars else 0) for k in KS},
    }


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each metric over questions. ``rows`` must not be empty."""
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]}


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of all lies, the nearest of those there are; 0.0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
