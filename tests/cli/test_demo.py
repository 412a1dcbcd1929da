"""raw-rag demo: works on a machine that has nothing, and leaves nothing behind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from agent_raw_rag.cli.demo import QUESTIONS
from tests.cli.commands import Environment, run


def test_the_demo_answers_three_questions_from_the_logs_of_all_agents(bare: Environment) -> None:
    result = run(bare, "demo")
    assert result.exit_code == 0
    assert all(question in result.stdout for question in QUESTIONS)
    assert "a retry of a request that is not idempotent makes duplicates" in result.stdout
    assert all(name in result.stdout for name in ("claude", "codex", "opencode", "omp", "antigravity"))


def test_the_demo_as_json_has_the_ingest_and_the_searches(bare: Environment) -> None:
    shown = json.loads(run(bare, "demo", "--json").stdout)
    assert len(shown["ingest"]["agents"]) == 5 and not any(shown["ingest"]["looked_in"].values())
    assert [one["query"] for one in shown["searches"]] == list(QUESTIONS)
    assert all(one["passages"] for one in shown["searches"])


def test_the_demo_leaves_nothing_behind(bare: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))  # the demo runs in this process; TMPDIR was read already
    assert run(bare, "demo").exit_code == 0
    assert list(scratch.iterdir()) == []
    assert not (Path(bare["RAW_RAG_HOME"]) / "raw_rag.db").exists()
