"""The files that agents load as code: run by Node against the interface that the agents document."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.connect.plan import wirings

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(NODE is None or os.name == "nt", reason="needs Node, and a shell for the fake hook"),
]
PI = """
import extension from "./raw-rag.mjs";
const handlers = {};
extension({ on: (name, handler) => { handlers[name] = handler; } });
const context = { cwd: "/w", sessionManager: { getSessionId: () => "s-1" } };
const said = [];
const turn = async () => said.push((await handlers.before_agent_start({ prompt: "x" }, context)) ?? null);
await handlers.session_start({}, context);
await turn(); await turn();
await handlers.session_before_compact({}, context);
await handlers.session_compact({}, context);
await turn(); await turn();
console.log(JSON.stringify(said));
"""
OPENCODE = """
import { RawRag } from "./raw-rag.mjs";
const hooks = await RawRag({ directory: "/w" });
const said = [];
const step = async (sessionID) => {
  const output = { system: ["theirs"] };
  await hooks["experimental.chat.system.transform"]({ sessionID }, output);
  said.push(output.system);
};
await step("s-1");
await hooks["experimental.session.compacting"]({ sessionID: "s-1" }, { context: [] });
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s-1" } } });
await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s-1" } } });
await step("s-1"); await step("s-1"); await step("s-2");
console.log(JSON.stringify(said));
"""
ANSWER = '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "recap"}}'


def ran(folder: Path, name: str, driver: str, hook: str) -> tuple[Any, list[str]]:
    """What a driver prints, and the calls that the fake hook saw."""
    extension = wirings()[name][1].extension
    assert extension is not None
    fake = folder / "raw-rag"
    fake.write_text(f'#!/bin/sh\necho "$* $MINE $(cat)" >> {folder}/calls\n{hook}\n', "utf-8")
    fake.chmod(0o755)
    text = extension.text(json.dumps([str(fake), "hook"]), json.dumps({"MINE": "1"}))
    (folder / "raw-rag.mjs").write_text(text, "utf-8")
    (folder / "driver.mjs").write_text(driver, "utf-8")
    done = subprocess.run(
        [str(NODE), "driver.mjs"], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    calls = folder / "calls"
    return json.loads(done.stdout), calls.read_text("utf-8").splitlines() if calls.exists() else []


@pytest.mark.parametrize("name", ["omp", "pi"])
def test_the_recap_comes_before_the_first_prompt_and_after_a_compaction(tmp_path: Path, name: str) -> None:
    said, calls = ran(tmp_path, name, PI, f"echo '{ANSWER}'")
    message = {"message": {"customType": "raw-rag", "content": "recap", "display": False}}
    assert said == [message, None, message, None]
    assert [call.split()[:2] for call in calls] == [
        ["hook", "session-start"],
        ["hook", "pre-compact"],
        ["hook", "session-start"],
    ]
    assert '1 {"source":"compact","cwd":"/w","session_id":"s-1"}' in calls[-1]


def test_after_a_compaction_the_recap_stands_in_every_system_prompt_of_that_session(tmp_path: Path) -> None:
    said, calls = ran(tmp_path, "opencode", OPENCODE, f"echo '{ANSWER}'")
    assert said == [["theirs"], ["theirs", "recap"], ["theirs", "recap"], ["theirs"]]
    assert len(calls) == 2


@pytest.mark.parametrize(("name", "driver"), [("pi", PI), ("opencode", OPENCODE)])
@pytest.mark.parametrize(
    "hook", ["exit 3", "echo no json", "exec tail -f /dev/null"], ids=["fails", "babbles", "hangs"]
)
def test_a_hook_that_misbehaves_disturbs_nobody(tmp_path: Path, name: str, driver: str, hook: str) -> None:
    said, _ = ran(tmp_path, name, driver, hook)
    assert "recap" not in json.dumps(said)
