"""The memory over HTTP under load: errors, answers of a wrong space, how long a recall takes, and what a kill loses.

    python benchmarks/memory_http.py [--clients 32] [--calls 10000] [--notes 10000] [--turns 100000] [--rate 60]

A home with four spaces is filled (notes and turns are the sums over all four; ``--each`` gives every space as many), and served
by a real ``raw-rag serve``. The clients keep a connection each and speak MCP as the official client does (2026-07-28). Of the
calls 60 % recall, 10 % search raw events, 15 % capture, 10 % save, 5 % update a note. Four parts, one JSON object:

- ``closed``: each client sends its next call when the last one is answered: as fast as the server can.
- ``open``: calls begin at fixed instants, so many a second over all clients, and are counted from the instant they were due.
- ``server``: the same calls as the server's access log has them, from the first byte of a request to the last of its answer.
- ``killed``: the server is killed (SIGKILL) in the middle of a closed loop and started anew; every write that was acknowledged
  must be there, and the store sound.

Every text holds the mark of its space, so that an answer of a wrong space is seen. Milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from agent_raw_rag.memory.statements import statement_hash
from agent_raw_rag.models import Capture, CleanText, Role
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.backlogs import feed_words
from agent_raw_rag.store.notes import NoteRow, NoteRows
from memory import ACTOR, BATCH, KINDS, START, Prose

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.servers.memory_http import Home, Served, home_in, serving

SPACES = ("amber", "birch", "cedar", "delta")
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
MIX = (
    ("memory_recall", 60),
    ("memory_search_raw", 10),
    ("memory_capture", 15),
    ("memory_save", 10),
    ("memory_update", 5),
)


def mark(space: str) -> str:
    """A word that stands in every text of a space and of no other."""
    return f"mark{space}mark"


def summary(spent: list[float]) -> dict[str, float]:
    ordered = sorted(spent)
    at = {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}
    return {name: round(value, 2) for name, value in {**at, "max": ordered[-1]}.items()}


def fill(room: Runtime, notes: int, turns: int) -> None:
    prose, kinds, own = Prose(2), random.Random(3), mark(room.space)
    told = [
        Capture(
            f"{prose.text(8, 120)} {own}", f"agent-{number % 7}", session=f"s{number // 50}", host_turn_id=str(number),
            role=(Role.USER, Role.ASSISTANT)[number % 2], time=START + number,
        )
        for number in range(turns)
    ]  # fmt: skip
    for start in range(0, turns, BATCH):
        room.memory.raw.capture_all(told[start : start + BATCH], ACTOR)
    with room.memory.store.write() as connection:
        rows = NoteRows(connection)
        for number in range(notes):
            said = CleanText(f"{prose.text(8, 25)} {number} {own}")
            kind, source, at = kinds.choice(KINDS), CleanText("bench"), START + number * 1000
            rows.add(NoteRow(f"n{number:020x}", kind, said, statement_hash(said), source, at, at, author="bench"))
    feed_words(room)


@dataclass
class Told:
    """What came of the calls."""

    spent: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    acknowledged: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Space -> ids of what was written."""
    cut: int = 0
    """Calls that the server's end cut off: nobody was told that they were done."""

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": sum(len(times) for times in self.spent.values()), "errors": len(self.errors),
            "first errors": self.errors[:3], "answers of a wrong space": len(self.foreign),
            **{name: summary(times) for name, times in sorted(self.spent.items())},
        }  # fmt: skip


