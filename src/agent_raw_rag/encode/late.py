"""Token states: text -> one vector a token, for rankers that compare a question with a passage word by word.

"Late interaction" after Khattab and Zaharia 2020 (ColBERT); here over an encoder that was trained for single vectors only.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.encode.base import Space, Vectors


@dataclass(frozen=True, slots=True)
class TokenStates:
    """The tokens of one text, without the marks that a model puts around them."""

    vectors: Vectors
    """[n, dim], rows of length 1; n is 0 for a text without tokens."""
    spans: NDArray[np.int32]
    """[n, 2]: where each token begins and ends in the text, in characters."""


@runtime_checkable
class TokenEncoder(Protocol):
    """A text -> its token states. The same text gives the same states, whatever was encoded before it."""

    @property
    def space(self) -> Space:
        """Of the model. Raises as ``Encoder.space``."""
        ...

    @property
    def english_only(self) -> bool:
        """As ``Encoder.english_only``."""
        ...

    def token_states(self, text: str) -> TokenStates:
        """Of a passage; what lies beyond the model's limit is not seen.

        Raises:
            ModelError: the model is missing or damaged.
        """
        ...

    def query_states(self, text: str) -> TokenStates:
        """Of a query, encoded behind the space's instruction, whose own tokens are left out. Raises as ``token_states``."""
        ...


class LateReader:
    """Late interaction over an encoder that is loaded anyway: two texts at a time."""

    def __init__(self, encoder: TokenEncoder, workers: int = 2) -> None:
        self._encoder = encoder
        self._workers = workers

    @property
    def name(self) -> str:
        """For people."""
        return f"late interaction ({self._encoder.space.model})"

    @property
    def english_only(self) -> bool:
        """Whether it makes nothing of a query in another script."""
        return self._encoder.english_only

    def query_states(self, text: str) -> TokenStates:
        """Of a query. Raises ModelError."""
        return self._encoder.query_states(text)

    def all_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Of passages, in their order. Raises ModelError."""
        if len(texts) < 2:
            return [self._encoder.token_states(text) for text in texts]
        with ThreadPoolExecutor(self._workers, thread_name_prefix="late") as pool:
            return list(pool.map(self._encoder.token_states, texts))


def of_length_one(states: Vectors) -> Vectors:
    """[n, dim] with every row scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    scaled: Vectors = states / np.maximum(lengths, np.float32(1e-12))
    return scaled
