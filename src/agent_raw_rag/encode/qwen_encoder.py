"""Qwen3-Embedding on MLX: the flagship encoder.

Recipe of the model card (Qwen/Qwen3-Embedding-4B): instruction before queries only, ``<|endoftext|>`` behind every text, whose
state is the vector, length 1. Any dimension from 32 up: the first numbers of the full vector, brought to length 1 again (MRL).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from threading import Lock

import numpy as np

from agent_raw_rag.encode.base import Space, Vectors
from agent_raw_rag.encode.batches import batches
from agent_raw_rag.encode.fingerprint import fingerprint
from agent_raw_rag.encode.known_models import DEFAULT_ENCODER
from agent_raw_rag.encode.mlx_thread import Resident
from agent_raw_rag.encode.qwen_prompts import END, INSTRUCTION, instruction_text, query_text
from agent_raw_rag.encode.qwen_resident import Loaded, resident
from agent_raw_rag.encode.weights import Weights, find
from agent_raw_rag.errors import ModelError

LEAST_DIM = 32
"""Of the model card."""
MAX_TOKENS = 8192
BATCH_TOKENS = 8192
"""Of a batch, padding included: 32 chunks of 256 tokens. Intermediate states of 4B take about 0.5 GB then."""
IDLE_SECONDS = 300.0


class QwenEncoder:
    """An ``Encoder``. Loads at first use, leaves memory when idle; safe to use from several threads.

    Args:
        model: A repository of the hub, a short name (``known_models``) or a folder. It is never fetched from here.
        dim: Of the vectors; 0: the model's own.
        instruction: What the search is for, in English; "" for none.
        max_tokens: The rest of a longer text is not seen.
        batch_tokens: Padded tokens of a batch, at most.
        idle_seconds: When to leave memory; 0: never.
    """

    english_only = False
    unrelated_cosine = None

    def __init__(
        self, model: str = DEFAULT_ENCODER, *, dim: int = 0, instruction: str = INSTRUCTION, max_tokens: int = MAX_TOKENS,
        batch_tokens: int = BATCH_TOKENS, idle_seconds: float = IDLE_SECONDS,
    ) -> None:  # fmt: skip
        self._model, self._dim, self._instruction = model, dim, instruction
        self._max_tokens, self._batch_tokens, self._idle_seconds = max(2, max_tokens), batch_tokens, idle_seconds
        self._lock = Lock()

    @property
    def space(self) -> Space:
        """Known from the files alone.

        Raises:
            ModelError: they are missing, incomplete or of another kind, or the dimension is out of range.
        """
        with self._lock:
            return self._space

    @property
    def resident(self) -> Resident[Loaded]:
        """The model in memory, or not."""
        with self._lock:
            return self._resident

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """[n, dim]; see ``Encoder``. Texts of like length share a batch, which changes no vector."""
        return self._encode(texts, urgent=False)

    def encode_query(self, text: str) -> Vectors:
        """[dim]; see ``Encoder``. Overtakes passages that wait."""
        vector: Vectors = self._encode([query_text(self._instruction, text)], urgent=True)[0]
        return vector

    def _encode(self, texts: Sequence[str], *, urgent: bool) -> Vectors:
        dim, resident = self.space.dim, self.resident
        rows = resident.use(lambda loaded: self._ids(loaded, texts), urgent=urgent)
        found = np.empty((len(texts), dim), dtype=np.float32)
        for places in batches([len(row) for row in rows], self._batch_tokens):
            batch = partial(_vectors, rows=[rows[place] for place in places], dim=dim)
            found[places] = resident.use(batch, urgent=urgent)
        return found

    def _ids(self, loaded: Loaded, texts: Sequence[str]) -> list[list[int]]:
        end = loaded.tokens.token(END)
        return [[*loaded.tokens.ids(text, self._max_tokens - 1), end] for text in texts]

    @cached_property
    def _weights(self) -> Weights:
        return find(self._model)

    @cached_property
    def _space(self) -> Space:
        weights = self._weights
        dim = self._dim or weights.hidden
        if not LEAST_DIM <= dim <= weights.hidden:
            raise ModelError(
                f"{weights.model} cannot give {dim} dimensions.",
                hint=f"Give a number from {LEAST_DIM} to {weights.hidden}.",
            )
        return Space(weights.model, fingerprint(weights), dim, instruction_text(self._instruction))

    @cached_property
    def _resident(self) -> Resident[Loaded]:
        return resident(self._model, self._space.revision, self._idle_seconds, with_head=False)


def _vectors(loaded: Loaded, rows: list[list[int]], dim: int) -> Vectors:
    vectors: Vectors = loaded.network.unit_vectors(rows, dim)
    return vectors
