"""Numbers with their nouns, as every door words them."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
