"""Embedding: the backlog of a store, against a bare loop over the same model with the same batches.

    python benchmarks/embed.py LOGS [--chunks 400]

LOGS: a folder of collected logs as ``layout.py`` describes. Prints one JSON object. Both runs alternate, the best of
three counts: the machine's speed varies more than the two differ.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from filling import fill

from agent_raw_rag.derived import cache_files
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.ingest.embed import SLICE, embed_backlog
from agent_raw_rag.store.connection import transaction


def measure(store: Stored) -> dict[str, Any]:
    encoder = EmbeddedEncoder()
    encoder.encode_query("warm")
    texts = [facts.chunk.text for facts in store.reader.chunks_after(0)]
    ours, bare = [], []
    for _ in range(3):
        with transaction(store.connection):
            store.connection.execute("DELETE FROM vectors")
        for file in cache_files(store.home):  # up to where a cache reaches nobody looks for missing vectors
            Path(file).unlink()
        began = time.perf_counter()
        encoded, _, problem, _ = embed_backlog(store.connection, store.home, lambda: encoder)
        ours.append(time.perf_counter() - began)
        assert problem is None and encoded
        began = time.perf_counter()
        for start in range(0, len(texts), SLICE):
            encoder.encode_passages(texts[start : start + SLICE])
        bare.append(time.perf_counter() - began)
    return {
        "chunks": len(texts),
        "encoded": encoded,
        "chunks_per_second": len(texts) / min(ours),
        "bare_chunks_per_second": len(texts) / min(bare),
        "ratio": min(bare) / min(ours),
        "bar_ratio": 0.85,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path)
    parser.add_argument("--chunks", type=int, default=400)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        store = Stored(Path(temporary))
        fill(store, asked.logs, asked.chunks)
        print(json.dumps(measure(store), indent=1))


if __name__ == "__main__":
    main()
