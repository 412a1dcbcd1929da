"""Caps a stretch of readable reasoning: short ones whole, long ones by head and tail."""

from __future__ import annotations

from agent_raw_rag.models import Tokenizer

WHOLE = 512
HEAD = 128
TAIL = 256
_LONG = 200_000
_EDGE = 8_192
"""Of a text of more than ``_LONG`` characters only this much at each end is cut into tokens."""


def capped(text: str, tokenizer: Tokenizer) -> str:
    """At most 512 tokens whole; of more, the first 128 and the last 256 with the omission stated between."""
    if len(text) <= WHOLE and len(text.encode()) <= WHOLE:
        return text  # a token is a byte at least
    if len(text) > _LONG:
        head, tail = _head(tokenizer.encode(text[:_EDGE]), tokenizer), _tail(tokenizer.encode(text[-_EDGE:]), tokenizer)
        return f"{head} […{len(text) - len(head) - len(tail)} characters omitted…] {tail}"
    tokens = tokenizer.encode(text)
    if len(tokens) <= WHOLE:
        return text
    omitted = len(tokens) - HEAD - TAIL
    return f"{_head(tokens, tokenizer)} […{omitted} tokens omitted…] {_tail(tokens, tokenizer)}"


def _head(tokens: list[int], tokenizer: Tokenizer) -> str:
    return _whole_characters(tokenizer.decode(tokens[:HEAD]))


def _tail(tokens: list[int], tokenizer: Tokenizer) -> str:
    return _whole_characters(tokenizer.decode(tokens[-TAIL:]))


def _whole_characters(data: bytes) -> str:
    """A cut between tokens may fall inside a character: its bytes go."""
    return data.decode("utf-8", "ignore")