class Client:
    """One connection to one space."""

    def __init__(self, port: int, secret: str, number: int, told: Told) -> None:
        self.space = SPACES[number % len(SPACES)]
        self._port, self._secret, self._told = port, secret, told
        self._chance, self._prose = random.Random(number), Prose(100 + number)
        self._number, self._count = number, 0
        self._own = f"c{number}t{time.time_ns():x}"
        self._notes: list[str] = []
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, due: float | None = None) -> None:
        """One call of the mix. ``due``: the instant it should begin at."""
        tool = self._chance.choices([name for name, _ in MIX], [share for _, share in MIX])[0]
        if tool == "memory_update" and not self._notes:
            tool = "memory_save"
        sent, began = self._arguments(tool), time.perf_counter()
        try:
            status, answer = await self._ask(tool, sent)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            self._told.cut += 1
            raise
        self._told.spent[tool].append((time.perf_counter() - (due or began)) * 1000)
        self._look(tool, status, answer)

    def _arguments(self, tool: str) -> dict[str, Any]:
        self._count += 1
        text = f"{self._prose.text(8, 40)} {self._own}n{self._count} {mark(self.space)}"
        if tool in ("memory_recall", "memory_search_raw"):
            return {"query": self._prose.text(2, 8)}
        if tool == "memory_capture":
            return {"content": text, "source": "bench", "session_id": f"c{self._number}"}
        if tool == "memory_save":
            return {"content": text, "source": "bench", "kind": "fact"}
        return {"atom_id": self._notes.pop(), "new_content": text, "source": "bench"}

    async def _ask(self, tool: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        params = {"name": tool, "arguments": arguments, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": self._count, "method": "tools/call", "params": params}).encode()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(
            (
                f"POST /mcp/memory HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {self._secret}\r\n"
                f"x-raw-rag-space: {self.space}\r\ncontent-type: application/json\r\n"
                f"accept: application/json, text/event-stream\r\nmcp-protocol-version: {VERSION}\r\n"
                f"mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {len(body)}\r\n\r\n"
            ).encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].split("\r\n")[0])
        return int(head.split()[1]), json.loads(await reader.readexactly(length))

    def _look(self, tool: str, status: int, answer: dict[str, Any]) -> None:
        result = answer.get("result", {})
        content = result.get("structuredContent") or {}
        if status != 200 or result.get("isError", True):
            self._told.errors.append(f"{tool}: {status} {json.dumps(answer)[:300]}")
            return
        said = json.dumps(content)
        if any(mark(other) in said for other in SPACES if other != self.space):
            self._told.foreign.append(said[:300])
        if tool == "memory_recall" and any(mark(self.space) not in one["text"] for one in content["memories"]):
            self._told.foreign.append(said[:300])
        written = content.get("event_id") or content.get("new_node_id") or content.get("node_id")
        if tool in ("memory_capture", "memory_save", "memory_update"):
            self._told.acknowledged[self.space].append(written)
        if tool in ("memory_save", "memory_update"):
            self._notes.append(written)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


Load = Callable[[list[Client]], Awaitable[None]]


async def drive(served: Served, secret: str, clients: int, load: Load) -> Told:
    told, port = Told(), int(served.url.rpartition(":")[2])
    connected = [Client(port, secret, number, told) for number in range(clients)]
    await load(connected)
    for one in connected:
        one.close()
    return told


