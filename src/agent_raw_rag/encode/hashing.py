"""A toy encoder that needs no model: hashed words. For tests and for measuring everything but the model; never chosen by itself.

Feature hashing (Weinberger et al. 2009): each word adds +1 or -1 to one place, so texts that share words are near.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from agent_raw_rag.encode.base import Space, Vectors
from agent_raw_rag.encode.late import TokenStates

_words = re.compile(r"[a-z0-9]+|[^\Wa-z0-9_]").findall
_placed_words = re.compile(r"[A-Za-z0-9]+|[^\WA-Za-z0-9_]").finditer


class HashingEncoder:
    """An ``Encoder`` and ``TokenEncoder``: deterministic on every machine, without memory or files."""

    english_only = True
    unrelated_cosine = (0.56, 0.65)

    def __init__(self, dim: int = 256) -> None:
        self._space = Space("hashing", "1", dim)

    @property
    def space(self) -> Space:
        """Its own for each dimension."""
        return self._space

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """[n, dim]; a text without words gets one place of its own."""
        rows = [self.encode_query(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self._space.dim)

    def encode_query(self, text: str) -> Vectors:
        """[dim]; queries are encoded like passages."""
        vector = np.zeros(self._space.dim, dtype=np.float32)
        for word, count in Counter(_words(text.casefold())).items():
            place, sign = self._place(word)
            vector[place] += sign * count
        if not vector.any():
            vector[self._place("")[0]] = 1.0
        return vector / np.float32(np.linalg.norm(vector))

    def token_states(self, text: str) -> TokenStates:
        """[n, dim]: a state is the word's own place, so two are as near as 1 if the words are equal."""
        found = list(_placed_words(text))
        vectors = np.zeros((len(found), self._space.dim), dtype=np.float32)
        for row, match in enumerate(found):
            place, sign = self._place(match[0].casefold())
            vectors[row, place] = sign
        return TokenStates(vectors, np.array([match.span() for match in found], dtype=np.int32).reshape(-1, 2))

    def query_states(self, text: str) -> TokenStates:
        """[n, dim]; queries are encoded like passages."""
        return self.token_states(text)

    def _place(self, word: str) -> tuple[int, int]:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        return (number >> 1) % self._space.dim, 1 if number & 1 else -1
