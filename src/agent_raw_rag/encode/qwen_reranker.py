"""Qwen3-Reranker on MLX: a query and passages -> the probability that each answers it.

Recipe of the model card (Qwen/Qwen3-Reranker-4B): the model is asked for "yes" or "no" in a fixed template; the score is the
softmax of these two words at the last place. Template and query are the same for all passages, so they are computed once.

A query may take half of the room at most, and a passage is cut at its end: a query as long as the window would push every
passage out, and give them all one score.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock

from agent_raw_rag.encode.batches import batches
from agent_raw_rag.encode.fingerprint import fingerprint
from agent_raw_rag.encode.known_models import DEFAULT_RERANKER
from agent_raw_rag.encode.mlx_thread import Resident
from agent_raw_rag.encode.qwen_prompts import HEAD, INSTRUCTION, NO, TAIL, YES, answer_text, question_text
from agent_raw_rag.encode.qwen_resident import Loaded, resident
from agent_raw_rag.encode.qwen_tokens import QwenTokens
from agent_raw_rag.encode.weights import Weights, find
from agent_raw_rag.errors import ModelError

MAX_TOKENS = 4096
BATCH_TOKENS = 8192
IDLE_SECONDS = 300.0
LEAST_ROOM = 32
"""Tokens that a query and a passage must have each."""


class QwenReranker:
    """A ``Reranker``. Loads at first use, leaves memory when idle; safe to use from several threads.

    Args:
        model: A repository of the hub, a short name (``known_models``) or a folder. It is never fetched from here.
        instruction: What the search is for, in English.
        max_tokens: Of template, query and passage together.
        batch_tokens: Padded tokens of a batch at most, the shared prefix counted for every passage.
        idle_seconds: When to leave memory; 0: never.
    """

    is_probability = True

    def __init__(
        self, model: str = DEFAULT_RERANKER, *, instruction: str = INSTRUCTION, max_tokens: int = MAX_TOKENS,
        batch_tokens: int = BATCH_TOKENS, idle_seconds: float = IDLE_SECONDS,
    ) -> None:  # fmt: skip
        self._model, self._instruction = model, instruction
        self._max_tokens, self._batch_tokens, self._idle_seconds = max_tokens, batch_tokens, idle_seconds
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The repository's name, or the folder's."""
        with self._lock:
            return self._weights.model.rpartition("/")[2]

    @property
    def resident(self) -> Resident[Loaded]:
        """The model in memory, or not.

        Raises:
            ModelError: its files are missing, incomplete or of another kind.
        """
        with self._lock:
            return self._resident

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """P(yes) of each passage, 0 to 1, in their order; see ``Reranker``. A passage's score does not depend on the others."""
        if not passages:
            return []
        return self.resident.use(lambda loaded: self._score(loaded, query, passages), urgent=True)

    def _score(self, loaded: Loaded, query: str, passages: Sequence[str]) -> list[float]:
        tokens, network = loaded.tokens, loaded.network
        no_yes = network.head_rows([tokens.token(NO), tokens.token(YES)])
        head, tail = tokens.prompt(HEAD), tokens.prompt(TAIL)
        begin = [*head, *self._question(tokens, query, self._max_tokens - len(head) - len(tail))]
        room = self._max_tokens - len(begin) - len(tail)
        rows = [[*tokens.ids(answer_text(passage), room), *tail] for passage in passages]
        prefix = network.prefix(begin)
        scores = [0.0] * len(rows)
        for places in batches([len(begin) + len(row) for row in rows], self._batch_tokens):
            found = network.probabilities([rows[place] for place in places], prefix, no_yes)
            for place, score in zip(places, found, strict=True):
                scores[place] = score
        return scores

    def _question(self, tokens: QwenTokens, query: str, room: int) -> list[int]:
        """Ids of instruction and query; the query's end is cut off where it would take more than half of what both have."""
        share = (room - len(tokens.ids(question_text(self._instruction, ""), self._max_tokens))) // 2
        if share < LEAST_ROOM:
            raise ModelError(
                f"{self._max_tokens} tokens leave no room for a query and a passage.",
                hint="Give the reranker more tokens, or a shorter instruction.",
            )
        return tokens.ids(question_text(self._instruction, tokens.cut(query, share)), self._max_tokens)

    @cached_property
    def _weights(self) -> Weights:
        return find(self._model)

    @cached_property
    def _resident(self) -> Resident[Loaded]:
        return resident(self._model, fingerprint(self._weights), self._idle_seconds, with_head=True)
