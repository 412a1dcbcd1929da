"""Bootstrap confidence intervals (percentile method, Efron 1979) over questions. Deterministic: the seed is fixed.

Resampling asks how far a figure would move with other questions about the same conversations. The difference between two
configurations is resampled as one, question by question (paired): what both find easy does not blur it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SEED = 20261130
LEVEL = 0.95
_SLICE = 100

Values = NDArray[np.float64]


def intervals(values: Values, *, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[Values, Values]:
    """Lower and upper end, [m] each, of the means of ``values`` [n questions, m metrics]; n must be at least 1."""
    count = len(values)
    chance = np.random.default_rng(seed)
    shares = np.full(count, 1 / count)
    means = [chance.multinomial(count, shares, size=_SLICE) @ values / count for _ in range(-(-resamples // _SLICE))]
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(np.concatenate(means), [tail, 100 - tail], axis=0)
    return low, high


def table(rows: list[dict[str, float]]) -> tuple[list[str], Values]:
    """Metrics of questions as a matrix [n, m], with the metrics' names."""
    names = list(rows[0])
    return names, np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
