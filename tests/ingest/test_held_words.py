"""Words that an adapter has read and not told yet stand in no file of the store: they went through no sanitizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dump import differences, dump
from tests.ingest.claude_log import folder, line, lines
from tests.store_support import Ingest

SECRET = "ghp_" + "Zx9Kq8rT2mVw7bLp4nYs6dFg3hJk1c0aBcDe"
SESSION = "019a5b00-1c2d-7000-8000-00000000a001"


def rollout(kind: str, second: int, **payload: Any) -> str:
    return json.dumps({"timestamp": f"2026-10-05T10:00:{second:02}.000Z", "type": kind, "payload": payload}) + "\n"


ROLLOUT = [
    rollout("session_meta", 0, id=SESSION, cwd=f"/w/{SECRET}", originator="codex_cli_rs", cli_version="0.60.0"),
    rollout("event_msg", 1, type="user_message", message=f"push with {SECRET}"),
    rollout("event_msg", 2, type="agent_message", message=f"pushed with {SECRET}"),
    rollout("response_item", 3, type="message", role="assistant",
            content=[{"type": "output_text", "text": f"pushed with {SECRET}"}]),
    rollout("event_msg", 4, type="user_message", message="thanks"),
    rollout("event_msg", 5, type="agent_message", message=f"and once more {SECRET}"),
]  # fmt: skip
QUEUED = [
    json.dumps({"type": "custom-title", "customTitle": f"use {SECRET}", "sessionId": "s1"}) + "\n",
    *lines(3),
    json.dumps({"type": "queue-operation", "operation": "enqueue", "sessionId": "s1",
                "timestamp": "2026-10-05T10:00:03Z", "content": f"then push with {SECRET}"}) + "\n",
    line(4),
    json.dumps({"type": "queue-operation", "operation": "remove", "sessionId": "s1",
                "timestamp": "2026-10-05T10:00:05Z", "content": f"then push with {SECRET}"}) + "\n",
    line(5),
]  # fmt: skip


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    return Ingest(tmp_path / "home", tmp_path / "store")


def log_of(agent: str, home: Path) -> Path:
    if agent == "claude":
        return folder(home) / "s1.jsonl"
    day = home / ".codex/sessions/2026/10/05"
    day.mkdir(parents=True)
    return day / f"rollout-2026-10-05T10-00-00-{SESSION}.jsonl"


@pytest.mark.parametrize(("agent", "log"), [("codex", ROLLOUT), ("claude", QUEUED)])
def test_a_secret_is_in_no_file_wherever_the_log_is_cut(
    ingest: Ingest, tmp_path: Path, agent: str, log: list[str]
) -> None:
    path = log_of(agent, ingest.home)
    for number in range(1, len(log) + 1):
        path.write_text("".join(log[:number]), encoding="utf-8")
        ingest.run(agent)
        assert [file.name for file in (tmp_path / "store").iterdir() if SECRET.encode() in file.read_bytes()] == []
    whole = Ingest(ingest.home, tmp_path / "whole")
    whole.run(agent)
    assert differences(dump(ingest.connection), dump(whole.connection)) == []


def test_what_is_held_is_not_remembered_and_told_when_it_is_its_turn(ingest: Ingest) -> None:
    path = log_of("codex", ingest.home)
    path.write_text("".join(ROLLOUT[:3]), encoding="utf-8")
    ingest.run("codex")
    (state,) = ingest.connection.execute("SELECT state FROM cursors").fetchone()
    assert json.loads(state)["held"] == []
    path.write_text("".join(ROLLOUT[:4]), encoding="utf-8")
    ingest.run("codex")
    said = [text for (text,) in ingest.connection.execute("SELECT text FROM turns ORDER BY ordinal")]
    assert said == ["push with [redacted:github-pat]", "pushed with [redacted:github-pat]"]
