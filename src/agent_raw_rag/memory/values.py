"""Metadata: JSON values that somebody says of a note -> values that may be stored. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_raw_rag.errors import BadArgumentError

MOST_KEYS = 64
LONGEST_KEY = 200
MOST_CHARS = 16_000
"""Of all of it, as JSON."""
MOST_TAGS = 20
DEEPEST = 20


def checked_metadata(said: Mapping[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
    """Metadata that may be stored. ``clean``: text from outside -> text that may be stored.

    Raises:
        BadArgumentError: there is too much of it, or it holds what JSON does not.
    """
    if len(said) > MOST_KEYS:
        raise BadArgumentError(f"The metadata has {len(said):,} keys; at most {MOST_KEYS} are taken.")
    long = next((key for key in said if len(key) > LONGEST_KEY or not key), None)
    if long is not None:
        raise BadArgumentError(
            f"The metadata has a key of {len(long):,} characters.", hint=f"1 to {LONGEST_KEY} are taken."
        )
    if canonical(said, DEEPEST) is None:
        raise BadArgumentError(
            "The metadata holds what cannot be kept: a number that is none, or values too deep in others."
        )
    told: dict[str, Any] = clean_values(said, clean)
    if len(json.dumps(told)) > MOST_CHARS:
        raise BadArgumentError(f"The metadata has more than {MOST_CHARS:,} characters.", hint="Say it in the text.")
    return told


def clean_values(said: Any, clean: Callable[[str], str]) -> Any:
    """JSON values with every text in them cleaned, keys too."""
    if isinstance(said, str):
        return clean(said)
    if isinstance(said, Mapping):
        return {clean(key): clean_values(value, clean) for key, value in said.items()}
    if isinstance(said, (list, tuple)):
        return [clean_values(one, clean) for one in said]
    return said


def canonical(value: Any, deepest: int = DEEPEST) -> str | None:
    """A JSON value as one text, equal for equal values: true is not 1. None: it is no JSON value, or too deep."""
    if not _is_flat(value, deepest):
        return None
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except ValueError:  # NaN, or a number of thousands of digits
        return None


def tags_of(said: Any) -> list[str]:
    """Tags as a list of words or as one text with commas. Raises BadArgumentError: they are neither, or too many."""
    words = said.split(",") if isinstance(said, str) else said
    if not isinstance(words, list) or not all(isinstance(one, str) for one in words):
        raise BadArgumentError("The tags are no list of words.")
    if len(words) > MOST_TAGS:
        raise BadArgumentError(f"There are {len(words):,} tags; at most {MOST_TAGS} are taken.")
    return [one for one in words if one.strip()]


def _is_flat(value: Any, deepest: int) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return deepest > 0 and all(_is_flat(one, deepest - 1) for one in inner)
