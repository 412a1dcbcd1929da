"""A server waits for the head of a request, and not for ever."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from agent_raw_rag.server.http.patience import Timed
from agent_raw_rag.server.http.quiet import OnceASecond


class Short(Timed):
    """One that waits for a moment only."""

    head_seconds = 0.2


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers when the body says so."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http=Short, ws="none", log_config=None))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
    thread.start()
    yield bound.getsockname()
    server.should_exit = True
    thread.join()


def test_a_connection_that_says_nothing_and_one_that_stops_halfway_are_closed(address: tuple[str, int]) -> None:
    for said in (b"", b"GET / HTTP/1.1\r\nhost: x\r\n"):
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(said)
            assert connection.recv(100) == b""


def test_a_kept_connection_is_closed_when_its_next_head_stops_halfway(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"ok"):
            answer += connection.recv(1000)
        connection.sendall(b"GET / HT")
        assert connection.recv(100) == b""


def test_what_is_said_over_and_over_is_written_once(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("tests.patience")
    log.addFilter(OnceASecond())
    for _ in range(500):
        log.error("no more descriptors")
    log.error("something else")
    assert [record.message for record in caplog.records] == ["no more descriptors", "something else"]
