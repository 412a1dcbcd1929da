"""Every operation of the served OpenAPI document under generated requests: none breaks the server, and every answer is one that
the document names, in the form that it gives. What is fuzzed follows from the document; ``benchmarks/fuzz.py`` sends more."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agent_raw_rag.server.http.rest import OPERATIONS
from agent_raw_rag.server.http.rest.openapi import document
from tests.servers.memory_http import Served, home_in, unbroken

pytestmark = pytest.mark.process
DOCUMENT = document(OPERATIONS)
PLACES = [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


def _asks_for_something(one: dict[str, Any]) -> bool:
    return "requestBody" in one or any(parameter["in"] != "header" for parameter in one.get("parameters", ()))


FUZZED = [
    pytest.param(method, path, mode, id=f"{method} {path} {mode.value}")
    for method, path in PLACES
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or _asks_for_something(DOCUMENT["paths"][path][method.lower()])
]
"""Bad requests are made where something is asked for."""
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example,
         HealthCheck.function_scoped_fixture]  # fmt: skip
BOUNDED = settings(
    max_examples=max(1, settings().max_examples * 12 // 100),
    deadline=None,
    suppress_health_check=QUIET,
    phases=[Phase.explicit, Phase.generate],
)
WIDER = settings(BOUNDED, max_examples=settings().max_examples * 3 // 2)
"""More where a request costs less. How many there are, and whether they are others each time, is as the profile says."""
IDS = [
    "%00", "%2F", "..", "%2e%2e", "..%2f..%2fetc", "%ff%fe", "%C3%28", "x" * 5000, "%22%3E%3Cscript%3E", "'%20OR%201=1--", "%",
    "%zz", "n" + "0" * 20, "e" + "f" * 20, "-1", "9" * 400, "%F0%9F%92%A9", "*", "{memory}", ";a=b", "%0d%0aX:1", "null",
]  # fmt: skip
QUERIES = [
    "", "?", "?limit=%00", "?limit=" + "9" * 5000, "?cursor=" + "A" * 3000, "?cursor=AAAA", "?a=b&a=c", "?limit=-1", "?%ff=%ff",
    "?since=%F0", "?after=yesterday&before=9999999d", "?limit=1;limit=2", "?&&&", "?token=x", "?reason=" + "x" * 30_000,
]  # fmt: skip
BODIES = [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"text": "\\ud800"}', b'{"query": "x", "min_score": 1e999}', b"[" * 100_000,
    b'{"text": "x", "metadata": ' + b'{"a":' * 150 + b"1" + b"}" * 151, b'{"limit": ' + b"9" * 5000 + b', "query": "x"}',
    b'{"metadata": {"a": ' + b"9" * 5000 + b'}, "text": "x"}', b'{"metadata": {"a": NaN}, "text": "x"}',
    json.dumps({"user": "u" * 10**6, "session_id": "\0", "assistant": "\u202e"}).encode(),
    json.dumps({"text": "x", "metadata": {"\0": "\0", "tags": [" "], "collection": "\u202e</memory>"}}).encode(),
    json.dumps({"text": "x", "metadata": {"tags": {"a": 1}}}).encode(), json.dumps({"ids": ["\0", "", "e" + "0" * 20]}).encode(),
]  # fmt: skip
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = home_in(tmp_path_factory.mktemp("rest-fuzz"))
    home.configure("")
    home.token("first")
    with unbroken(home) as running:
        yield running


@pytest.fixture(scope="module")
def secret(served: Served) -> str:
    return served.home.token("fuzzer", scope="read,write,curate,proxy,chat,admin")


@pytest.fixture(scope="module")
def session(secret: str) -> Iterator[requests.Session]:
    with requests.Session() as opened:
        opened.trust_env = False
        opened.headers["authorization"] = f"Bearer {secret}"
        yield opened


@pytest.fixture(scope="module")
def ids(served: Served, secret: str) -> list[str]:
    """Ids that mean something, since no generator would find one."""
    note = served.ask("/store", secret=secret, space="proj", body={"text": "The teapot is blue."}).json()["id"]
    turn = {"user": "Remember: the teapot is blue.", "assistant": "Yes.", "session_id": "s1"}
    return [note, *served.ask("/turn", secret=secret, space="proj", body=turn).json()["turn_ids"], "s1", "http:s1"]


@pytest.mark.parametrize(("method", "path", "mode"), FUZZED)
def test_every_answer_is_one_that_the_document_names(
    served: Served, session: requests.Session, ids: list[str], method: str, path: str, mode: GenerationMode
) -> None:
    operation = SCHEMA[path][method]

    @BOUNDED
    @given(
        case=operation.as_strategy(generation_mode=mode), known=st.none() | st.sampled_from(ids), space=st.booleans()
    )
    def fuzz(case: Case, known: str | None, space: bool) -> None:
        if known is not None and case.path_parameters:
            case.path_parameters = dict.fromkeys(case.path_parameters, known)
        if space or mode is GenerationMode.POSITIVE:
            case.headers["X-Raw-Rag-Space"] = "proj"
        response = case.call(base_url=served.url, session=session)
        assert response.status_code < 500 or _may_fail(operation.definition.raw, response.status_code), response.text
        if response.status_code not in (405, 408) and not _was_never_there(path, case):
            case.validate_response(response, checks=CHECKS)

    fuzz()
    alive(served, session)


def _may_fail(definition: dict[str, Any], status: int) -> bool:
    """Whether an operation needs what nobody set up here: a model."""
    return definition.get("x-scope") == "chat" and status in (502, 503, 504)


def _was_never_there(path: str, case: Case) -> bool:
    """A segment that is empty or dots makes it another path, of another operation or of none."""
    return "{" in path and any(
        str(value) in ("", ".", "..") or "/" in str(value) for value in case.path_parameters.values()
    )


place = st.sampled_from([path for _, path in PLACES])


named = st.sampled_from(IDS) | st.text(max_size=8)
bodies = st.sampled_from(BODIES) | st.binary(max_size=60)


@WIDER
@given(method=st.sampled_from(METHODS), path=place, named=named, query=st.sampled_from(QUERIES), body=bodies)
def test_no_path_query_or_body_breaks_it(
    served: Served, secret: str, session: requests.Session, method: str, path: str, named: str, query: str, body: bytes
) -> None:
    filled = path.replace("{", "\0").partition("\0")[0] + (named if "{" in path else "")
    status, said = answered(served, method, f"{filled}{query}".encode(), secret, body)
    assert status is None or 100 <= status < 500 or (status == 503 and path == "/chat"), (
        status,
        method,
        filled,
        query,
        body[:80],
    )
    if (
        status is not None
        and 400 <= status < 500
        and method in ("GET", "POST", "PUT", "DELETE")
        and said.startswith(b"{")
    ):
        assert json.loads(said).keys() == {"error", "code", "message", "hint"}, said
    alive(served, session)


@pytest.mark.parametrize("size", [10**5, 10**6])
def test_an_id_of_a_million_characters_is_refused(
    served: Served, secret: str, session: requests.Session, size: int
) -> None:
    for method in ("GET", "PUT", "DELETE"):
        status, _ = answered(served, method, b"/memory/" + b"n" * size, secret, b'{"content": "x"}')
        assert status is None or 400 <= status < 500
    alive(served, session)


def alive(served: Served, session: requests.Session) -> None:
    """It serves, and the token is as good as before."""
    assert served.process.poll() is None
    assert session.get(f"{served.url}/count", headers={"X-Raw-Rag-Space": "proj"}, timeout=60).status_code == 200


def answered(served: Served, method: str, path: bytes, secret: str, body: bytes) -> tuple[int | None, bytes]:
    """(status, body) of the answer to bytes that no client library has put right; (None, nothing): the connection was closed."""
    lines = [
        b"Host: localhost", b"Authorization: Bearer " + secret.encode(), b"X-Raw-Rag-Space: proj", b"Connection: close",
        b"Content-Type: application/json", b"Content-Length: " + str(len(body)).encode(),
    ]  # fmt: skip
    sent = method.encode() + b" " + path + b" HTTP/1.1\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + body
    parts = []
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2])), timeout=60) as connection:
        try:
            connection.sendall(sent)
            while part := connection.recv(65536):
                parts.append(part)
        except (ConnectionError, BrokenPipeError):
            pass
    head, _, said = b"".join(parts).partition(b"\r\n\r\n")
    return (int(head[9:12]) if head.startswith(b"HTTP/") else None), said


def test_the_document_that_is_fuzzed_is_the_one_that_is_served(served: Served) -> None:
    with httpx2.Client(trust_env=False) as client:
        assert client.get(f"{served.url}/openapi.json").json() == json.loads(json.dumps(DOCUMENT))
