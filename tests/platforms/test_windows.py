"""What Windows lacks is not needed: the main ways of the product in processes that have it not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.process.processes import environment_of
from tests.samples import PROJECT, sample_environment

ROOT = Path(__file__).parents[2]
ENTER = "from tests.platforms import windows; windows.enter()\n"
EVERY_MODULE = """
import importlib, pkgutil, sys, agent_raw_rag
names = [one.name for one in pkgutil.walk_packages(agent_raw_rag.__path__, "agent_raw_rag.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""
COMMANDS = "import sys; from agent_raw_rag.cli.{module} import main; main()"
SERVE = "import sys; from agent_raw_rag.daemon.alone import main; sys.exit(main())"
HEALTH = """
import os
from agent_raw_rag.encode.daemon_link import Link
health = Link(os.environ["RAW_RAG_HOME"]).health()
print(health.pid if health else None)
"""
VECTORS = """
import sys, threading
import numpy as np
from pathlib import Path
from agent_raw_rag.vectors import descriptor
assert descriptor._pread is None and descriptor._pwrite is None and descriptor._preadv is None
import os
path = Path(sys.argv[1], "numbers")
handle = os.open(path, os.O_RDWR | os.O_CREAT)
for place in range(400):
    descriptor.write_at(handle, memoryview(place.to_bytes(4, "big")), 4 * place)
wrong = []
def read(first):
    buffer = bytearray(4)
    for place in range(first, 400, 8):
        descriptor.fill_from(handle, memoryview(buffer), 4 * place)
        if int.from_bytes(buffer, "big") != place or descriptor.read_at(handle, 4, 4 * place) != bytes(buffer):
            wrong.append(place)
threads = [threading.Thread(target=read, args=(first,)) for first in range(8)]
[one.start() for one in threads]; [one.join() for one in threads]
assert not wrong, wrong
assert descriptor.fill_from(handle, memoryview(bytearray(9)), 4 * 399) == 4, "the end of the file"
"""
STDIO = """
import asyncio, json, sys
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.server.app import build
from mcp.client.client import Client
async def main():
    async with Client(build(lambda: Runtime.load(None))) as client:
        found = await client.call_tool("raw_rag_search", {"query": "retry", "project_path": "*"})
        print(found.is_error, len(found.structured_content["passages"]))
asyncio.run(main())
"""
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="there it is the real one that is tested"),
]


def ran(program: str, environment: dict[str, str], *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", ENTER + program, *words], cwd=ROOT, env=environment_of(environment), input=typed, text=True,
        capture_output=True, timeout=115, check=False, encoding="utf-8",
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def command(environment: dict[str, str], *words: str, module: str = "app") -> str:
    done = ran(COMMANDS.format(module=module), environment, *words)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = sample_environment(tmp_path_factory.mktemp("windows"), config="")
    return {**made, "USERPROFILE": made["HOME"]}


@pytest.fixture(scope="module")
def stored(environment: dict[str, str]) -> dict[str, str]:
    command(environment, "--quiet", module="ingest")
    return environment


def test_every_module_can_be_imported(environment: dict[str, str]) -> None:
    done = ran(EVERY_MODULE, environment)
    assert done.returncode == 0 and int(done.stdout) > 250, done.stderr


def test_vectors_are_read_by_many_threads_from_one_file(environment: dict[str, str], tmp_path: Path) -> None:
    done = ran(VECTORS, environment, str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_logs_are_read_embedded_and_found(stored: dict[str, str]) -> None:
    status = json.loads(command(stored, "status", "--json"))
    assert status["turns"] > 0 and status["backlog"] == 0 and status["embedded"] == status["chunks"]
    found = json.loads(command(stored, "search", "retry", "-p", PROJECT, "--json"))
    assert found["passages"] and "dense" in " ".join(found["stages"])


def test_the_other_commands_work(stored: dict[str, str]) -> None:
    assert command(stored, "sessions")
    assert command(stored, "recent", "-p", "*")
    assert "cd " in command(stored, "resume", "7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001", "--print")
    assert ran(COMMANDS.format(module="app"), stored, "doctor").returncode in (0, 1)
    assert "Service  unsupported" in command(stored, "--daemon-status", module="ingest")
    refused = ran(COMMANDS.format(module="ingest"), stored, "--install-daemon")
    assert refused.returncode == 1 and "schtasks" in refused.stderr


def test_connecting_and_undoing_work(environment: dict[str, str], tmp_path: Path) -> None:
    home = {**environment, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "RAW_RAG_HOME": str(tmp_path / "own")}
    (tmp_path / ".claude.json").write_text('{"a": 1}', "utf-8")
    program = f"""
import sys; from pathlib import Path
programs = Path({str(tmp_path)!r}, "programs"); programs.mkdir(exist_ok=True)
for name in ("agent-raw-rag-mcp", "raw-rag"):
    (programs / (name + ".exe")).touch()
sys.executable = str(programs / "python.exe")
{COMMANDS.format(module="app")}
"""
    done = ran(program, home, "connect", "claude", "codex", "--hooks", "--instructions")
    assert done.returncode == 0, done.stderr
    entry = json.loads((tmp_path / ".claude.json").read_text("utf-8"))["mcpServers"]["raw-rag"]
    assert entry["command"].endswith("agent-raw-rag-mcp.exe")
    settings = json.loads((tmp_path / ".claude/settings.json").read_text("utf-8"))
    line = settings["hooks"]["PreCompact"][0]["hooks"][0]["command"]
    assert f"raw-rag.exe hook --set RAW_RAG_HOME={tmp_path}/own pre-compact --agent claude" in line
    done = ran(program, home, "connect", "claude", "codex", "--undo")
    assert done.returncode == 0 and (tmp_path / ".claude.json").read_text("utf-8") == '{"a": 1}'


def test_a_hook_takes_its_variables_from_its_command_line(stored: dict[str, str]) -> None:
    without = {name: value for name, value in stored.items() if not name.startswith("RAW_RAG")}
    given = json.dumps({"cwd": PROJECT, "source": "compact", "session_id": "x"})
    words = [
        "hook",
        "--set",
        f"RAW_RAG_HOME={stored['RAW_RAG_HOME']}",
        "--set",
        "RAW_RAG_HOOK_MS=60000",
        "session-start",
    ]
    done = ran("from agent_raw_rag.cli.start import main; main()", without, *words, typed=given)
    assert "additionalContext" in done.stdout, done.stderr


def test_the_daemon_serves_on_a_port_with_a_token(stored: dict[str, str]) -> None:
    serving = subprocess.Popen(
        [sys.executable, "-c", ENTER + SERVE], cwd=ROOT, env=environment_of(stored), stdout=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        assert int(serving.stdout.readline().removeprefix("serving ")) > 0, "a port, no path"
        assert ran(HEALTH, stored).stdout.strip() == str(serving.pid)
    finally:
        serving.terminate()
        serving.communicate(timeout=60)


def test_an_agent_is_answered(stored: dict[str, str]) -> None:
    done = ran(STDIO, stored)
    assert done.stdout.startswith("False ") and int(done.stdout.split()[1]) > 0, done.stderr
