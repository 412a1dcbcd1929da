"""The server as a real process: handshake, purity of stdout, end, and what its start must not load."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

from agent_raw_rag import __version__
from tests.process.processes import SERVER, environment_of, loaded_after, run
from tests.samples import PROJECT, sample_environment

pytestmark = pytest.mark.process

HEAVY = {"numpy", "tantivy", "tiktoken", "onnxruntime", "tokenizers", "sqlite_utils", "typer", "orjson", "Stemmer"}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


def parameters(environment: dict[str, str], *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-c", SERVER, *arguments], env=environment_of(environment)
    )


def started(environment: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments], env=environment_of(environment), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def conversation(process: subprocess.Popen[bytes], lines: list[bytes]) -> tuple[list[dict[str, Any]], bytes]:
    """Every line of stdout as JSON, and stderr, after all lines were sent and stdin was closed."""
    out, err = process.communicate(b"".join(line + b"\n" for line in lines), timeout=60)
    return [json.loads(line) for line in out.splitlines()], err


def message(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_of_either_generation_finds_what_the_catch_up_read(
    tmp_path: Path, mode: Literal["auto", "legacy"]
) -> None:
    async def talk() -> CallToolResult:
        with anyio.fail_after(90):
            async with Client(stdio_client(parameters(sample_environment(tmp_path))), mode=mode) as client:
                assert len((await client.list_tools()).tools) == 10
                while True:
                    found = await client.call_tool("raw_rag_search", {"query": "drop the retry", "project_path": "*"})
                    if not found.is_error and (found.structured_content or {})["passages"]:
                        return found

    content = anyio.run(talk).structured_content or {}
    assert content["passages"][0]["project"] == PROJECT


def test_without_the_catch_up_nothing_is_read(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    lines = [json.dumps(INITIALIZE).encode(), message(1, "tools/list"), message(2, "tools/call", name="raw_rag_status")]
    answers, _ = conversation(started(environment, "--no-catch-up"), lines)
    assert answers[0]["result"]["serverInfo"]["version"] == __version__
    assert not (Path(environment["RAW_RAG_HOME"]) / "raw_rag.db").exists()


@pytest.mark.line("E9")
def test_stdout_holds_nothing_but_json_rpc_whatever_comes_in(tmp_path: Path) -> None:
    hostile = [
        b"not json", b"", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe\x00", b'{"jsonrpc":"2.0","id":7,"method":"nope"}',
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"raw_rag_search","arguments":{"query":"\\ud800"}}}',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}', b"[" * 5000,
        message(10, "tools/call", name="raw_rag_search", arguments={"query": "x\u2028y\x00z", "project_path": "a\x00b"}),
        message(11, "tools/call", name="raw_rag_ingest", arguments={}),
        message(12, "tools/call", name="no_such_tool", arguments={}),
        message(13, "tools/call", name="memory_save", arguments={"content": "x\x00", "source": "\x1b[2J"}),
        message(14, "tools/call", name="memory_capture", arguments={"content": "said"}),
        message(15, "tools/call", name="memory_recall", arguments={"query": "x", "include_raw": "perhaps"}),
    ]  # fmt: skip
    process = started(sample_environment(tmp_path), "--no-catch-up")
    answers, _ = conversation(process, [json.dumps(INITIALIZE).encode(), *hostile])
    assert answers and all(one["jsonrpc"] == "2.0" for one in answers)
    assert process.returncode == 0


def test_the_end_of_stdin_is_the_end_of_the_server(tmp_path: Path) -> None:
    for arguments in ([], ["--no-catch-up"]):
        process = started(sample_environment(tmp_path / str(len(arguments))), *arguments)
        answers, err = conversation(process, [json.dumps(INITIALIZE).encode()])
        assert process.returncode == 0
        assert len(answers) == 1 and b"Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent between processes there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_and_quietly(tmp_path: Path, number: signal.Signals) -> None:
    process = started(sample_environment(tmp_path))
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 0
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    out, err = process.communicate()
    assert (out, err) == (b"", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent between processes there")
def test_a_signal_during_the_start_ends_it_quietly_too(tmp_path: Path) -> None:
    interrupted = (
        "import os, signal, sys\nfrom agent_raw_rag.server import stdio\n"
        "class Watch:\n  def find_spec(self, name, *_):\n"
        "    if name == 'agent_raw_rag.runtime': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Watch())\nsys.exit(stdio.main([]))"
    )
    shown = run(interrupted, sample_environment(tmp_path))
    assert (shown.returncode, shown.stdout, shown.stderr) == (128 + signal.SIGINT, "", "")


def test_an_unknown_flag_is_wrong_use(tmp_path: Path) -> None:
    shown = run(SERVER, sample_environment(tmp_path), "--frobnicate")
    assert shown.returncode == 2 and shown.stdout == "" and "usage:" in shown.stderr


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_told(tmp_path: Path, flag: str) -> None:
    shown = run(SERVER, sample_environment(tmp_path), flag)
    assert shown.returncode == 0 and __version__ in shown.stdout


def test_a_bad_configuration_ends_the_start_with_a_message(tmp_path: Path) -> None:
    shown = run(SERVER, sample_environment(tmp_path, config="[search]\ntop = 3\n"))
    assert shown.returncode == 2 and shown.stdout == ""
    assert "search.top_k" in shown.stderr and "Traceback" not in shown.stderr


def test_the_start_loads_nothing_heavy(tmp_path: Path) -> None:
    build = (
        "from agent_raw_rag.runtime import Runtime\nfrom agent_raw_rag.server.app import build\n"
        "from agent_raw_rag.server.catch_up import CatchUp\nfrom agent_raw_rag.server import stdio\n"
        "runtime = Runtime.load()\nbuild(lambda: runtime, catch_up=CatchUp(lambda: runtime))"
    )
    loaded = loaded_after(build, sample_environment(tmp_path))
    assert not loaded & HEAVY
    assert not any(
        name.startswith("agent_raw_rag.adapters.") and name.endswith((".claude", ".codex")) for name in loaded
    )


def test_help_and_version_do_not_even_load_mcp(tmp_path: Path) -> None:
    program = "from agent_raw_rag.server import stdio\ntry:\n    stdio.main(['--help'])\nexcept SystemExit: pass"
    assert not loaded_after(program, sample_environment(tmp_path)) & {"mcp", "pydantic", *HEAVY}
