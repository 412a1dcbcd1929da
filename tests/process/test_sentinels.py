"""Every sentinel of every fixture, of every agent and generation, looked for through the commands a person uses."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

ARCHIVE = Path(__file__).parents[1] / "logs/fixtures.tar.zst"
LAYOUT = {
    "claude_code": {"claude_code": ".claude"},
    "codex": {"codex": ".codex"},
    "pi_omp": {"pi_omp/omp": ".omp", "pi_omp/pi": ".pi"},
    "antigravity": {"antigravity": ".gemini"},
}
GENERATIONS = ("current", "v2", "v2_only", "v1_2", "json_v1_1", "json_v0_5")
pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    with tarfile.open(fileobj=io.BytesIO(zstandard.decompress(ARCHIVE.read_bytes()))) as archive:
        archive.extractall(folder, filter="data")
    return folder


def command(home: Path, *words: str) -> Any:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "RAW_RAG_HOME": str(home / "store"), "LANG": "C.UTF-8"}
    program = str(Path(sys.executable).parent / words[0])
    done = subprocess.run([program, *words[1:]], env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


class World:
    """What the commands say about one HOME."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.report = command(home, "raw-rag-ingest", "--json", "--no-embed")
        self.sessions = command(home, "raw-rag", "sessions", "--json")
        self.turns: list[dict[str, Any]] = []
        for session in self.sessions:
            shown = command(home, "raw-rag", "show", session["session"], "--json")
            self.turns += [{**turn, "owner": session} for turn in shown["turns"]]

    def holding(self, sentinel: str) -> list[dict[str, Any]]:
        whole = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(sentinel)}(?![A-Za-z0-9_])")
        return [turn for turn in self.turns if whole.search(turn["text"])]


def lay_out(fixtures: Path, home: Path, places: dict[str, str]) -> World:
    for source, place in places.items():
        target = home / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(fixtures / source, target, dirs_exist_ok=True)
    return World(home)


_worlds: dict[str, World] = {}


def world(name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    if name not in _worlds:
        places = LAYOUT.get(name) or {f"opencode/{name}": ".local/share/opencode"}
        _worlds[name] = lay_out(fixtures, tmp_path_factory.mktemp(name), places)
    return _worlds[name]


@cache
def expected() -> dict[str, Any]:
    with tarfile.open(fileobj=io.BytesIO(zstandard.decompress(ARCHIVE.read_bytes()))) as archive:
        member = archive.extractfile("expect.json")
        assert member is not None
        found: dict[str, Any] = json.loads(member.read())
        return found


WORLDS = (*LAYOUT, *GENERATIONS)


def present(sentinel: str, fixtures: Path, name: str) -> bool:
    """Whether a sentinel stands anywhere in this world's files (databases are searched as bytes)."""
    places = LAYOUT.get(name) or {f"opencode/{name}": ""}
    needle = re.compile(rb"(?<![A-Za-z0-9_])" + sentinel.encode() + rb"(?![A-Za-z0-9_])")
    for place in places:
        for path in (fixtures / place).rglob("*"):
            if path.is_file() and needle.search(_content(path)):
                return True
    return False


@cache
def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return zstandard.decompress(data, max_output_size=1 << 26) if path.suffix == ".zst" else data


@pytest.mark.parametrize("name", WORLDS)
def test_what_people_said_is_found_once_as_theirs(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    wrong = {}
    for sentinel in expected()["opencode" if name in GENERATIONS else name]["user"]:
        if present(sentinel, fixtures, name):
            roles = [turn["role"] for turn in here.holding(sentinel) if turn["role"] == "user"]
            if len(roles) != 1:
                wrong[sentinel] = [(turn["role"], turn["owner"]["session"]) for turn in here.holding(sentinel)]
    assert wrong == {}


@pytest.mark.parametrize("name", WORLDS)
def test_what_models_said_is_found_once_as_theirs(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    wrong = {}
    for kind, role in (("assistant", "assistant"), ("thinking", "assistant"), ("summary", "summary")):
        for sentinel in expected()["opencode" if name in GENERATIONS else name][kind]:
            if present(sentinel, fixtures, name):
                found = [turn["role"] for turn in here.holding(sentinel)]
                if found != [role]:
                    wrong[sentinel] = [(turn["role"], turn["owner"]["session"]) for turn in here.holding(sentinel)]
    assert wrong == {}


@pytest.mark.parametrize("name", WORLDS)
def test_failures_keep_their_tail_and_successes_do_not(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    agent = expected()["opencode" if name in GENERATIONS else name]
    lost = [one for one in agent["tool_error"] if present(one, fixtures, name) and not here.holding(one)]
    kept = [one for one in agent["tool_output"] if here.holding(one)]
    assert (lost, kept) == ([], [])


@pytest.mark.parametrize("name", WORLDS)
def test_what_sub_agents_said_is_never_a_persons(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    agent = expected()["opencode" if name in GENERATIONS else name]
    wrong = {}
    for sentinel in agent["subagent"]:
        # KEEP_SUB_out is the output of a call that succeeded: dropped like every other (invariant 2).
        if not present(sentinel, fixtures, name) or sentinel == "KEEP_SUB_out":
            continue
        found = here.holding(sentinel)
        as_user = [turn["owner"]["session"] for turn in found if turn["role"] == "user"]
        if not found or as_user:
            wrong[sentinel] = [(turn["role"], turn["owner"]["session"]) for turn in found]
    assert wrong == {}


@pytest.mark.parametrize("name", WORLDS)
def test_noise_is_never_what_a_person_said_and_recalled_text_is_nowhere(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    agent = expected()["opencode" if name in GENERATIONS else name]
    as_user = [one for one in agent["never_as_user"] if any(turn["role"] == "user" for turn in here.holding(one))]
    nowhere = ("NOISE_recalled_memory", "NOISE_hook", "NOISE_system_prompt", "NOISE_stop_hook")
    anywhere = [one for one in agent["never_as_user"] if one.startswith(nowhere) and here.holding(one)]
    assert (as_user, anywhere) == ([], [])


@pytest.mark.parametrize("name", WORLDS)
def test_copies_are_indexed_once_and_unfinished_lines_not_at_all(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    agent = expected()["opencode" if name in GENERATIONS else name]
    doubled = {one: len(here.holding(one)) for one in agent["index_once"] if len(here.holding(one)) > 1}
    early = [one for one in agent["not_yet_complete"] if here.holding(one)]
    assert (doubled, early) == ({}, [])


@pytest.mark.parametrize("name", WORLDS)
def test_sub_agents_and_forks_are_sessions_with_a_parent(
    name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = world(name, fixtures, tmp_path_factory)
    names = {session["session"] for session in here.sessions}
    assert all(session["parent"] is None or ":" in session["parent"] for session in here.sessions)
    assert len(names) == len(here.sessions)


@pytest.mark.parametrize("name", WORLDS)
def test_three_more_runs_add_nothing(name: str, fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    here = world(name, fixtures, tmp_path_factory)
    for _ in range(3):
        again = command(here.home, "raw-rag-ingest", "--json", "--no-embed")
        assert sum(agent["new_turns"] + agent["new_sessions"] for agent in again["agents"].values()) == 0
