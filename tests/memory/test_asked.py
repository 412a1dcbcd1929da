"""What every question to a memory is held to."""

from __future__ import annotations

import pytest

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.asked import LONGEST_QUERY, bounded_limit, checked_query


@pytest.mark.parametrize(("asked", "shown"), [(-1, 1), (0, 1), (1, 1), (100, 100), (101, 100), (10**6, 100)])
def test_a_limit_is_brought_to_the_nearest_that_is_served(asked: int, shown: int) -> None:
    assert bounded_limit(asked) == shown


def test_a_query_that_is_a_file_is_refused() -> None:
    assert checked_query("x" * LONGEST_QUERY)
    with pytest.raises(BadArgumentError):
        checked_query("x" * (LONGEST_QUERY + 1))
