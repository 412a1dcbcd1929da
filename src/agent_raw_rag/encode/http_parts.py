"""Texts -> requests that a server takes: made sendable, batched, and cut into halves where it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from agent_raw_rag.encode.http_client import RefusedError
from agent_raw_rag.errors import TextRefusedError

EMPTY = "(empty)"
"""Sent for a text without a visible character: several servers refuse those."""
TOO_MUCH = frozenset({400, 413, 422, 500})
"""What servers answer when a batch or a text is too large for them: vLLM 400, TEI 413 or 422, llama.cpp 400 or 500."""

Answer = TypeVar("Answer")


def sendable(text: str) -> str:
    """A text that is valid JSON in UTF-8 (a lone surrogate becomes ``?``) and not empty."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return clean if clean.strip() else EMPTY


def batches(texts: Sequence[str], most_texts: int, most_chars: int) -> Iterator[Sequence[str]]:
    """The texts in order, in batches within both limits; a text that is longer than the limit stands alone."""
    start = chars = 0
    for place, text in enumerate(texts):
        if place > start and (place - start == most_texts or chars + len(text) > most_chars):
            yield texts[start:place]
            start, chars = place, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]


def in_halves(texts: Sequence[str], ask: Callable[[Sequence[str]], list[Answer]]) -> list[Answer]:
    """One answer a text, in order. What the server refuses as a batch is asked in halves: it may be too large.

    Raises:
        TextRefusedError: a single text is refused; the message says how long it is. Else as ``ask``.
    """
    try:
        return ask(texts)
    except RefusedError as error:
        if error.status not in TOO_MUCH:
            raise
        if len(texts) == 1:
            raise TextRefusedError(f"{error.message} The text has {len(texts[0]):,} characters.", hint=_HINT) from error
    middle = len(texts) // 2
    return in_halves(texts[:middle], ask) + in_halves(texts[middle:], ask)


_HINT = "If it is too long: let the server cut texts, or give the model a longer context."
