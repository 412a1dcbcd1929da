"""Arrow 7: chunks without a vector -> vectors. A durable backlog in the store, in chunk order, across all agents.

Each slice is one transaction: killed at any moment, the next run goes on with the rest. A text that has a vector
in the space already costs nothing, whatever chunk it stands in.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.encode.half import to_half
from agent_raw_rag.errors import ModelError
from agent_raw_rag.ingest.feed_vectors import feed_cache
from agent_raw_rag.store.connection import Connection, transaction
from agent_raw_rag.store.vectors import Vectors

SLICE = 64
"""Texts that are encoded and stored together."""
FEED_EVERY_SLICES = 32


def embed_backlog(
    connection: Connection,
    home: str,
    encoder: Callable[[], Encoder | None],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[int, int, str | None]:
    """Encode what has no vector yet, and bring the vector cache up.

    Returns:
        Texts encoded, chunks still without a vector, and why nothing could be encoded (None: all is well).
    """
    try:
        model = encoder()
    except ModelError as error:
        return 0, -1, str(error)
    if model is None:
        return 0, 0, None
    vectors = Vectors(connection, model.space.name)
    missing = vectors.count()[1]
    try:
        encoded = _encode(connection, home, model, vectors, missing, on_progress) if missing else 0
    except ModelError as error:
        return 0, missing, str(error)
    feed_cache(connection, home, model.space)
    return encoded, vectors.count()[1] if missing else 0, None


def _encode(
    connection: Connection, home: str, model: Encoder, vectors: Vectors, missing: int,
    on_progress: Callable[[int, int], None],
) -> int:  # fmt: skip
    encoded = done = slices = after = 0
    while batch := vectors.backlog(after, SLICE):
        texts = {one.hash: one.text for one in batch}
        rows = to_half(model.encode_passages(list(texts.values())))
        with transaction(connection):
            vectors.put(list(zip(texts, rows, strict=True)))
        encoded, done, after, slices = encoded + len(texts), done + len(batch), batch[-1].chunk_id, slices + 1
        on_progress(min(done, missing), missing)
        if slices % FEED_EVERY_SLICES == 0:
            feed_cache(connection, home, model.space)
    return encoded
