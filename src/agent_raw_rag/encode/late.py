"""Token states: text -> one vector a token, for rankers that compare a question with a passage word by word.

"Late interaction" after Khattab and Zaharia 2020 (ColBERT); here over an encoder that was trained for single vectors only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.encode.base import Space, Vectors

Found = TypeVar("Found")


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


@dataclass(frozen=True, slots=True)
class Late:
    """The wish for late interaction: with the encoder that ranks where it can give token states, else with this one."""

    other: Callable[[], TokenEncoder]

    @property
    def name(self) -> str:
        """For people."""
        return "late interaction with the embedded model"

    def over(self, encoder: object) -> LateReader:
        """The reader. Raises ModelError."""
        return LateReader(encoder if isinstance(encoder, TokenEncoder) else self.other())


class LateReader:
    """Late interaction over one encoder, two texts at a time."""

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

    def query_states(self, text: str, seconds: float | None = None) -> TokenStates | None:
        """Of a query; None: not within so many seconds. Raises ModelError."""
        return self._made([text], self._encoder.query_states, seconds).get(text)

    def passages(
        self, texts: Iterable[str], what: Callable[[TokenStates], Found], seconds: float | None = None
    ) -> dict[str, Found]:
        """Text -> what is made of its states, the first texts first, each once. The states of a window take 400 kB: none is kept.

        ``seconds``: what is not there by then is left out; a model that is loading meanwhile, since the daemon just ended, say,
        goes on with it for the next question. Raises ModelError.
        """
        return self._made(texts, lambda text: what(self._encoder.token_states(text)), seconds)

    def _made(self, texts: Iterable[str], what: Callable[[str], Found], seconds: float | None) -> dict[str, Found]:
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="late")
        try:
            made = {text: pool.submit(what, text) for text in dict.fromkeys(texts)}
            done, _ = wait(made.values(), seconds, FIRST_EXCEPTION)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return {text: future.result() for text, future in made.items() if future in done}


def of_length_one(states: Vectors) -> Vectors:
    """[n, dim] with every row scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    scaled: Vectors = states / np.maximum(lengths, np.float32(1e-12))
    return scaled
