"""What every question to a memory is held to, whichever layer answers it. Pure."""

from __future__ import annotations

from agent_raw_rag.errors import BadArgumentError

LIMITS = (1, 100)
"""Of an answer: another number is brought to the nearest of them."""
LONGEST_QUERY = 10_000
"""Characters."""


def bounded_limit(limit: int) -> int:
    """How many are shown of what was found."""
    return min(max(limit, LIMITS[0]), LIMITS[1])


def checked_query(query: str) -> str:
    """The query. Raises BadArgumentError: it is no question but a file."""
    if len(query) > LONGEST_QUERY:
        raise BadArgumentError(
            f"The query has {len(query):,} characters.", hint=f"Ask in a sentence or two; at most {LONGEST_QUERY:,}."
        )
    return query
