"""Real stdio servers beside a serving process: they use its model, and go on without it in the middle of a session."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from agent_raw_rag.encode.daemon_presence import MOST_AWAY_SECONDS
from agent_raw_rag.runtime import Runtime
from tests.daemon.running import EMBEDDED, children, health, home_of, maps, serving
from tests.process.processes import SERVER, environment_of
from tests.process.watching import wait_for
from tests.samples import sample_environment

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
CONFIG = f"{EMBEDDED}[search]\nrerank_budget_ms = 60000\n"
"""Nothing is left out for want of time, so that answers are equal."""
QUESTION = {"query": "drop the retry", "project_path": "*"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a home whose store holds the sample logs, with vectors."""
    made = sample_environment(tmp_path_factory.mktemp("samples"), config=CONFIG)
    Runtime.load(None, made).ingest()
    return made


class Session:
    """One client and the server process that it started."""

    def __init__(self, client: Client, pid: int) -> None:
        self.client = client
        self.pid = pid

    async def search(self) -> dict[str, Any]:
        """The structured answer to the question, ranked by vectors too."""
        found = await self.client.call_tool("raw_rag_search", QUESTION)
        assert not found.is_error, found
        answer: dict[str, Any] = found.structured_content or {}
        assert answer["passages"] and any(stage.startswith("dense: ") for stage in answer["stages"])
        assert not any(stage.startswith("dense: skipped") for stage in answer["stages"]), answer["stages"]
        return answer

    def has_model(self) -> bool:
        """Whether it has loaded one of its own."""
        return "onnxruntime" in maps(self.pid)


async def session(stack: AsyncExitStack, environment: dict[str, str]) -> Session:
    known = children()
    start = StdioServerParameters(
        command=sys.executable, args=["-c", SERVER, "--no-catch-up"], env=environment_of(environment)
    )
    client = await stack.enter_async_context(Client(stdio_client(start)))
    return Session(client, (children() - known).pop())


def test_servers_use_the_one_loaded_model_and_load_none(environment: dict[str, str]) -> None:
    async def talk() -> None:
        with anyio.fail_after(90):
            async with AsyncExitStack() as stack:
                sessions = [await session(stack, environment) for _ in range(2)]
                answers = [await one.search() for one in sessions for _ in range(2)]
                assert all(answer == answers[0] for answer in answers)
                assert any("late interaction" in stage for stage in answers[0]["stages"])
                assert [one.has_model() for one in sessions] == [False, False]

    with serving(environment):
        anyio.run(talk)
        made = health(home_of(environment))["made"]
        assert made["vectors"] == 4 and made["states"] > 4


def test_a_session_goes_on_when_the_process_is_killed_and_uses_the_next_one(environment: dict[str, str]) -> None:
    async def talk() -> None:
        with anyio.fail_after(110):
            async with AsyncExitStack() as stack:
                one = await session(stack, environment)
                with serving(environment) as first:
                    shared = await one.search()
                    assert not one.has_model()
                    os.kill(first.pid, signal.SIGKILL)
                    first.wait()
                    assert await one.search() == shared
                    assert one.has_model()
                with serving(environment):
                    with anyio.fail_after(MOST_AWAY_SECONDS + 20):
                        while not health(home_of(environment))["made"]["vectors"]:
                            assert await one.search() == shared

    anyio.run(talk)


def test_without_a_daemon_a_server_loads_its_own(environment: dict[str, str]) -> None:
    async def talk() -> None:
        with anyio.fail_after(90):
            async with AsyncExitStack() as stack:
                one = await session(stack, environment)
                await one.search()
                assert one.has_model()

    anyio.run(talk)


def test_a_one_shot_ingest_lets_the_daemon_make_the_vectors(tmp_path: Path) -> None:
    made = sample_environment(tmp_path, config=EMBEDDED)
    with serving(made):
        report = Runtime.load(None, made).ingest()
        assert report.embedded and not report.backlog
        wait_for(lambda: health(home_of(made))["made"]["vectors"] == report.embedded, "the count of vectors")
