"""Random and malformed requests to a spawned ``raw-rag serve``: no answer of 500 or above, and the process stays.

    python benchmarks/fuzz.py [--requests 10000] [--seed 1] [--threads 4]

Seven kinds in turn: bytes that are hardly HTTP, headers at random, bodies at random, JSON-RPC messages at random, calls of every
tool with arguments at random, good calls that were damaged in one place, and operations of the REST API at random. A server with
all tools, a token with all scopes. Prints one JSON object: how many of which status, the worst ones in full, and whether what was
stored before is still there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from agent_raw_rag.server.http.rest import OPERATIONS as REST
from agent_raw_rag.server.http.rest.openapi import document
from tests.servers.memory_http import Served, home_in, serving

TOOLS = [
    "memory_recall", "memory_save", "memory_capture", "memory_search_raw", "memory_update", "memory_propose", "memory_candidates",
    "memory_promote", "memory_reject", "memory_history", "memory_journal", "raw_rag_search", "raw_rag_recent", "raw_rag_context",
    "raw_rag_status", "nonsense",
]  # fmt: skip
ARGUMENTS = [
    "query", "content", "source", "limit", "topic", "kind", "session_id", "role", "host_turn_id", "timestamp", "after", "before",
    "atom_id", "new_content", "note", "evidence", "importance", "include_raw", "exclude_session", "turn", "session", "top_k",
    "max_tokens", "project_path", "agent", "statement", "quote", "ids", "id", "reason", "status", "since", "offset",
]  # fmt: skip
METHODS = [
    "initialize", "tools/list", "tools/call", "ping", "resources/list", "resources/read", "prompts/list", "prompts/get",
    "logging/setLevel", "server/discover", "completion/complete", "notifications/initialized", "notifications/cancelled",
    "subscriptions/listen", "roots/list", "sampling/createMessage", "tasks/get",
]  # fmt: skip
HEADERS = [
    "Host", "Origin", "Authorization", "X-Raw-Rag-Space", "X-Octop-Agent-Id", "X-Raw-Rag-Token", "X-Octop-Memory-Token",
    "Content-Type", "Content-Length", "Transfer-Encoding", "Accept", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method",
    "Mcp-Name", "Last-Event-Id", "Expect", "Connection", "Upgrade", "Cookie", "X-Forwarded-For", "Content-Encoding", "X",
]  # fmt: skip
VALUES = [
    "", "localhost", "evil.example", "null", "Bearer", "Bearer  x", "chunked", "-1", "1e9", "99999999999999999999", "text/plain",
    "application/json", "application/json; charset=utf-16", "*/*", "text/event-stream", "100-continue", "websocket", "gzip",
    "2026-07-28", "2025-06-18", "2024-11-05", "1999-01-01", "default", "proj", "../proj", "\x7f", "ä", "x" * 9000,
]  # fmt: skip
TEXTS = [
    "", " ", "\0", "\ud800", "\udfff\ud800", "'; DROP TABLE turns; --", '"', "AND OR (", "*", "NEAR(", "../../etc/passwd",
    "</memory>",
    "default", "2026-11-30", "9" * 5000, "a" * 20_000, "鐵達尼" * 200, "\u202e", "e" + "0" * 20, "n" + "f" * 20, "c" + "1" * 20,
    "1d", "yesterday", "-9999999d", "0000-00-00", "rule", "event", "user", "\r\n\r\n", "%00", "${jndi:ldap://x}", "{{7*7}}",
]  # fmt: skip
REQUIRED = ["query", "content", "source", "atom_id", "new_content", "session", "turn"]
KEYS = ["name", "arguments", "_meta", "uri", "protocolVersion", "capabilities", "clientInfo", "cursor"]
NUMBERS = [0, -1, 1, 100, 101, 10**6, 2**31, 2**63, -(2**64), 10**400, 1.5, -0.0, 1e308]


VERBS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"]
PATHS = [
    "/mcp/memory", "/mcp/memory/", "/health", "/", "/search", "/v1/models", "*", "//", "/%2e%2e/", "/mcp/memory?token=x",
]  # fmt: skip
EMPTY: dict[str, Any] = {"content": {"application/json": {"schema": {}}}}
OPERATIONS = [
    (method.upper(), path, one)
    for path, ways in document(REST)["paths"].items()
    for method, one in ways.items()
    if "x-scope" in one and one["x-scope"] != "chat"  # whoever set up no model is told so by a 503
]
PATIENT, IMPATIENT = 60.0, 0.5
"""Seconds that an answer is waited for: to a whole request, and to one that may be less than that."""
Sent = tuple[bytes, float]


class Maker:
    """Requests, as bytes of one connection, and how long an answer is waited for."""

    def __init__(self, seed: int, secret: str) -> None:
        self._random = random.Random(seed)
        self._secret = secret
        self.kinds: list[Callable[[], Sent]] = [
            self.noise, self.headers, self.body, self.message, self.call, self.damaged, self.operation,
        ]  # fmt: skip

    def noise(self) -> Sent:
        pick = self._random
        words = b" ".join(self._bytes(12) for _ in range(pick.randrange(4)))
        line = words + pick.choice([b"\r\n", b"\n", b"", b"\r\n\r\n"])
        get = b"GET " + self._bytes(40) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        return pick.choice([line, self._bytes(300), get]), IMPATIENT

    def headers(self) -> Sent:
        pick = self._random
        values = [*VALUES, self._secret, f"Bearer {self._secret}"]
        lines = [f"{pick.choice(HEADERS)}: {pick.choice(values)}\r\n" for _ in range(pick.randrange(9))]
        head = f"{pick.choice(VERBS)} {pick.choice(PATHS)} HTTP/1.{pick.randrange(2)}\r\n{''.join(lines)}\r\n"
        return head.encode("utf-8", "surrogatepass") + self._bytes(50), IMPATIENT

    def body(self) -> Sent:
        deep = [b"[" * self._random.randrange(200_000), b'{"a":' * 20_000]
        return self._post(self._random.choice([self._bytes(400), *deep, json.dumps(self._value()).encode()]))

    def message(self) -> Sent:
        pick = self._random
        one = {
            "jsonrpc": pick.choice(["2.0", "2.0", "1.0", None]), "id": pick.choice([1, "a", None, 2**70, [], True]),
            "method": pick.choice([*METHODS, pick.choice(TEXTS)]), "params": self._value(), "result": self._value(),
        }  # fmt: skip
        for name in pick.sample(list(one), pick.randrange(3)):
            del one[name]
        return self._post(json.dumps(pick.choice([one, one, [one, one]])).encode())

    def call(self) -> Sent:
        pick = self._random
        given = {pick.choice(ARGUMENTS): self._value() for _ in range(pick.randrange(4))}
        given |= {name: pick.choice(TEXTS) for name in REQUIRED if pick.randrange(2)}
        params = {"name": pick.choice(TOOLS), "arguments": given}
        return self._post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode())

    def damaged(self) -> Sent:
        pick = self._random
        good = bytearray(self.call()[0])
        for _ in range(pick.randrange(1, 4)):
            place = pick.randrange(len(good))
            good[place : place + pick.randrange(3)] = self._bytes(3)
        return bytes(good), IMPATIENT

    def operation(self) -> Sent:
        pick = self._random
        method, path, one = pick.choice(OPERATIONS)
        query = [row["name"] for row in one["parameters"] if row["in"] == "query"]
        said = [f"{pick.choice([*query, 'x'])}={self._quoted()}" for _ in range(pick.randrange(3))]
        place = re.sub(r"{\w+}", lambda _: self._quoted(), path) + (f"?{'&'.join(said)}" if said else "")
        keys = [*one.get("requestBody", EMPTY)["content"]["application/json"]["schema"].get("properties", {}), "x"]
        body = json.dumps({pick.choice(keys): self._value() for _ in range(pick.randrange(6))}).encode()
        head = (
            f"{pick.choice([method] * 5 + VERBS)} {place} HTTP/1.1\r\nHost: localhost\r\nX-Raw-Rag-Space: proj\r\n"
            f"Authorization: Bearer {self._secret}\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body, PATIENT

    def _quoted(self) -> str:
        """A text or a number as a part of an address; now and then as it stands."""
        text = str(self._random.choice([*TEXTS, *NUMBERS[:9]]))
        bare = text if text.isascii() and text.isprintable() and " " not in text else ""
        return bare if bare and self._random.randrange(4) == 0 else quote(text, safe="", errors="surrogatepass")

    def _post(self, body: bytes) -> Sent:
        pick = self._random
        version = pick.choice(["", "Mcp-Protocol-Version: 2025-06-18\r\n", "Mcp-Protocol-Version: 2026-07-28\r\n"])
        head = (
            f"POST /mcp/memory{pick.choice(['', '/'])} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {self._secret}\r\nX-Raw-Rag-Space: proj\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\n{version}Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body, PATIENT

    def _value(self, depth: int = 3) -> Any:
        pick = self._random
        kind = pick.randrange(8 if depth else 6)
        if kind < 4:
            return pick.choice(TEXTS)
        if kind < 6:
            return pick.choice([*NUMBERS, None, True, False])
        if kind == 6:
            return [self._value(depth - 1) for _ in range(pick.randrange(4))]
        names = [*ARGUMENTS, *KEYS, pick.choice(TEXTS)]
        return {pick.choice(names): self._value(depth - 1) for _ in range(pick.randrange(5))}

    def _bytes(self, most: int) -> bytes:
        return self._random.randbytes(self._random.randrange(most))


def send(port: int, sent: bytes, patience: float) -> tuple[str, bytes]:
    """What came back: a status, or how the connection ended."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENT) as connection:
            connection.sendall(sent)
            connection.settimeout(patience)
            first = connection.recv(4096)
    except TimeoutError:
        return "no answer" if patience == PATIENT else "more is waited for", b""
    except OSError:
        return "closed while sending", b""
    found = re.match(rb"HTTP/1\.\d (\d{3})", first)
    return (found[1].decode() if found else "closed without answer"), first


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = home_in(Path(folder))
        home.configure("[mcp]\nraw_tools = true\ncuration = true\n")
        secret = home.token("fuzzer", scope="read,write,curate,proxy,chat,admin")
        with serving(home) as served:
            print(json.dumps(fuzzed(served, secret, options), indent=2))
    return 0


