"""The last word on an answer's length: headers and frames count too. The least wanted is dropped, and that is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from agent_raw_rag.models import Tokenizer

Item = TypeVar("Item")


def keep_within(
    budget: int, items: list[Item], unwanted: Callable[[Item], int], render: Callable[[], str], tokenizer: Tokenizer
) -> int:
    """Drop from ``items``, in place, the one with the highest ``unwanted`` while the text is too long. One always stays.

    Returns:
        How many were dropped.
    """
    before = len(items)
    while len(items) > 1 and len(tokenizer.encode(render())) > budget:
        items.remove(max(items, key=unwanted))
    return before - len(items)
