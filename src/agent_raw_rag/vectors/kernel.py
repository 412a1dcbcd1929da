"""Products of 8-bit codes: whole numbers, exact, so that it makes no difference which library computes them.

simsimd multiplies 8-bit integers with the instructions that the processor has (chosen at run time), and is believed once it has
reproduced the largest numbers that can come. Where there is no wheel of it, numpy does the same at a third of the speed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int8]
Dots = NDArray[np.int32]
Kernel = Callable[[Codes, Codes], Dots]

EXACT_DIMS = 1024
"""So many products of two codes (at most 127 x 127) add up to less than 2**24: exact in single precision."""
STEP_FLOATS = 400_000
"""A product is small enough that OpenBLAS makes it in the calling thread (its bound is 460,800): on a busy machine, waiting for
its other threads costs ten times what they give."""


@cache
def kernel() -> Kernel:
    """The fastest way that is right: (codes [n, dim], query [dim]) -> products [n]."""
    return by_simsimd if _is_right(by_simsimd) else by_numpy


def by_simsimd(codes: Codes, query: Codes) -> Dots:
    """Products by simsimd, in the calling thread. It cannot be told where to put them: with ``out=`` it gives back a None that
    it does not own, which in the end stops Python 3.11.

    Raises:
        ImportError: there is no simsimd.
    """
    import simsimd

    products: NDArray[np.float64] = np.asarray(simsimd.cdist(query[None], codes, metric="dot"))
    whole: Dots = products[0].astype(np.int32)
    return whole


def by_numpy(codes: Codes, query: Codes) -> Dots:
    """Products by single-precision products of pieces that cannot round."""
    found = np.zeros(len(codes), np.int32)
    for low in range(0, len(query), EXACT_DIMS):
        wide = query[low : low + EXACT_DIMS].astype(np.float32)
        step = max(1, STEP_FLOATS // len(wide))
        for first in range(0, len(codes), step):
            part = codes[first : first + step, low : low + EXACT_DIMS].astype(np.float32)
            found[first : first + step] += (part @ wide).astype(np.int32)
    return found


def _is_right(way: Kernel) -> bool:
    """Whether a way can be used, and gets right what 16-bit sums or single precision would get wrong."""
    try:
        return all(np.array_equal(way(*pair), by_numpy(*pair)) for pair in _hard())
    except ImportError:
        return False


def _hard() -> list[tuple[Codes, Codes]]:
    found = []
    for dim in (1, 7, 63, 384, 2563):
        query = np.full(dim, 127, np.int8)
        rows = np.stack([query, -query, (np.arange(dim) % 255 - 127).astype(np.int8)])
        found += [(rows, query), (rows, rows[2])]
    return found
