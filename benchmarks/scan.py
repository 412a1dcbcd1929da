"""Vector scan: latency, memory and exactness of the cache's search, beside one product of single-precision numpy in memory.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/scan.py [--cases random:1000000x384 ...] [--home FOLDER]

A case is KIND:ROWSxDIM. Kinds: ``random`` (no structure), ``clusters`` (a common direction, mean cosine about 0.5, and
clusters of 200), ``ties`` (one vector with noise of a ten-thousandth: every row has to be scored). ``--home`` keeps the files
for a second run. Every case runs in a process of its own; ours and the reference take turns, so a ratio of one run says
something on a busy machine too. ``private_mb`` is what opening and searching add at most to the process's own memory (RssAnon,
sampled), ``mapped_mb`` what they add to its share of the page cache (RssFile). Prints one JSON object.
Bars: 1M x 384 p95 60 ms, 100k x 2560 p95 40 ms, private 100 MB, a 5 % filter costs less than the full scan.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.kernel import kernel
from agent_raw_rag.vectors.layout import VectorRow
from agent_raw_rag.vectors.scan import VectorFilter

CASES = (
    "random:10000x384", "random:100000x384", "random:1000000x384", "random:100000x2560",
    "clusters:100000x384", "ties:100000x384",
)  # fmt: skip
SLICE = 10_000
SESSION_ROWS = 100
LIMIT = 128
CHECKED = 3


def vectors(kind: str, count: int, dim: int) -> Iterator[Any]:
    """Unit vectors, a slice at a time."""
    chance = np.random.default_rng(1)
    common = chance.standard_normal(dim, dtype=np.float32)
    for low in range(0, count, SLICE):
        made = chance.standard_normal((min(SLICE, count - low), dim), dtype=np.float32)
        if kind == "clusters":
            centres = chance.standard_normal((-(-len(made) // 200), dim), dtype=np.float32)
            made = 0.3 * made + 1.0 * common + 0.95 * np.repeat(centres, 200, axis=0)[: len(made)]
        elif kind == "ties":
            made = common + np.float32(1e-4) * made
        yield made / np.linalg.norm(made, axis=1, keepdims=True)


def fill(path: Path, kind: str, count: int, dim: int) -> float:
    """Seconds that it took, the vectors' own making left out."""
    cache, spent = VectorCache.open(path, "bench", dim, "g", writable=True), 0.0
    if cache.high_water == count:
        return spent
    for number, part in enumerate(vectors(kind, count, dim)):
        low = number * SLICE
        rows = [VectorRow(n + 1, n // SESSION_ROWS, n, n + 5, 1 << n % 20) for n in range(low, low + len(part))]
        began = time.perf_counter()
        cache.append(rows, part)
        cache.commit(low + len(part))
        spent += time.perf_counter() - began
    cache.close()
    return spent


def filters(count: int) -> dict[str, VectorFilter | None]:
    sessions = count // SESSION_ROWS
    return {
        "full": None,
        "contiguous_5_percent": VectorFilter(sessions=range(sessions // 3, sessions // 3 + sessions // 20)),
        "scattered_5_percent": VectorFilter(roles=1 << 7),
        "every_20th_session": VectorFilter(sessions=range(0, sessions, 20)),
        "half_the_time": VectorFilter(after=count // 2),
    }


def questions(kind: str, count: int, dim: int, wanted: int) -> list[Any]:
    """Half of them near a row, half of them near nothing."""
    known = next(vectors(kind, min(count, SLICE), dim))
    chance = np.random.default_rng(2)
    found = []
    for number in range(wanted):
        noise = chance.standard_normal(dim).astype(np.float32) / np.sqrt(dim)
        made = noise + (number % 2) * known[chance.integers(len(known))]
        found.append((made / np.linalg.norm(made)).astype(np.float32))
    return found


def status_mb(field: str) -> float:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def highest_private(calls: list[Callable[[], Any]]) -> float:
    """The most private memory seen while calls ran, MB."""
    seen, ended = [status_mb("RssAnon")], threading.Event()

    def look() -> None:
        while not ended.wait(0.0005):
            seen.append(status_mb("RssAnon"))

    thread = threading.Thread(target=look)
    thread.start()
    for call in calls:
        call()
    ended.set()
    thread.join()
    return max(seen)


def brute_force(half: Any, facts: dict[str, Any], query: Any, where: VectorFilter | None) -> list[tuple[int, float]]:
    """Every row's score in double precision."""
    wide = query.astype(np.float64)
    parts = [half[low : low + SLICE].astype(np.float64) @ wide for low in range(0, len(half), SLICE)]
    scores = np.round(np.concatenate(parts), 6)
    keep = np.ones(len(half), np.bool_)
    if where is not None and where.sessions is not None:
        keep &= np.isin(facts["session"], list(where.sessions))
    if where is not None and where.after is not None:
        keep &= facts["end"] >= where.after
    if where is not None and where.roles:
        keep &= (facts["roles"] & where.roles) != 0
    scores[~keep] = -np.inf
    best = np.lexsort((facts["chunk"], -scores))[: min(LIMIT, int(keep.sum()))]
    return list(zip(facts["chunk"][best].tolist(), scores[best].astype(np.float32).tolist(), strict=True))


Times = list[tuple[float, float]]


def spread(times: Times) -> dict[str, float]:
    """Wall times, and what a call takes of the processor: what a busy machine does not change as much."""
    wall, spent = sorted(each for each, _ in times), sorted(each for _, each in times)
    return {
        "p50_ms": round(wall[len(wall) // 2], 2),
        "p95_ms": round(wall[int(0.95 * len(wall))], 2),
        "cpu_p50_ms": round(spent[len(spent) // 2], 2),
    }


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds on the wall, and of the processor."""
    began, spent = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - began) * 1000, (time.process_time() - spent) * 1000


def measure(path: Path, kind: str, count: int, dim: int, runs: int) -> dict[str, Any]:
    asked = questions(kind, count, dim, runs)
    narrowed = filters(count)
    kernel()
    private, mapped = status_mb("RssAnon"), status_mb("RssFile")
    opened: list[VectorCache] = []
    open_ms = timed(lambda: opened.append(VectorCache.open(path, "bench", dim, "g")))
    cache = opened[0]
    first_ms = timed(lambda: cache.search(asked[0], LIMIT))
    calls = [
        (lambda where=where, query=query: cache.search(query, LIMIT, where))
        for where in narrowed.values()
        for query in asked[:4]
    ]
    highest = highest_private(calls)
    found: dict[str, Any] = {
        "kernel": kernel().__name__,
        "open_ms": round(open_ms[0], 2),
        "first_search_ms": round(first_ms[0], 2),
        "private_mb": round(highest - private, 1),
        "mapped_mb": round(status_mb("RssFile") - mapped, 1),
        "file_mb": path.stat().st_size >> 20,
    }
    names = ("vector", "chunk", "session", "end", "roles")
    blocks = [{name: block[name].copy() for name in names} for block in cache._rows.blocks()]
    facts = {name: np.concatenate([block[name] for block in blocks]) for name in ("chunk", "session", "end", "roles")}
    half = np.concatenate([block["vector"] for block in blocks])
    del blocks
    found["exact"] = all(
        list(zip(*(part.tolist() for part in cache.search(query, LIMIT, where)), strict=True))
        == brute_force(half, facts, query, where)
        for where in narrowed.values()
        for query in asked[:CHECKED]
    )
    single = half.astype(np.float32)
    del half
    reference: Times = []
    times: dict[str, Times] = {name: [] for name in narrowed}
    for query in asked:
        for name, where in narrowed.items():
            times[name].append(timed(lambda query=query, where=where: cache.search(query, LIMIT, where)))
        reference.append(timed(lambda query=query: np.argpartition(single @ query, len(single) - LIMIT)[-LIMIT:]))
    found.update({name: spread(each) for name, each in times.items()})
    found["numpy_f32_in_memory"] = {**spread(reference), "private_mb": single.nbytes >> 20}
    found["ratio_to_numpy"] = round(found["full"]["p50_ms"] / found["numpy_f32_in_memory"]["p50_ms"], 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", nargs="*", default=CASES)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--child", type=Path)
    given = parser.parse_args()
    split = [(case.partition(":")[0], *map(int, case.partition(":")[2].split("x"))) for case in given.cases]
    if given.child:
        print(json.dumps(measure(given.child, *split[0], given.runs)))
        return
    found: dict[str, Any] = {"runs": given.runs, "load": Path("/proc/loadavg").read_text("ascii").split()[:2]}
    with tempfile.TemporaryDirectory() as temporary:
        home = given.home or Path(temporary)
        for case, (kind, count, dim) in zip(given.cases, split, strict=True):
            path = home / case.replace(":", "-")
            seconds = fill(path, kind, count, dim)
            command = [sys.executable, __file__, "--cases", case, "--child", str(path), "--runs", str(given.runs)]
            child = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            rate = {"append_rows_per_s": round(count / seconds)} if seconds else {}
            found[case] = {**json.loads(child.stdout), **rate}
            print(case, found[case], file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
