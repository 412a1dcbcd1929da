"""One model, many agents: memory of stdio servers that searched, and what a query's vector costs, with the daemon and without.

    python benchmarks/shared_model.py [HOME] [--servers 4] [--searches 20] [--queries 200]

HOME is a folder with a store (a big one, say) whose encoder is the embedded one; without it, the packaged sample logs are used.
The daemon is a real ``raw-rag-ingest --watch``, and each server a real one, started as agents start it and asked by the official
client. ``pss_mb`` shares pages among those who map them, so that its sum over the servers is what they take together; ``rss_mb``
counts a shared page in each, ``uss_mb`` only what no other process has, and ``peak_rss_mb`` is the most that it ever was.
``bare_server`` is one of the SDK with one tool, to compare. Prints one JSON object. Bar: servers together under 120 MB each, with
the daemon.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from start import BARE

from agent_raw_rag.encode.daemon_encoder import DaemonEncoder
from agent_raw_rag.encode.daemon_link import Link
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.runtime import Runtime, heartbeat
from daemon import until

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.samples import sample_environment

BAR_MB = 120
QUESTIONS = [
    one for one in Path(__file__).with_name("questions.txt").read_text(encoding="utf-8").splitlines() if one.strip()
]
SERVER = "import sys; from agent_raw_rag.server.stdio import main; sys.exit(main())"
FACTS = {"Rss": "rss_mb", "Pss": "pss_mb", "Anonymous": "anonymous_mb"}
PRIVATE = ("Private_Clean", "Private_Dirty")
START_SECONDS = 600.0


def memory(pid: int) -> dict[str, float]:
    """Of a process now, in MB."""
    lines = [line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]]
    kilobytes = {line[0][:-1]: int(line[1]) for line in lines}
    found = {name: round(kilobytes[fact] / 1024, 1) for fact, name in FACTS.items()}
    found["uss_mb"] = round(sum(kilobytes[fact] for fact in PRIVATE) / 1024, 1)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    peak = next(line for line in status if line.startswith("VmHWM:"))
    return {**found, "peak_rss_mb": round(int(peak.split()[1]) / 1024, 1)}


@contextmanager
def daemon(environment: dict[str, str]) -> Iterator[int]:
    """The daemon, from the moment on that it has read everything and made all vectors; its process."""
    home = environment["RAW_RAG_HOME"]
    command = [str(Path(sys.executable).parent / "raw-rag-ingest"), "--watch"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: is_ready(heartbeat.read(home), process.pid), START_SECONDS)
            yield process.pid
        finally:
            process.terminate()


def is_ready(beat: heartbeat.Heartbeat | None, pid: int) -> bool:
    return beat is not None and beat.pid == pid and beat.caught_up and beat.backlog == 0


def children() -> set[int]:
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()))


async def servers(environment: dict[str, str], count: int, searches: int) -> dict[str, Any]:
    """Memory of so many servers, side by side, after each answered so many searches; and how long those took."""
    took: list[float] = []
    async with AsyncExitStack() as stack:
        pids: list[int] = []
        clients = []
        for _ in range(count):
            known = children()
            start = StdioServerParameters(command=sys.executable, args=["-c", SERVER], env=environment)
            clients.append(await stack.enter_async_context(Client(stdio_client(start))))
            pids += children() - known
        for number in range(searches):
            for client in clients:
                began = time.perf_counter()
                query = QUESTIONS[number % len(QUESTIONS)]
                found = await client.call_tool("raw_rag_search", {"query": query, "project_path": "*"})
                took.append((time.perf_counter() - began) * 1000)
                assert not found.is_error, found
        each = [memory(pid) for pid in pids]
        models = sum("onnxruntime" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8") for pid in pids)
    return {
        "servers": each,
        "together_pss_mb": round(sum(one["pss_mb"] for one in each), 1),
        "together_rss_mb": round(sum(one["rss_mb"] for one in each), 1),
        "together_uss_mb": round(sum(one["uss_mb"] for one in each), 1),
        "loaded_models": models,
        "search_ms_p50": round(statistics.median(took), 1),
        "search_ms_max": round(max(took), 1),
    }


async def bare_server(environment: dict[str, str]) -> dict[str, float]:
    """Memory of a server of the SDK that does nothing."""
    known = children()
    start = StdioServerParameters(command=sys.executable, args=["-c", BARE], env=environment)
    async with Client(stdio_client(start)) as client:
        await client.call_tool("echo", {"text": "a"})
        return memory((children() - known).pop())


def latencies(encoder: Any, queries: int) -> dict[str, float]:
    """Milliseconds of a query's vector: the first one, then the others."""
    took = []
    for number in range(queries):
        began = time.perf_counter()
        encoder.encode_query(f"{QUESTIONS[number % len(QUESTIONS)]} {number}")
        took.append((time.perf_counter() - began) * 1000)
    rest = sorted(took[1:])
    return {
        "first": round(took[0], 2),
        "p50": round(statistics.median(rest), 2),
        "p95": round(rest[int(0.95 * len(rest))], 2),
    }


def measure(environment: dict[str, str], options: argparse.Namespace) -> dict[str, Any]:
    home = environment["RAW_RAG_HOME"]
    bare = anyio.run(bare_server, environment)
    alone = anyio.run(servers, environment, options.servers, options.searches)
    with daemon(environment) as pid:
        link = Link(home)
        query_ms = {
            "own_model": latencies(EmbeddedEncoder(), options.queries),
            "daemon": latencies(DaemonEncoder(EmbeddedEncoder(), link, query_seconds=30), options.queries),
        }
        shared = anyio.run(servers, environment, options.servers, options.searches)
        serving = memory(pid)
    bar = BAR_MB * options.servers
    return {
        "bar_mb": bar,
        "bare_server": bare,
        "without_daemon": alone,
        "with_daemon": shared,
        "daemon": serving,
        "query_vector_ms": query_ms,
        "within_bar": shared["together_pss_mb"] < bar and shared["loaded_models"] == 0,
        "within_bar_counting_shared_pages_in_each": shared["together_rss_mb"] < bar,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?", metavar="HOME")
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.home:
            environment = {**os.environ, "RAW_RAG_HOME": options.home, "HOME": folder}
        else:
            made = sample_environment(Path(folder), config='[encoder]\nname = "embedded"\n[daemon]\nbusy_load = 0\n')
            Runtime.load(None, made).ingest()
            environment = {**os.environ, **made}
        found = measure(environment, options)
    print(json.dumps(found, indent=2))
    return 0 if found["within_bar"] else 1


if __name__ == "__main__":
    sys.exit(main())
