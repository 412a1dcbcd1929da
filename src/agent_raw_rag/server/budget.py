"""The last word on an answer's length: headers and frames count too. The least wanted is dropped, and that is said.

The readable text keeps to the budget. The structured content says the same and more (provenance, keys): it may cost up to
twice as much.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from agent_raw_rag.models import Tokenizer

Item = TypeVar("Item")


def keep_within(
    budget: int, items: list[Item], unwanted: Callable[[Item], int], render: Callable[[], tuple[str, object]],
    tokenizer: Tokenizer,
) -> int:  # fmt: skip
    """Drop from ``items``, in place, the one with the highest ``unwanted`` while the answer is too long. One always stays.

    Returns:
        How many were dropped.
    """
    before = len(items)
    while len(items) > 1 and _cost(*render(), tokenizer) > budget:
        items.remove(max(items, key=unwanted))
    return before - len(items)


def _cost(text: str, content: object, tokenizer: Tokenizer) -> int:
    structured = len(tokenizer.encode(json.dumps(content, ensure_ascii=False)))
    return max(len(tokenizer.encode(text)), structured // 2)
