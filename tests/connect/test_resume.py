"""raw-rag resume and raw-rag handoff."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from agent_raw_rag.connect.handoff import last_exchanges, tokens_of
from agent_raw_rag.connect.plan import wirings
from agent_raw_rag.search.browse import ReadTurn
from agent_raw_rag.sources.samples import lay_out
from tests.cli.commands import Environment, given, run, run_ingest
from tests.process.processes import RAW_RAG, environment_of
from tests.samples import PROJECT, SAMPLES, sample_environment

CLAUDE = "7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = sample_environment(tmp_path_factory.mktemp("resume"))
    assert run_ingest(environment, "--quiet").exit_code == 0
    return environment


@pytest.fixture
def own(tmp_path: Path) -> Callable[[str, str], Environment]:
    """A home with one session whose log lies in a folder of an agent, and whose start folder is given."""

    def made(folder: str, cwd: str) -> Environment:
        environment = sample_environment(tmp_path, logs=False)
        log = tmp_path / "home" / folder / "sessions/--w--/2026-11-20T13-00-00-000Z_s-1.jsonl"
        log.parent.mkdir(parents=True)
        lines = [
            {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-11-20T13:00:00Z", "cwd": cwd},
            {"type": "message", "id": "a1b2c3d4", "parentId": None, "timestamp": "2026-11-20T13:00:01Z",
             "message": {"role": "user", "content": "Why is the sky blue?"}},
        ]  # fmt: skip
        log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        assert run_ingest(environment, "--quiet").exit_code == 0
        return environment

    return made


@pytest.mark.parametrize(("folder", "command"), [(".pi/agent", "pi --session s-1"), (".omp/agent", "omp --resume s-1")])
def test_the_program_that_wrote_the_log_is_the_one_that_reopens_it(
    own: Callable[[str, str], Environment], folder: str, command: str
) -> None:
    environment = own(folder, "/w/x")
    assert run(environment, "resume", "s-1", "--print").stdout.strip() == f"cd /w/x && {command}"
    assert given(environment, "show", "s-1")["info"]["resume"].endswith(command)
    (passage,) = given(environment, "search", "sky", "-p", "*")["passages"]
    assert passage["resume"].endswith(command)


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="the fake is a shell script")
def test_the_agent_takes_over_in_the_start_folder(own: Callable[[str, str], Environment], tmp_path: Path) -> None:
    start, programs = tmp_path / "start here", tmp_path / "programs"
    start.mkdir()
    programs.mkdir()
    fake = programs / "pi"
    fake.write_text('#!/bin/sh\necho "$PWD|$*"\nexit 7\n', "utf-8")
    fake.chmod(0o755)
    environment = own(".pi/agent", str(start))
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", RAW_RAG, "resume", "s-1"], env=environment_of({**environment, "PATH": path}),
        capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == (f"{start}|--session s-1\n", 7), done.stderr


REOPENED = {
    "claude": ("claude", f"--resume {CLAUDE}"),
    "codex": ("codex", "resume 019a5b00-1c2d-7000-8000-00000000a001"),
    "opencode": ("opencode", "--session ses_5c1a7be20ffeUploaderResume0001"),
    "omp": ("omp", "--resume 01a1b000-4444-7000-8000-00000000b001"),
    "antigravity": ("agy", "--conversation 5e0c1d72-8a4b-4f6e-9c33-0d1f2a3b4c01"),
}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> tuple[Environment, Path]:
    """The sample logs of all agents, held in a folder that exists, with programs that say how they were started."""
    folder = tmp_path_factory.mktemp("elsewhere")
    start, programs, logs = folder / "it is here é (1) & $HOME", folder / "programs", folder / "logs"
    start.mkdir()
    programs.mkdir()
    shutil.copytree(SAMPLES, logs)
    for path in logs.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text("utf-8").replace(PROJECT, str(start)), "utf-8")
    environment = sample_environment(folder, logs=False)
    shutil.rmtree(environment["HOME"])
    lay_out(str(logs), environment["HOME"])
    for program, _ in REOPENED.values():
        (programs / program).write_text('#!/bin/sh\necho "$PWD|$*"\nexit 7\n', "utf-8")
        (programs / program).chmod(0o755)
    assert run_ingest(environment, "--quiet").exit_code == 0
    return {**environment, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}, start


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")
@pytest.mark.parametrize("agent", REOPENED)
def test_every_agent_is_started_with_its_session_in_its_folder(elsewhere: tuple[Environment, Path], agent: str) -> None:
    environment, start = elsewhere
    (session,) = [
        one["session"] for one in given(environment, "sessions") if one["agent"] == agent and not one["parent"]
    ]
    program, arguments = REOPENED[agent]
    done = subprocess.run(
        [sys.executable, "-c", RAW_RAG, "resume", session], env=environment_of(environment), capture_output=True, text=True,
        timeout=110, check=False, cwd="/", encoding="utf-8",
    )  # fmt: skip
    assert (done.stdout, done.returncode) == (f"{start}|{arguments}\n", 7), done.stderr
    shown = run(environment, "resume", session, "--print").stdout
    pasted = subprocess.run(
        ["sh", "-c", shown], env=environment_of(environment), capture_output=True, text=True, cwd="/", timeout=60,
        check=False, encoding="utf-8",
    )  # fmt: skip
    assert (pasted.stdout, pasted.returncode) == (f"{start}|{arguments}\n", 7), "the line works where it is pasted"
    assert shown.rstrip().endswith(f"&& {program} {arguments}")


@pytest.mark.parametrize("to", list(wirings()))
def test_a_session_can_be_handed_to_every_agent(stored: Environment, to: str) -> None:
    prompt = given(stored, "handoff", CLAUDE, "--to", to)["prompt"]
    assert prompt.startswith(f"{wirings()[to][1].title}: go on") and "no-blind-retry" in prompt


def test_what_stands_in_the_way_is_said_with_a_way_out(own: Callable[[str, str], Environment], tmp_path: Path) -> None:
    environment = {**own(".pi/agent", str(tmp_path / "gone")), "PATH": str(tmp_path)}
    gone = run(environment, "resume", "s-1")
    assert gone.exit_code == 1 and "which is gone" in gone.stderr and "pi --session s-1" in gone.stderr
    (tmp_path / "gone").mkdir()
    missing = run(environment, "resume", "s-1")
    assert missing.exit_code == 1 and "pi is not installed" in missing.stderr
    assert run(environment, "resume", "no-such-session").exit_code == 1


def test_a_sub_agents_session_names_its_parent(stored: Environment) -> None:
    child = next(one for one in given(stored, "sessions") if one["parent_kind"] == "subagent")
    result = run(stored, "resume", child["session"])
    assert result.exit_code == 1 and "sub-agent" in result.stderr and child["parent"] in result.stderr


def test_a_handoff_names_its_origin_and_fences_the_history(stored: Environment) -> None:
    told = given(stored, "handoff", CLAUDE, "--to", "codex")
    prompt, turns = told["prompt"], told["turns"]
    head, _, rest = prompt.partition("\n<<<history ")
    assert head.startswith("Codex CLI: go on") and f"claude:{CLAUDE}" in head and "/home/dev/uploader" in head
    assert "untrusted history" in head and rest.splitlines()[-1].startswith(">>>")
    assert turns == sorted(turns) and "no-blind-retry" in rest
    assert run(stored, "handoff", CLAUDE, "--to", "codex").stdout.partition("\n<<<history ")[0][:40] == head[:40]


def test_a_small_budget_gives_the_last_exchanges_whole(stored: Environment) -> None:
    told = given(stored, "handoff", CLAUDE, "--to", "pi", "--max-tokens", "400")
    whole = given(stored, "show", CLAUDE)["turns"]
    assert 0 < len(told["turns"]) < len(whole) and told["turns"][-1] == whole[-1]["turn"]
    by_number = {turn["turn"]: turn for turn in whole}
    assert by_number[told["turns"][0]]["role"] == "user"
    assert all(by_number[number]["text"] in told["prompt"] for number in told["turns"])
    assert "others are left out" in told["prompt"]


def test_nobody_else_is_handed_anything(stored: Environment) -> None:
    assert run(stored, "handoff", CLAUDE, "--to", "emacs").exit_code == 2
    assert run(stored, "handoff", "nope", "--to", "pi").exit_code == 1


def turn(number: int, role: str, tokens: int, abandoned: bool) -> ReadTurn:
    facts: dict[str, Any] = {
        "turn": number, "exchange": 1, "role": role, "time": None, "source": None, "source_gone": False, "record_ids": [],
        "bytes": None, "abandoned": abandoned, "session": "a:s", "agent": "a",
    }  # fmt: skip
    return ReadTurn(**facts, text="word " * tokens)


@examples(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant"]), st.integers(1, 500), st.booleans()), min_size=1, max_size=20
    ),
    st.integers(300, 3000),
)
def test_whatever_the_budget_the_last_words_are_there_and_nothing_is_out_of_order(
    given: list[tuple[str, int, bool]], budget: int
) -> None:
    turns = [turn(number, *one) for number, one in enumerate(given, 1)]
    chosen, left_out = last_exchanges(turns, budget)
    live = [one for one in turns if not one.abandoned] or turns
    assert chosen[-1].turn == live[-1].turn and len(chosen) + left_out == len(turns)
    assert [one.turn for one in chosen] == sorted(one.turn for one in chosen)
    if not chosen[-1].truncated:
        assert sum(tokens_of(one.text) for one in chosen) <= budget