def fuzzed(served: Served, secret: str, options: argparse.Namespace) -> dict[str, Any]:
    kept = served.answer("memory_save", {"content": "This must stay.", "source": "benchmark"}, secret)["node_id"]
    port, statuses, bad, lock = (
        int(served.url.rpartition(":")[2]),
        Counter[str](),
        list[dict[str, str]](),
        threading.Lock(),
    )

    def work(number: int) -> None:
        maker = Maker(options.seed * 1000 + number, secret)
        for turn in range(options.requests // options.threads):
            sent, patience = maker.kinds[turn % len(maker.kinds)]()
            status, first = send(port, sent, patience)
            with lock:
                statuses[status] += 1
                if status.startswith(("5", "no answer")):
                    bad.append({"status": status, "sent": repr(sent[:600]), "got": repr(first[:600])})

    began = time.monotonic()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(options.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alive = served.process.poll() is None
    found = served.answer("memory_recall", {"query": "this must stay"}, secret)
    status = served.end(signal.SIGTERM)
    return {
        "requests": sum(statuses.values()), "seconds": round(time.monotonic() - began, 1),
        "statuses": dict(sorted(statuses.items())),
        "of 500 and above": sum(count for name, count in statuses.items() if name.startswith("5")),
        "exits": 0 if alive else 1, "exit status at the end": status,
        "what was stored is there": kept in [one["source_id"] for one in found["memories"]],
        "tracebacks in the log": served.said[1].count("Traceback"), "worst": bad[:5],
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