def closed(calls: int) -> Load:
    async def load(clients: list[Client]) -> None:
        async def loop(client: Client, share: int) -> None:
            for _ in range(share):
                await client.call()

        await asyncio.gather(*(loop(client, calls // len(clients)) for client in clients))

    return load


def paced(calls: int, rate: float) -> Load:
    async def load(clients: list[Client]) -> None:
        free: asyncio.Queue[Client] = asyncio.Queue()
        for client in clients:
            free.put_nowait(client)

        async def one(due: float) -> None:
            client = await free.get()
            try:
                await client.call(due)
            finally:
                free.put_nowait(client)

        began, running = time.perf_counter(), []
        for number in range(calls):
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            running.append(asyncio.ensure_future(one(due)))
        await asyncio.gather(*running)

    return load


def until_killed(served: Served, after: int) -> Load:
    async def load(clients: list[Client]) -> None:
        answered = 0

        async def loop(client: Client) -> None:
            nonlocal answered
            try:
                while True:
                    await client.call()
                    answered += 1
                    if answered == after:
                        served.process.kill()
            except (OSError, asyncio.IncompleteReadError, ValueError):
                return

        await asyncio.gather(*(loop(client) for client in clients))

    return load


def server_side(home: Home, skip: int) -> dict[str, Any]:
    """Of the access log: milliseconds by tool, the first lines left out."""
    lines = [json.loads(line) for line in (home.store / "log" / "http.log").read_text(encoding="utf-8").splitlines()]
    spent: dict[str, list[float]] = defaultdict(list)
    for line in lines[skip:]:
        if line["tool"]:
            spent[line["tool"]].append(line["ms"])
    return {name: summary(times) for name, times in sorted(spent.items())}


def log_lines(home: Home) -> int:
    return sum(1 for _ in (home.store / "log" / "http.log").open(encoding="utf-8"))


def lost(home: Home, told: Told) -> dict[str, Any]:
    """What was acknowledged and is not there."""
    root, missing, sound = Runtime.load(None, home.environment), [], True
    for space, ids in told.acknowledged.items():
        connection = root.in_space(space).reader.connection
        notes = {row[0] for row in connection.execute("SELECT id FROM notes")}
        for written in ids:
            if written.startswith("n"):
                missing += [] if written in notes else [written]
            else:
                low = bytes.fromhex(written[1:])
                found = connection.execute(
                    "SELECT 1 FROM turns WHERE key >= ? AND key < ?", (low, low + b"\xff" * 6)
                ).fetchone()
                missing += [] if found else [written]
        sound = sound and connection.execute("PRAGMA quick_check").fetchone()[0] == "ok"
    return {
        "acknowledged writes": sum(map(len, told.acknowledged.values())),
        "lost": len(missing),
        "stores are sound": sound,
        "cut off": told.cut,
    }


def measured(home: Home, secret: str, options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with serving(home) as served:
        process = psutil.Process(served.process.pid)
        asyncio.run(drive(served, secret, options.clients, closed(options.clients * 10)))  # warm
        skip, began, cpu = log_lines(home), time.perf_counter(), sum(process.cpu_times()[:2])
        told = asyncio.run(drive(served, secret, options.clients, closed(options.calls)))
        seconds, spent = time.perf_counter() - began, sum(process.cpu_times()[:2]) - cpu
        calls = sum(len(times) for times in told.spent.values())
        found["closed"] = {
            **told.as_json(), "calls a second": round(calls / seconds), "server's CPU ms a call": round(1000 * spent / calls, 2),
            "server": server_side(home, skip),
        }  # fmt: skip
        skip = log_lines(home)
        told = asyncio.run(drive(served, secret, options.clients, paced(options.open_calls, options.rate)))
        found[f"open, {options.rate:g} a second"] = {**told.as_json(), "server": server_side(home, skip)}
        found["resident MB"] = round(process.memory_info().rss / 1e6)
        found["exit status"] = served.end()
    with serving(home) as served:
        told = asyncio.run(drive(served, secret, options.clients, until_killed(served, options.calls // 10)))
    with serving(home) as again:
        told.errors += (
            [] if again.ask(secret=secret, space=SPACES[0]).status_code == 200 else ["it does not serve again"]
        )
        found["killed"] = {**lost(home, told), "errors": told.errors[:3]}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--open-calls", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=60.0)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--each", action="store_true", help="so many notes and turns in every space")
    parser.add_argument("--keep", metavar="FOLDER", help="a home that is filled once and used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        if not (folder / "store").exists():
            filled(folder, options)
        home = Home({"HOME": str(folder / "home"), "RAW_RAG_HOME": str(folder / "store")})
        label = f"bench{time.time_ns()}"
        print(json.dumps(measured(home, home.token(label), options), indent=1))
    return 0


def filled(folder: Path, options: argparse.Namespace) -> None:
    home = home_in(folder)
    share = 1 if options.each else len(SPACES)
    root = Runtime.load(None, home.environment)
    for space in SPACES:
        home.space(space)
        fill(root.in_space(space), options.notes // share, options.turns // share)


if __name__ == "__main__":
    sys.exit(main())
