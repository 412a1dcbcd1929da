"""``raw-rag eval`` as real processes: streams, exit statuses, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evals.bakery_run import BAKERY, environment
from tests.process.processes import INGEST, RAW_RAG, environment_of, run
from tests.samples import sample_environment

pytestmark = pytest.mark.process


def test_a_folder_gives_one_json_object_and_nothing_else(tmp_path: Path) -> None:
    shown = run(RAW_RAG, environment(tmp_path), "eval", "folder", str(BAKERY), "--json", "-q")
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr == ""
    found = json.loads(shown.stdout)
    assert found["windows"]["n"] == found["turns"]["n"] == 6
    assert found["options"] == {"scope": "conv", "conversation": None, "half": None, "limit": None}
    assert 0 <= found["windows"]["recall@1"] <= found["windows"]["recall@15"] <= 1


def test_tables_go_to_stdout_and_progress_to_stderr(tmp_path: Path) -> None:
    shown = run(
        RAW_RAG, environment(tmp_path), "eval", "folder", str(BAKERY), "--stages", "lexical,full", "--half", "b"
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr.startswith("questions: 0 of 8\n")
    assert "Ranked windows, %" in shown.stdout and "No model answered anything" in shown.stdout


def test_locomo_is_compared_and_written_into_a_folder(tmp_path: Path) -> None:
    turns = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"Tree number {n} is a pear."} for n in range(1, 30)]
    asked = [{"question": "Which tree is number 7?", "evidence": ["D1:07"], "category": 4}]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    file = tmp_path / "trees.json"
    file.write_text(json.dumps([{"sample_id": "c1", "conversation": talk, "qa": asked}]), encoding="utf-8")
    out = tmp_path / "out"
    words = (
        "eval",
        "locomo",
        str(file),
        "--compare",
        "--out",
        str(out),
        "--name",
        "trees",
        "--jobs",
        "2",
        "--json",
        "-q",
    )
    shown = run(RAW_RAG, environment(tmp_path / "home"), *words)
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert {"lexical", "dense", "fused", "full", "without rerank", "windows of 512"} <= found["configurations"].keys()
    assert set(found["shown"]) == {"top 15", "top 15, turns repeated", "top 15, windows only", "top 5"}
    assert {path.name for path in out.iterdir()} == {"trees.json", "trees.md", "trees-windows.svg", "trees-turns.svg"}
    written = json.loads((out / "trees.json").read_text(encoding="utf-8"))
    assert written["command"] == "raw-rag eval locomo trees.json --compare --jobs 2 --name trees"
    assert str(tmp_path) not in (out / "trees.json").read_text(encoding="utf-8")


def test_the_own_store_is_asked_for_what_it_holds(tmp_path: Path) -> None:
    given = sample_environment(tmp_path)
    assert run(INGEST, given, "-q").returncode == 0
    shown = run(RAW_RAG, given, "eval", "store", "--questions", "9", "--json", "-q")
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["windows"]["n"] == 9 and found["space"] is None
    assert found["corpus"]["turns"] > found["corpus"]["questions"] == 9 and found["corpus"]["conversations"] > 1
    assert "dense: skipped, no encoder is configured" in found["configurations"]["full"]["skipped"]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["store"], 1, "There is no store"),
        (["locomo", "missing.json"], 2, "missing.json cannot be read"),
        (["folder", "missing"], 2, "cannot be read"),
        (["folder", str(BAKERY), "--stages", "magic"], 2, "There is no stage 'magic'"),
        (["folder", str(BAKERY), "--half", "c"], 2, "Give a or b"),
        (["folder", str(BAKERY), "--scope", "all"], 2, "Give conv or global"),
        (["folder", str(BAKERY), "--conversation", "9"], 2, "There is no conversation '9'"),
        (["folder", str(BAKERY), "--name", "../up"], 2, "is no name of a file"),
        (["folder", str(BAKERY), "--jobs", "0"], 2, "jobs"),
    ],
)
def test_wrong_use_is_said_in_one_message(tmp_path: Path, words: list[str], status: int, message: str) -> None:
    shown = run(RAW_RAG, environment(tmp_path), "eval", *words)
    assert (shown.returncode, shown.stdout) == (status, "")
    assert message in shown.stderr and "Traceback" not in shown.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_run_leaves_no_store_behind(tmp_path: Path, jobs: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", RAW_RAG, "eval", "folder", str(_long(tmp_path / "corpus")), "--jobs", jobs],
        env={**environment_of(environment(tmp_path)), "TMPDIR": str(temporary)}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "questions: 0 of 6,000\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert list(temporary.iterdir()) == []


def _long(folder: Path) -> Path:
    """A corpus that takes a while to ask."""
    folder.mkdir()
    turns = [{"id": f"{c}:{n}", "conv": c, "text": f"pelican {n} of flock {c}"} for c in "ab" for n in range(300)]
    asked = [{"query": f"pelican {n}", "conv": c, "gold": [f"{c}:{n % 300}"]} for c in "ab" for n in range(3000)]
    for name, rows in (("corpus", turns), ("queries", asked)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder
