"""Servers that are asked, a daemon that reads and agents that write: whoever of them is killed, all is there once, and nobody errs."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import anyio
import pytest

from agent_raw_rag.runtime import Runtime
from tests.process.aftermath import aftermath
from tests.process.pens import Writing, pens
from tests.process.processes import environment_of
from tests.process.unrest import DAEMON, Unrest
from tests.process.watching import Home

ROUNDS, SERVERS = 6, 2
QUESTIONS = ["drop the retry", "What did we say about the upload?", "checksum of a part"]
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


def test_whoever_is_killed_nothing_is_lost_doubled_or_refused(tmp_path: Path) -> None:
    home = Home.of(tmp_path)
    writing, chance = Writing(pens(home.path)), random.Random(3)

    async def rounds() -> Unrest:
        with (tmp_path / "stderr").open("w", encoding="utf-8") as log, anyio.fail_after(100):
            going = Unrest(environment_of(home.variables), QUESTIONS, log)
            async with going.going_on(SERVERS):
                for _ in range(ROUNDS):
                    await going.settled(lambda: len(going.seats) == SERVERS + 1 and min(going.answered.values()) > 1)
                    if going.kill(chance) == DAEMON:
                        said = len(writing.said)
                        await going.settled(lambda: len(writing.said) > said + 2)
        return going

    Runtime.load(None, home.variables).ingest(embed=False)
    writing.start()
    try:
        going = anyio.run(rounds)
    finally:
        said = writing.end()
    assert going.heard.errors == []
    assert len(going.heard.seconds) > ROUNDS
    assert "Traceback" not in (tmp_path / "stderr").read_text(encoding="utf-8")
    after = aftermath(home.variables, said, tmp_path / "once")
    assert after.is_sound, after
