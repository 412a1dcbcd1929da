"""Start of the MCP server: from the start of the process to the answer to ``initialize``, against a bare mcp server.

    python benchmarks/start.py [HOME ...] [--runs N]

Runs alternate between the two servers, so that both see the same machine. Each HOME is a folder with a store (a big one,
say); an empty one is always measured. Prints one JSON object; the bar is a ratio of 1.25.
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

BAR = 1.25
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
BARE = '''
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare", version="1", log_level="WARNING")
@server.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text
server.run("stdio")
'''
OURS = "import sys; from agent_raw_rag.server.stdio import main; sys.exit(main())"


def answered_after(program: str, environment: dict[str, str]) -> float:
    """Milliseconds from the start of a process to its answer."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        took = (time.perf_counter() - began) * 1000
        process.stdin.close()
        process.wait()
    assert "result" in answer, answer
    return took


def compare(home: str, runs: int) -> dict[str, object]:
    """Medians of alternating runs at one store."""
    environment = {**os.environ, "RAW_RAG_HOME": home}
    bare, ours = [], []
    for run in range(runs + 1):
        pair = answered_after(BARE, environment), answered_after(OURS, environment)
        if run:  # the first pair warms the file cache
            bare.append(pair[0])
            ours.append(pair[1])
    ratio = statistics.median(mine / other for mine, other in zip(ours, bare, strict=True))
    return {
        "bare_ms": round(statistics.median(bare)),
        "ours_ms": round(statistics.median(ours)),
        "ratio": round(ratio, 3),
        "ratio_of_fastest": round(min(ours) / min(bare), 3),
        "within_bar": ratio <= BAR,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="*", metavar="HOME")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        found = {"empty": compare(empty, options.runs)}
    homes = [home for home in options.homes if os.path.exists(os.path.join(home, "raw_rag.db"))]
    found |= {home: compare(home, options.runs) for home in homes}
    print(json.dumps({"bar": BAR, "runs": options.runs, "stores": found}, indent=2))
    return 0 if all(one["within_bar"] for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
