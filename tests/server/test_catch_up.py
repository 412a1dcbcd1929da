"""The background ingest after the handshake."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from mcp import Client

from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import Runtime, heartbeat
from agent_raw_rag.runtime.heartbeat import Heartbeat
from agent_raw_rag.server.app import build
from agent_raw_rag.server.catch_up import CatchUp
from agent_raw_rag.store.lock import DAEMON, WRITER, lock
from tests.samples import empty_runtime
from tests.server.calls import text


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the product logs, whether or not a command of this process has set its logger up already."""
    logger = logging.getLogger(NAME)
    level = logger.level
    logger.addHandler(caplog.handler)
    logger.setLevel(logging.INFO)
    yield caplog
    logger.removeHandler(caplog.handler)
    logger.setLevel(level)


def after_a_handshake(runtime: Runtime) -> CatchUp:
    """The catch-up of a server that a client has connected to and left, at its end."""
    catch_up = CatchUp(lambda: runtime, after_seconds=0)

    async def run() -> None:
        async with Client(build(lambda: runtime, catch_up=catch_up)) as client:
            await client.list_tools()

    anyio.run(run)
    assert catch_up.wait(60)
    return catch_up


def test_it_reads_what_is_new(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path)
    after_a_handshake(runtime)
    assert runtime.status().sessions == 6


def test_it_leaves_the_store_to_another_writer(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    runtime = empty_runtime(tmp_path)
    with lock(runtime.home, WRITER, wait_seconds=0, purpose="a test"):
        after_a_handshake(runtime)
    assert "Another process is writing" in logged.text
    assert not (Path(runtime.home) / "raw_rag.db").exists()


def test_a_store_that_cannot_be_used_is_logged_and_no_more(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    runtime = empty_runtime(tmp_path)
    (Path(runtime.home) / "raw_rag.db").write_bytes(b"this is no database, however long one looks at it" * 100)
    after_a_handshake(runtime)
    assert "the catch-up failed" in logged.text and "Traceback" not in logged.text


def test_while_it_runs_a_search_says_that_it_does(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path)
    catch_up = CatchUp(lambda: runtime, after_seconds=3600)

    async def run() -> str:
        async with Client(build(lambda: runtime, catch_up=catch_up)) as client:
            return text(await client.call_tool("raw_rag_search", {"query": "retry"}))

    said = anyio.run(run)
    assert "no store" in said and "catch-up" in said and "again in a moment" in said
    assert catch_up.stop(10) and catch_up.running() is None


def test_a_server_that_nobody_spoke_to_has_nothing_to_stop(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path)
    assert CatchUp(lambda: runtime).stop(0)


def test_it_leaves_reading_to_a_daemon_that_has_caught_up(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    runtime = empty_runtime(tmp_path)
    beat = Heartbeat(pid=1, version="1", started=0, beat=0, caught_up=False)
    with lock(runtime.home, DAEMON, wait_seconds=0, purpose="a test"):
        heartbeat.write(runtime.home, replace(beat, caught_up=True))
        after_a_handshake(runtime)
        assert "the daemon keeps the store current" in logged.text
        assert not (Path(runtime.home) / "raw_rag.db").exists()
        heartbeat.write(runtime.home, beat)
        after_a_handshake(runtime)
        assert runtime.status().sessions == 6


def test_what_a_dead_daemon_said_is_not_believed(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path)
    heartbeat.write(runtime.home, Heartbeat(pid=1, version="1", started=0, beat=0, caught_up=True))
    after_a_handshake(runtime)
    assert runtime.status().sessions == 6
