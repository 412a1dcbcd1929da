"""The last word on an answer's length: headers and frames count too. The least wanted is dropped, and that is said.

The readable text keeps to the budget. The structured content says the same and more (provenance, keys): it may cost up to
twice as much.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def keep_within(
    budget: int, items: list[Item], unwanted: Callable[[Item], int], render: Callable[[], tuple[str, object]],
    counts: Callable[[Sequence[str]], list[int]],
) -> int:  # fmt: skip
    """Drop from ``items``, in place, the one with the highest ``unwanted`` while the answer is too long. One always stays.

    ``counts``: texts -> the tokens of each.

    Returns:
        How many were dropped.
    """
    before = len(items)
    while len(items) > 1 and _cost(*render(), counts) > budget:
        items.remove(max(items, key=unwanted))
    return before - len(items)


def _cost(text: str, content: object, counts: Callable[[Sequence[str]], list[int]]) -> int:
    readable, structured = counts([text, json.dumps(content, ensure_ascii=False)])
    return max(readable, structured // 2)
