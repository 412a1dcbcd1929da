"""An encoder that lets the daemon work where it serves the same vector space, and works by itself where it does not.

The vectors are the same to the last bit either way: the same model in the same version, and float32 travels as its bytes.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agent_raw_rag.encode.base import Encoder, Space, Vectors, checked_vectors
from agent_raw_rag.encode.daemon_fallback import Spare
from agent_raw_rag.encode.daemon_link import Link
from agent_raw_rag.encode.daemon_states import STATES_PATH, unpacked
from agent_raw_rag.encode.http_parts import batches
from agent_raw_rag.encode.late import TokenEncoder, TokenStates
from agent_raw_rag.errors import ModelError

PASSAGES_SECONDS = 120.0
"""For one batch. Who makes vectors of a backlog has patience, and a second copy of a big model is the worse choice."""
BATCH_TEXTS = 32
BATCH_CHARS = 262_144


class DaemonEncoder:
    """An ``Encoder`` in front of a local one, whose space it has. Safe to use from several threads."""

    def __init__(
        self, local: Encoder, link: Link, *, query_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``query_seconds``: how long a search waits for the daemon. ``clock``: for how long an unused local model is kept."""
        self.local = local
        self._query_seconds = query_seconds
        self._link = link
        self._spare = Spare(local, clock)

    @property
    def space(self) -> Space:
        """The local encoder's; nobody is asked."""
        return self.local.space

    @property
    def english_only(self) -> bool:
        """As the local one."""
        return self.local.english_only

    @property
    def unrelated_cosine(self) -> tuple[float, float] | None:
        """As the local one."""
        return self.local.unrelated_cosine

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """[n, dim]; see ``Encoder``. Batches go to the daemon while it is there. Raises as the local encoder."""
        parts = [self._passages(part) for part in batches(texts, BATCH_TEXTS, BATCH_CHARS)]
        return np.concatenate(parts) if parts else np.zeros((0, self.space.dim), dtype=np.float32)

    def encode_query(self, text: str) -> Vectors:
        """[dim]; see ``Encoder``. Raises as the local encoder."""
        found = self._asked([text], "query", self._query_seconds)
        if found is not None:
            row: Vectors = found[0]
            return row
        self._spare.used()
        return self.local.encode_query(text)

    def _passages(self, texts: Sequence[str]) -> Vectors:
        found = self._asked(texts, "passage", PASSAGES_SECONDS)
        if found is not None:
            return found
        self._spare.used()
        return self.local.encode_passages(texts)

    def _asked(self, texts: Sequence[str], kind: str, seconds: float) -> Vectors | None:
        """The daemon's vectors; None: it is away, serves another space, or fails."""
        space, health = self.space, self._link.health()
        if health is None or space.name not in health.spaces:
            return None
        body = {"model": space.name, "input": list(texts), "input_type": kind, "encoding_format": "base64"}
        answer = self._link.ask("/v1/embeddings", body, seconds)
        if answer is None:
            return None
        try:
            found = checked_vectors(_vectors(answer), len(texts), space)
        except ModelError:
            self._link.lost()
            return None
        self._spare.idle()
        return found


class DaemonTokenEncoder(DaemonEncoder):
    """The same in front of an encoder that gives token states too: what ranks by them must not depend on who answers."""

    def __init__(self, local: Encoder, tokens: TokenEncoder, link: Link, *, query_seconds: float) -> None:
        """``tokens``: the local encoder again, as what it is besides. ``query_seconds``: see ``DaemonEncoder``."""
        super().__init__(local, link, query_seconds=query_seconds)
        self._tokens = tokens

    def token_states(self, text: str) -> TokenStates:
        """[n, dim]; see ``TokenEncoder``. Raises as the local encoder."""
        return self._states(text, "passage") or self._tokens.token_states(text)

    def query_states(self, text: str) -> TokenStates:
        """[n, dim]; see ``TokenEncoder``. Raises as the local encoder."""
        return self._states(text, "query") or self._tokens.query_states(text)

    def _states(self, text: str, kind: str) -> TokenStates | None:
        """The daemon's states; None: it is away, serves another space, or fails."""
        space, health = self.space, self._link.health()
        found = None
        if health is not None and space.name in health.spaces:
            body = {"model": space.name, "input": text, "input_type": kind}
            content = self._link.ask_bytes(STATES_PATH, body, self._query_seconds)
            found = None if content is None else unpacked(content, space.dim)
            if content is not None and found is None:
                self._link.lost()
        if found is None:
            self._spare.used()
        else:
            self._spare.idle()
        return found


def _vectors(answer: Any) -> Vectors:
    """[n, dim] of an answer in OpenAI's form. Raises ModelError for any other."""
    try:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        return np.array([np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in rows], np.float32)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise ModelError(f"The daemon answered with something else than vectors: {error}.") from error
