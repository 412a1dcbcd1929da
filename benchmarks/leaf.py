"""Speed of the leaf packages: terms, lexical index, vector cache, encoder, tokenizer.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/leaf.py [--chunks N] [--text FILE ...]

Text is synthetic (words of a Zipf-like distribution with identifiers among them) unless files are given. Prints one JSON
object; resident memory is that of this process after the stage named, peaks included. Bars: terms 20 MB/s; vector search p95
40 ms at 100,000 chunks; encoder at least 0.85 of a bare loop over the same session.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

SYLLABLES = (
    "re",
    "try",
    "up",
    "load",
    "ca",
    "che",
    "par",
    "ser",
    "time",
    "out",
    "in",
    "dex",
    "to",
    "ken",
    "con",
    "fig",
)
ENDINGS = ("", "", "", "s", "ed", "ing", ".py", "_id", "Error", "/main.rs")
SESSION_CHUNKS = 100


def timed(call: Callable[[], Any], runs: int) -> list[float]:
    """Milliseconds of each run."""
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1000)
    return found


def spread(milliseconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {"p50_ms": round(statistics.median(ordered), 2), "p95_ms": round(ordered[int(0.95 * len(ordered))], 2)}


def measured(calls: Sequence[Callable[[], Any]]) -> dict[str, float]:
    """Wall times, and the processor time that a call takes on average: what is left of it on a busy machine."""
    before = time.process_time()
    found = spread([timed(call, 1)[0] for call in calls])
    return {**found, "cpu_ms": round((time.process_time() - before) / len(calls) * 1000, 2)}


def memory() -> dict[str, int]:
    """Resident megabytes now and at most; empty where the system has no /proc."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return {}
    fields = dict(line.split(":", 1) for line in lines)
    return {"rss_mb": int(fields["VmRSS"].split()[0]) // 1024, "peak_mb": int(fields["VmHWM"].split()[0]) // 1024}


def synthetic(count: int, seed: int = 0) -> Iterator[str]:
    """Texts of about 170 words, each a passage with a vocabulary of its own."""
    chance = random.Random(seed)
    vocabulary = [
        "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) + chance.choice(ENDINGS) for _ in range(60_000)
    ]
    for _ in range(count):
        topic = chance.randrange(len(vocabulary) - 400)
        yield " ".join(vocabulary[topic + int(abs(chance.gauss(0, 90))) % 400] for _ in range(170))


def read_chunks(files: list[Path], count: int) -> list[str]:
    """About ``count`` chunks of 1,000 characters out of files; of synthetic text if there is no file."""
    if not files:
        return list(synthetic(count))
    whole = "\n".join(path.read_text("utf-8", "replace") for path in files)
    return [whole[n : n + 1000] for n in range(0, len(whole), 1000)][:count]


def measure_terms(texts: list[str]) -> dict[str, Any]:
    from agent_raw_rag.lexical.terms import term_text

    whole = [("\n".join(texts[n : n + 8])) for n in range(0, len(texts), 8)][:2000]
    size = sum(len(text.encode()) for text in whole) / 1e6
    cold = timed(lambda: [term_text(text) for text in whole], 1)[0]
    warm = min(timed(lambda: [term_text(text) for text in whole], 3))
    return {"cold_mb_per_s": round(size / cold * 1000, 1), "warm_mb_per_s": round(size / warm * 1000, 1)}


def measure_lexical(texts: list[str], count: int, folder: Path) -> dict[str, Any]:
    from agent_raw_rag.lexical.documents import LexicalDoc, LexicalFilter
    from agent_raw_rag.lexical.index import LexicalIndex

    docs = [
        LexicalDoc(
            n + 1,
            texts[n % len(texts)],
            n // SESSION_CHUNKS,
            "one",
            (f"/home/me/project{n % 50}",),
            "main",
            ("user",),
            n,
            n + 5,
        )
        for n in range(count)
    ]
    index = LexicalIndex.open(folder, "g", writable=True)
    start = time.perf_counter()
    for n in range(0, count, 5000):
        index.add(docs[n : n + 5000])
        index.commit(n + 5000)
    built = time.perf_counter() - start
    one = LexicalDoc(count + 1, texts[0])
    append = timed(lambda: (index.add([one]), index.commit(count + 1)), 20)
    index.close()
    reader = LexicalIndex.open(folder, "g")
    chance = random.Random(1)
    queries = [" ".join(chance.sample(chance.choice(texts).split(), 8)) for _ in range(100)]
    filters = {
        "search": LexicalFilter(),
        "search_project_2_percent": LexicalFilter(projects=["/home/me/project7"]),
        "search_half_the_time": LexicalFilter(after=count // 2),
    }
    return {
        "docs_per_s": round(count / built),
        "append_one_and_commit": spread(append),
        **{
            name: measured([partial(reader.search, query, narrowed) for query in queries])
            for name, narrowed in filters.items()
        },
        "folder_mb": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) >> 20,
        **memory(),
    }


def measure_vectors(count: int, dim: int, file: Path) -> dict[str, Any]:
    import numpy as np

    from agent_raw_rag.vectors.cache import VectorCache
    from agent_raw_rag.vectors.layout import VectorRow
    from agent_raw_rag.vectors.scan import VectorFilter

    chance = np.random.default_rng(0)
    cache = VectorCache.open(file, "bench", dim, "g", writable=True)
    for n in range(0, count, 1000):
        vectors = chance.standard_normal((1000, dim)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cache.append(
            [VectorRow(n + i + 1, (n + i) // SESSION_CHUNKS, n + i, n + i + 5, 1 << i % 3) for i in range(1000)],
            vectors,
        )
        cache.commit(n + 1000)
    cache.close()
    opened = timed(lambda: VectorCache.open(file, "bench", dim, "g"), 3)
    reader = VectorCache.open(file, "bench", dim, "g")
    query = vectors[0]
    sessions = count // SESSION_CHUNKS
    filters = {
        "search": None,
        "search_first_10_percent": VectorFilter(sessions=range(sessions // 10)),
        "search_every_10th_session": VectorFilter(sessions=range(0, sessions, 10)),
        "search_half_the_time": VectorFilter(after=count // 2),
    }
    return {
        "open_ms": round(min(opened), 1),
        **{name: measured([partial(reader.search, query, 128, narrowed)] * 50) for name, narrowed in filters.items()},
        "file_mb": file.stat().st_size >> 20,
        **memory(),
    }


def measure_encoder(texts: list[str]) -> dict[str, Any]:
    import numpy as np

    from agent_raw_rag.encode.embedded import EmbeddedEncoder

    sample = texts[:64]
    encoder = EmbeddedEncoder()
    load = timed(lambda: encoder.encode_query("load"), 1)[0]
    query = timed(lambda: encoder.encode_query("how did we fix the retry of the upload"), 30)
    after_queries = memory()
    model = encoder._loaded()

    def bare() -> None:
        for text in sample:
            ids = np.array([model._tokenizer.encode(text).ids])
            feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            model._session.run(None, feed)

    # The two take turns, so that both see the same machine.
    pairs = [(timed(bare, 1)[0], timed(lambda: encoder.encode_passages(sample), 1)[0]) for _ in range(4)]
    return {
        "load_ms": round(load, 1),
        "query": spread(query),
        "after_queries": after_queries,
        "bare_loop_per_s": round(len(sample) / min(b for b, _ in pairs) * 1000, 1),
        "passages_per_s": round(len(sample) / min(ours for _, ours in pairs) * 1000, 1),
        "ratio_to_bare_loop": round(statistics.median(b / ours for b, ours in pairs), 2),
        **memory(),
    }


def measure_tokenizer(texts: list[str]) -> dict[str, Any]:
    from agent_raw_rag.encode.tokens import Cl100k

    load = timed(Cl100k, 3)
    made = Cl100k()
    size = sum(len(text.encode()) for text in texts[:2000]) / 1e6
    return {
        "load_ms": round(min(load), 1),
        "mb_per_s": round(size / min(timed(lambda: [made.encode(text) for text in texts[:2000]], 3)) * 1000, 1),
        **memory(),
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--text", type=Path, nargs="*", default=[])
    chosen = parser.parse_args()
    texts = read_chunks(chosen.text, min(chosen.chunks, 20_000))
    with tempfile.TemporaryDirectory() as place:
        found = {
            "chunks": chosen.chunks,
            "terms": measure_terms(texts),
            "vectors": measure_vectors(chosen.chunks, chosen.dim, Path(place, "vectors")),
            "lexical": measure_lexical(texts, chosen.chunks, Path(place, "lexical")),
            "tokenizer": measure_tokenizer(texts),
            "encoder": measure_encoder(texts),
        }
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
