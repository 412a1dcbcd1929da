"""Connecting is killed at any of its steps: the agent's file is whole, and the next run and undoing find their way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connect.agents import FILES
from tests.process.processes import RAW_RAG, environment_of

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to be killed many times without starting anew"),
]
DRIVER = """
import contextlib, io, json, os, signal, sys, tempfile
from pathlib import Path
from typer.testing import CliRunner
from agent_raw_rag.cli.app import app
from agent_raw_rag.connect import files, journal, parts, plan, toml, wire
from agent_raw_rag.cli import connect
from agent_raw_rag.store import lock

folder, name, path = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
EVENTS = ("open", "os.rename", "os.remove", "os.chmod", "os.mkdir", "os.rmdir", "os.chown", "os.truncate")

def run(words, kill_at=0):
    child = os.fork()
    if child == 0:
        left = [kill_at]
        def count(event, arguments):
            if event in EVENTS and any(str(folder) in str(one) for one in arguments):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = CliRunner().invoke(app, words)
        os._exit(result.exit_code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def found():
    return {str(one.relative_to(folder)): one.read_bytes().hex() for one in folder.rglob("*") if one.is_file()}

with tempfile.TemporaryDirectory() as warm:  # all that is imported late is imported before the first fork
    for words in (["connect", "pi", "codex"], ["connect", "pi", "codex", "--undo"]):
        CliRunner(env={"HOME": warm, "RAW_RAG_HOME": warm + "/own"}).invoke(app, words)
before = path.read_bytes() if path.exists() else None
start = found()
allowed = {before}
assert run(["connect", name]) == 0
allowed.add(path.read_bytes())
assert run(["connect", name, "--undo"]) == 0
steps = []
for words in (["connect", name], ["connect", name, "--undo"]):
    for step in range(1, 200):
        if "--undo" in words:
            assert run(["connect", name]) == 0
        status = run(words, step)
        now = path.read_bytes() if path.exists() else None
        assert now in allowed, (words, step, now)
        assert run(["connect", name]) == 0, step
        assert path.read_bytes() in allowed, step
        assert run(["connect", name, "--undo"]) == 0
        end = {one: data for one, data in found().items() if not one.startswith("own/")}
        assert end == {one: data for one, data in start.items() if not one.startswith("own/")}, (words, step, sorted(end))
        if status == 0:
            break
    steps.append(step)
print(json.dumps(steps))
"""


@pytest.mark.parametrize("case", ["codex", "missing"])
def test_killed_at_any_step_it_leaves_a_whole_file_and_a_way_back(tmp_path: Path, case: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    name = "pi" if case == "missing" else FILES[case].name
    path = home / (".pi/agent/mcp.json" if case == "missing" else FILES[case].path)
    if case != "missing":
        path.parent.mkdir(exist_ok=True)
        path.write_text(FILES[case].text, encoding="utf-8")
    environment = environment_of({"HOME": str(home), "RAW_RAG_HOME": str(tmp_path / "own")})
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path), name, str(path)], env=environment, capture_output=True, text=True,
        timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    connecting, undoing = json.loads(done.stdout)
    assert connecting > 8 and undoing > 5, "it was killed that often"


def test_two_that_connect_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    names = ["claude", "codex", "opencode", "omp", "pi", "antigravity"]
    environment = environment_of({"HOME": str(home), "RAW_RAG_HOME": str(tmp_path / "own")})
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RAW_RAG, "connect", name, "--instructions"], env=environment, cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for name in names
    ]  # fmt: skip
    said = [process.communicate(timeout=110)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(names), said
    done = subprocess.run(
        [sys.executable, "-c", RAW_RAG, "connect", *names, "--undo"], env=environment, cwd=tmp_path, check=False,
        timeout=110,
    )  # fmt: skip
    assert done.returncode == 0 and list(home.iterdir()) == [], "the journal knew of all of them"
