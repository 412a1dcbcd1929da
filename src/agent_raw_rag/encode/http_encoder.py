"""Any server with OpenAI's ``/v1/embeddings``: Ollama, LM Studio, llama.cpp, vLLM, TEI, OpenAI itself.

The vector space is named by what the model is, not by where it runs: model name, ``revision``, dimension and instruction. The url
is no part of it, so a server may move. Two servers that give one name to different weights would share a space: give one of
them another ``revision``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from agent_raw_rag.encode.base import Space, Vectors
from agent_raw_rag.encode.http_client import HttpClient
from agent_raw_rag.encode.http_connection import Connection
from agent_raw_rag.encode.http_models import offered, only_model
from agent_raw_rag.encode.http_parts import batches, in_halves, sendable
from agent_raw_rag.encode.http_patience import Patience, Timing
from agent_raw_rag.encode.http_vectors import read_vectors
from agent_raw_rag.encode.instructions import instructed, known_instruction
from agent_raw_rag.errors import ModelError

QUERY_SECONDS = 3.0
"""A search waits no longer for a query's vector; then it ranks by words alone."""
PROBE = "dimension"
"""The text whose vector shows the dimension."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was configured; what is left out is found out from the server."""

    model: str = ""
    dim: int = 0
    instruction: str | None = None
    """None: by the model's name; empty: none."""
    revision: str = ""
    """Tells apart models of one name."""
    ask_dim: bool = False
    """Let the server shorten its vectors to ``dim`` (``dimensions``: OpenAI, and Matryoshka models in vLLM)."""


class HttpEncoder:
    """An ``Encoder``. Nothing is asked before it is needed; safe to use from several threads."""

    english_only = False
    unrelated_cosine = None

    def __init__(
        self, url: str, *, model: str = "", dim: int = 0, instruction: str | None = None, revision: str = "",
        ask_dim: bool = False, key_variable: str = "", timeout_seconds: float = 60.0,
        query_seconds: float = QUERY_SECONDS, batch_texts: int = 32, batch_chars: int = 65_536, retries: int = 4,
        environment: Mapping[str, str], timing: Timing | None = None,
    ) -> None:  # fmt: skip
        """Raises ConfigError for a url that is none."""
        self._connection = Connection(url, key_variable=key_variable, environment=environment)
        long = Patience(timeout_seconds, timeout_seconds * (retries + 1), retries)
        self._long = HttpClient(self._connection, long, timing=timing)
        self._brief = HttpClient(self._connection, Patience(query_seconds, query_seconds), timing=timing)
        self._asked = Asked(model, dim, instruction, revision, ask_dim)
        self._batch_texts, self._batch_chars = batch_texts, batch_chars
        self._lock = Lock()
        self._space: Space | None = None

    @property
    def space(self) -> Space:
        """Known at once if model and dimension are configured, else after one or two short requests, which are remembered.

        Raises:
            ModelError: the server cannot be asked, or offers several models.
        """
        return self._found(self._brief)

    def discover(self) -> Space:
        """The same with the patience of a long run: a server that loads its model first is waited for. Raises as ``space``."""
        return self._found(self._long)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """[n, dim]; see ``Encoder``.

        Raises:
            ModelError: the server cannot be reached, refuses a text, or answers with anything but one good vector a text.
        """
        space = self._found(self._long)
        clean = [sendable(text) for text in texts]
        rows: list[Vectors] = []
        for batch in batches(clean, self._batch_texts, self._batch_chars):
            rows += in_halves(batch, lambda part: self._vectors(self._long, space.model, part, space.dim))
        return np.array(rows, np.float32).reshape(len(texts), space.dim)

    def encode_query(self, text: str) -> Vectors:
        """[dim], or an error within seconds, without a second attempt: a search must not hang. Raises as ``encode_passages``."""
        space = self._found(self._brief)
        query = sendable(instructed(space.instruction, text))
        return in_halves([query], lambda part: self._vectors(self._brief, space.model, part, space.dim))[0]

    def close(self) -> None:
        """Give the connections back."""
        self._connection.close()

    # ------------------------------------------------------------ requests

    def _found(self, client: HttpClient) -> Space:
        """The space. Two threads may ask at once, so that no search waits behind a long run; the first answer stays."""
        if self._space is None:
            found = self._ask_space(client)
            with self._lock:
                self._space = self._space or found
        return self._space

    def _ask_space(self, client: HttpClient) -> Space:
        asked = self._asked
        model = asked.model or only_model(offered(client), "embed", "encoder.model").name
        instruction = known_instruction(model) if asked.instruction is None else asked.instruction
        dim = asked.dim or len(self._vectors(client, model, [PROBE], 0)[0])
        return Space(model, f"http {asked.revision}".rstrip(), dim, instruction)

    def _vectors(self, client: HttpClient, model: str, texts: Sequence[str], dim: int) -> list[Vectors]:
        """One request; ``dim`` 0: any dimension."""
        body: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
        if self._asked.ask_dim and self._asked.dim:
            body["dimensions"] = self._asked.dim
        rows = read_vectors(client.post("/v1/embeddings", body), len(texts), client.root)
        if dim and rows and len(rows[0]) != dim:
            raise ModelError(
                f"The embedding server {client.root} answered with {len(rows[0])} dimensions, but {dim} are expected of "
                f"{model}. Nothing was stored.",
                hint="Another model is served, or encoder.dim is wrong; encoder.ask_dim has vectors shortened.",
            )
        return rows
