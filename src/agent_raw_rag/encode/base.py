"""What a model is to the rest: two Protocols, and the name of the space that its vectors live in.

Above: every use case that ranks. Below: one module per kind of model, found through ``registry``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.errors import ModelError

Vectors = NDArray[np.float32]


LENGTH_TOLERANCE = 1e-3
"""By which a vector's length may differ from 1."""


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space. Vectors of two spaces are never compared, whatever their dimensions."""

    model: str
    revision: str
    """Of the weights: a checksum or a commit."""
    dim: int
    instruction: str = ""
    """What stands before a query, if anything."""

    @property
    def name(self) -> str:
        """A short, stable name that may be a file name: readable head, dimension, hash of all four facts."""
        facts = "\0".join((self.model, self.revision, str(self.dim), self.instruction))
        digest = hashlib.blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        head = re.sub(r"[^a-z0-9]+", "-", self.model.rpartition("/")[2].lower()).strip("-")[:32]
        return f"{head or 'model'}-{self.dim}-{digest}"


def checked_vectors(vectors: Vectors, count: int, space: Space) -> Vectors:
    """The same vectors, found to be ``count`` rows of the space's dimension, finite and of length 1.

    Raises:
        ModelError: they are not. Nothing of them may be stored.
    """
    if vectors.shape != (count, space.dim):
        raise ModelError(
            f"The model of {space.name} gave vectors of shape {vectors.shape} for {count} texts of {space.dim} dimensions.",
            hint="Has the model changed? Nothing was stored; configure the model that is there now.",
        )
    if not np.isfinite(vectors).all():
        raise ModelError(f"The model of {space.name} gave vectors that are not numbers.", hint="Nothing was stored.")
    lengths = np.linalg.norm(vectors, axis=1)
    if count and abs(lengths - 1).max() > LENGTH_TOLERANCE:
        raise ModelError(
            f"The model of {space.name} gave vectors that are not of length 1.", hint="Nothing was stored."
        )
    return vectors


class Encoder(Protocol):
    """A text -> its vector. The same text gives the same vector, whatever is encoded beside it."""

    @property
    def space(self) -> Space:
        """Known without loading the model."""
        ...

    @property
    def english_only(self) -> bool:
        """Whether it makes nothing of a query in another script."""
        ...

    @property
    def unrelated_cosine(self) -> tuple[float, float] | None:
        """Cosines below which the nearest passage is not about the query: where it shares a word with anything stored, and
        where it does not. None: not known, so that nearness alone never silences an answer."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """[n, dim], rows of length 1, in the order of the texts. Any text is taken, an empty one too.

        Raises:
            ModelError: the model is missing or damaged.
        """
        ...

    def encode_query(self, text: str) -> Vectors:
        """[dim], of length 1, with the space's instruction. Raises as ``encode_passages``."""
        ...


@runtime_checkable
class Discovers(Protocol):
    """An encoder whose space is found out elsewhere, which may take its time."""

    def discover(self) -> Space:
        """The space, with the patience of a long run. Raises ModelError."""
        ...


class Reranker(Protocol):
    """A query and passages -> how well each answers it."""

    @property
    def name(self) -> str:
        """Model and size, for people."""
        ...

    @property
    def is_probability(self) -> bool:
        """Scores are probabilities (0 to 1), so that a threshold means something; else only their order counts."""
        ...

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better.

        Raises:
            ModelError: the model is missing or damaged.
        """
        ...
