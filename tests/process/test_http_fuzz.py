"""Whatever is sent, no answer is the server's fault, and the server stays. Bounded here; ``benchmarks/fuzz.py`` sends more."""

from __future__ import annotations

import json
import socket
import string
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers.memory_http import Served, home_in, unbroken

pytestmark = pytest.mark.process
BOUNDED = settings(
    max_examples=settings().max_examples * 6 // 5, deadline=None, suppress_health_check=list(HealthCheck)
)
"""As many as the profile says, and a few."""
NAMES = [
    "host", "origin", "authorization", "x-raw-rag-space", "x-octop-agent-id", "x-raw-rag-token", "x-octop-memory-token",
    "content-type", "content-length", "transfer-encoding", "accept", "mcp-protocol-version", "mcp-session-id", "mcp-method",
    "mcp-name", "last-event-id", "expect", "connection", "upgrade", "cookie", "x-forwarded-for", "content-encoding",
]  # fmt: skip
METHODS = ["initialize", "tools/list", "tools/call", "ping", "resources/list", "resources/read", "prompts/get",
           "logging/setLevel", "server/discover", "completion/complete", "notifications/initialized", "notifications/cancelled",
           "subscriptions/listen", "tasks/get"]  # fmt: skip
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28", "1999-01-01", ""]
TOOLS = ["memory_recall", "memory_save", "memory_capture", "memory_search_raw", "memory_update", "raw_rag_search",
         "raw_rag_recent", "raw_rag_context", "raw_rag_status", "nonsense"]  # fmt: skip
ARGUMENTS = ["query", "content", "source", "limit", "topic", "kind", "session_id", "role", "host_turn_id", "timestamp", "after",
             "before", "atom_id", "new_content", "note", "evidence", "importance", "include_raw", "exclude_session", "turn",
             "session", "top_k", "max_tokens", "project_path"]  # fmt: skip

text = st.text(max_size=60) | st.sampled_from(
    ["", " ", "\0", "\ud800", "'; DROP TABLE turns; --", '"', "AND OR (", "*", "NEAR(", "../../etc/passwd", "</memory>",
     "default", "2026-11-30", "9" * 400, "a" * 5000, "鐵" * 300, "\u202e", "e" + "0" * 20, "n" + "f" * 20]
)  # fmt: skip
number = (
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([-1, 0, 10**6, 2**63, -(2**64), 1e308])
)
json_value = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
arguments = st.dictionaries(st.sampled_from(ARGUMENTS) | text, json_value, max_size=6)
identity = st.none() | st.integers() | text | st.booleans() | st.lists(st.integers(), max_size=1)
call = st.fixed_dictionaries({"name": st.sampled_from(TOOLS) | text, "arguments": arguments | json_value})
message = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | text, "id": identity, "method": st.sampled_from(METHODS) | text, "params": call | json_value,
        "result": json_value, "error": json_value,
    },
)  # fmt: skip
header_value = st.text(st.sampled_from(string.printable.strip() + " "), max_size=40).map(str.strip) | st.sampled_from(
    ["localhost", "evil.example", "null", "Bearer", "Bearer  ", "chunked", "-1", "999999999999999999999", "application/json",
     "text/plain", "application/json; charset=utf-7", "*/*", "text/event-stream", "100-continue", "gzip", "default"]
)  # fmt: skip
DEEP = [b"[" * 100_000, b'{"a":' * 50_000, b"1" * 10_000]
wire_method = st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW", "get", ""])
wire_path = st.sampled_from(
    ["/mcp/memory", "/mcp/memory/", "/health", "/", "*", "//", "/%00", "/mcp/../health", "http://x/health"]
)
printable = st.text(string.printable, max_size=20)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = home_in(tmp_path_factory.mktemp("fuzz"))
    home.configure("[mcp]\nraw_tools = true\ncuration = true\n")
    home.token("first")
    with unbroken(home) as running:
        yield running


@pytest.fixture(scope="module")
def secret(served: Served) -> str:
    return served.home.token("fuzzer", scope="read,write,curate,proxy,chat,admin")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False, timeout=60) as opened:
        yield opened


def send(served: Served, client: httpx2.Client, secret: str, body: bytes, **headers: str) -> httpx2.Response:
    response = client.post(f"{served.url}/mcp/memory", headers=served.headers(secret, "proj", **headers), content=body)
    assert response.status_code < 500, (response.status_code, response.text, body[:500])
    assert served.process.poll() is None
    return response


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8")  # lone surrogates as escapes


@BOUNDED
@given(
    body=st.binary(max_size=300)
    | json_value.map(encoded)
    | st.sampled_from([b"[" * 100_000, b'{"a":' * 50_000, b"1" * 10_000])
)
def test_no_body_breaks_it(served: Served, client: httpx2.Client, secret: str, body: bytes) -> None:
    send(served, client, secret, body)


@BOUNDED
@given(sent=message | st.lists(message, max_size=3), version=st.sampled_from(VERSIONS))
def test_no_message_breaks_it(served: Served, client: httpx2.Client, secret: str, sent: Any, version: str) -> None:
    send(served, client, secret, encoded(sent), **({"mcp-protocol-version": version} if version else {}))


@BOUNDED
@given(tool=st.sampled_from(TOOLS), given=arguments, modern=st.booleans())
def test_no_arguments_of_a_tool_break_it(
    served: Served, client: httpx2.Client, secret: str, tool: str, given: dict[str, Any], modern: bool
) -> None:
    params: dict[str, Any] = {"name": tool, "arguments": given}
    headers = {"mcp-protocol-version": "2025-06-18"}
    if modern:
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
        about = "io.modelcontextprotocol/"
        params["_meta"] = {
            f"{about}protocolVersion": "2026-07-28", f"{about}clientInfo": {"name": "fuzz", "version": "1"},
            f"{about}clientCapabilities": {},
        }  # fmt: skip
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = send(served, client, secret, encoded(sent), **headers)
    if response.status_code != 200:
        return
    answer = json.loads(response.text.partition("data: ")[2] or response.text)
    result = answer.get("result", {})
    if result.get("isError") and tool != "nonsense":
        assert set(result["structuredContent"]) >= {"code", "message", "hint"}, answer
        assert "Unexpected" not in result["content"][0]["text"], answer


@BOUNDED
@given(
    method=wire_method | printable,
    path=wire_path | printable,
    headers=st.lists(st.tuples(st.sampled_from(NAMES) | printable, header_value), max_size=8),
    body=st.binary(max_size=100),
    good=st.booleans(),
)  # fmt: skip
def test_no_bytes_on_the_wire_break_it(
    served: Served, secret: str, method: str, path: str, headers: list[tuple[str, str]], body: bytes, good: bool
) -> None:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if good:
        lines += [
            "Host: localhost",
            f"Authorization: Bearer {secret}",
            "X-Raw-Rag-Space: proj",
            f"Content-Length: {len(body)}",
        ]
    sent = "\r\n".join([*lines, "Connection: close", "", ""]).encode("utf-8") + body
    status = answered(served, sent)
    assert status is None or 100 <= status < 500, (status, sent)
    assert served.process.poll() is None
    assert served.ask("/health", method="GET").status_code == 200


def answered(served: Served, sent: bytes) -> int | None:
    """The status of the answer to these bytes; None: the connection was closed, or more is waited for."""
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2])), timeout=30) as connection:
        connection.sendall(sent)
        connection.settimeout(0.3)  # it may be waiting for more
        try:
            first = connection.recv(20)
        except TimeoutError:
            return None
    return int(first[9:12]) if first.startswith(b"HTTP/") else None
