"""A log that a person hands over is read as its own agent's, so that reading it where it belongs adds nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.handed import read_log, recognise
from tests.ingest.claude_log import AGENT, folder, lines, said
from tests.memory.moving import count, empty
from tests.store_support import Ingest

SESSION = "7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001"
LOGS = Path(__file__).parents[1] / "logs"


@pytest.fixture
def store(tmp_path: Path) -> Ingest:
    return empty(tmp_path, "store")


def handed(store: Ingest, path: Path) -> tuple[str, int]:
    name, result = read_log(store.committer(), str(path), adapters().values())
    return name, result.added.turns


@pytest.mark.parametrize("name", [f"{SESSION}.jsonl", "the kiln talk.jsonl"])
def test_a_log_is_known_by_what_it_says_and_keeps_its_session(store: Ingest, tmp_path: Path, name: str) -> None:
    path = tmp_path / "by hand" / name
    path.parent.mkdir()
    path.write_text("".join(lines(4, SESSION)), encoding="utf-8")
    assert handed(store, path) == (AGENT, 4)
    assert handed(store, path) == (AGENT, 0)
    assert [number for number, _ in said(store, SESSION)] == [1, 2, 3, 4]


def test_reading_it_later_where_it_belongs_adds_nothing(store: Ingest, tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    path.write_text("".join(lines(4, SESSION)), encoding="utf-8")
    handed(store, path)
    (folder(store.home) / f"{SESSION}.jsonl").write_text("".join(lines(6, SESSION)), encoding="utf-8")
    assert store.added(AGENT).turns == 2
    assert count(store, "sessions") == 1 and len(said(store, SESSION)) == 6
    path.unlink()
    assert store.added(AGENT).turns == 0


@pytest.mark.parametrize("agent", ["claude", "codex", "omp"])
def test_a_sample_log_of_each_agent_is_recognised_in_its_own_folder(agent: str) -> None:
    found = {recognise(str(path), adapters().values()).adapter.agent
             for path in sorted((LOGS / agent).rglob("*.jsonl"))
             if _has_turns(path)}  # fmt: skip
    assert found == {agent}


def _has_turns(path: Path) -> bool:
    try:
        recognise(str(path), adapters().values())
    except SourceError:
        return False
    return True


def test_a_file_of_no_agent_is_refused(store: Ingest, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n', encoding="utf-8")
    with pytest.raises(SourceError, match="no log that is known"):
        handed(store, path)
    shutil.rmtree(store.home, ignore_errors=True)
