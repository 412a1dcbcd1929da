"""Servers that are asked, a daemon that reads, agents that write: whoever is killed, all is there once, and nobody errs."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from agent_raw_rag.runtime import Runtime, heartbeat
from tests.process.aftermath import aftermath
from tests.process.pens import Writing, pens
from tests.process.processes import environment_of
from tests.process.unrest import DAEMON, Unrest
from tests.process.watching import Home

KILLED = (DAEMON, "server 0", DAEMON, "server 1")
SERVERS = 2
QUESTIONS = ["drop the retry", "What did we say about the upload?", "checksum of a part"]
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


def at_work(going: Unrest, home: Home) -> bool:
    """Whether the daemon that lives now has read everything, and each server that lives now has answered."""
    beat = heartbeat.read(str(home.store))
    reads = beat is not None and beat.caught_up and beat.pid == going.seats.get(DAEMON)
    return reads and len(going.seats) == SERVERS + 1 and len(going.answered) == SERVERS


async def rounds(home: Home, stderr: Path) -> Unrest:
    with stderr.open("w", encoding="utf-8") as log, anyio.fail_after(100):
        going = Unrest(environment_of(home.variables), QUESTIONS, log)
        async with going.going_on(SERVERS):
            for name in KILLED:
                await going.settled(lambda: at_work(going, home))
                going.kill(name)
            await going.settled(lambda: at_work(going, home))
    return going


def test_whoever_is_killed_nothing_is_lost_doubled_or_refused(tmp_path: Path) -> None:
    home, stderr = Home.of(tmp_path), tmp_path / "stderr"
    Runtime.load(None, home.variables).ingest(embed=False)
    writing = Writing(pens(home.path))
    writing.start()
    try:
        going = anyio.run(rounds, home, stderr)
    finally:
        said = writing.end()
    assert going.heard.errors == []
    assert going.heard.seconds and said
    assert "Traceback" not in stderr.read_text(encoding="utf-8")
    after = aftermath(home.variables, said, tmp_path / "once")
    assert after.is_sound, after
