"""Export, import, backup and restore as real commands, while other processes use the store."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.claude_log import lines
from tests.memory.moving import CHATGPT, CLAUDE_AI
from tests.process.support import environment, read_json, run
from tests.samples import SAMPLES

pytestmark = pytest.mark.process
SESSION = "7c1e5a52-3b0f-4d57-9a58-2f6d1c90e777"
WRITER = """
import sys
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.models import Actor, Capture
memory = Runtime.load().memory
number = 0
while True:
    memory.raw.capture(Capture(f"event {number} of many", "test"), Actor("owner", "cli"))
    number += 1
    print(number, flush=True)
"""
READER = """
import sys
from agent_raw_rag.runtime import Runtime
print(len(Runtime.load().reader.session_names()), flush=True)
sys.stdin.read()
"""


def home(tmp_path: Path, name: str, *, logs: bool = False) -> Path:
    """A HOME of its own, with the sample logs or without."""
    made = tmp_path / name
    if logs:
        shutil.copytree(SAMPLES, made)
    (made / "store").mkdir(parents=True, mode=0o700)
    (made / "store" / "config.toml").write_text('[encoder]\nname = "none"\n', encoding="utf-8")
    return made


def filled(tmp_path: Path, name: str = "one") -> Path:
    made = home(tmp_path, name, logs=True)
    run(made, "raw-rag-ingest", "--quiet")
    run(made, "raw-rag", "import", str(CLAUDE_AI))
    run(made, "raw-rag", "save", "Never fire above cone 6.", "--source", "test")
    return made


def counts(made: Path) -> dict[str, Any]:
    out = made / "counted.jsonl"
    given: dict[str, Any] = read_json(made, "raw-rag", "export", "--json", "-o", str(out))["counts"]
    return given


@pytest.mark.line("I3")
def test_an_export_imported_into_an_empty_store_has_the_same_counts_and_ids_and_again_adds_nothing(
    tmp_path: Path,
) -> None:
    one, two = filled(tmp_path), home(tmp_path, "two")
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    told = read_json(one, "raw-rag", "export", "--format", "jsonl", "--json", "-o", str(first))
    given = read_json(two, "raw-rag", "import", str(first), "--json")
    assert given["added"]["turn"] == told["counts"]["turn"] > 40 and given["added"]["note"] == 1
    run(two, "raw-rag", "export", "-o", str(second))
    assert second.read_bytes() == first.read_bytes()
    again = read_json(two, "raw-rag", "import", str(first), "--json")
    assert set(again["added"].values()) == {0} and again["present"]["turn"] == told["counts"]["turn"]
    assert run(two, "raw-rag", "export").stdout.encode() == first.read_bytes()


@pytest.mark.line("I3")
def test_a_session_and_a_time_are_exported_alone_and_markdown_is_for_people(tmp_path: Path) -> None:
    one = filled(tmp_path)
    session = "import:00000100-0000-4000-8000-000000000000"
    part = run(one, "raw-rag", "export", "--session", session).stdout.splitlines()
    assert [json.loads(line).get("type") for line in part] == [None, "source", "session", "turn", "turn", "turn", "end"]
    assert (
        json.loads(run(one, "raw-rag", "export", "--since", "2100-01-01").stdout.splitlines()[0])["counts"]["turn"] == 0
    )
    page = run(one, "raw-rag", "export", "--format", "md", "--session", session).stdout
    assert page.startswith("# Kiln schedule for stoneware\n") and "> Cool at most 80 degrees an hour" in page
    assert "format" in run(one, "raw-rag", "export", "--format", "xml", expect=2).stderr


@pytest.mark.line("I4")
@pytest.mark.parametrize(
    "path", [CLAUDE_AI, CLAUDE_AI / "conversations.json", CHATGPT], ids=["folder", "file", "chatgpt"]
)
def test_an_export_of_a_chat_service_keeps_its_times_and_adds_nothing_again(tmp_path: Path, path: Path) -> None:
    one = home(tmp_path, "one")
    first = read_json(one, "raw-rag", "import", str(path), "--json")
    again = read_json(one, "raw-rag", "import", str(path), "--json")
    assert first["added"]["turns"] > 0 and again["added"] == {"sessions": 0, "turns": 0}
    started = {item["started"][:10] for item in read_json(one, "raw-rag", "sessions", "--json")
               if item["started"]}  # fmt: skip
    assert started == ({"2026-06-09"} if path == CHATGPT else {"2024-02-01", "2026-05-04", "2026-06-01"})


@pytest.mark.line("I4")
def test_a_log_that_is_handed_over_keeps_its_session_and_reading_it_at_home_adds_nothing(tmp_path: Path) -> None:
    one = home(tmp_path, "one")
    given = tmp_path / "downloads" / "talk.jsonl"
    given.parent.mkdir()
    given.write_text("".join(lines(4, SESSION)), encoding="utf-8")
    assert read_json(one, "raw-rag", "import", str(given), "--json")["added"] == {"sessions": 1, "turns": 4}
    assert read_json(one, "raw-rag", "import", str(given), "--json")["added"] == {"sessions": 0, "turns": 0}
    own = one / ".claude" / "projects" / "-w-proj" / f"{SESSION}.jsonl"
    own.parent.mkdir(parents=True)
    shutil.copy(given, own)
    report = read_json(one, "raw-rag-ingest", "--json")
    assert report["agents"]["claude"]["new_turns"] == 0
    (session,) = read_json(one, "raw-rag", "sessions", "--json")
    assert session["session"] == f"claude:{SESSION}" and session["started"].startswith("2026-10-05T10:00:00")


@pytest.mark.line("I5")
def test_a_backup_during_writes_is_sound_and_a_restore_brings_the_counts_back(tmp_path: Path) -> None:
    one = filled(tmp_path)
    file = tmp_path / "F"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER], env=environment(one), stdout=subprocess.PIPE, text=True
    ) as busy:
        assert busy.stdout is not None
        for _ in range(5):
            busy.stdout.readline()
        told = read_json(one, "raw-rag", "backup", str(file), "--json")
        written = int(busy.stdout.readline())
        busy.kill()
    with closing(sqlite3.connect(file)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        held = copy.execute("SELECT count(*) FROM turns").fetchone()[0]
    assert told["stores"][0]["counts"]["turns"] == held and written >= 5
    before = counts(one)["turn"]
    assert before >= held
    (restored,) = read_json(one, "raw-rag", "restore", str(file), "--json")
    assert restored["counts"]["turns"] == held == counts(one)["turn"]
    assert Path(restored["kept"]).exists()
    assert "cone 6" in run(one, "raw-rag", "recall", "cone").stdout
    assert "SENTINEL-QUARTZ" in run(one, "raw-rag", "search", "SENTINEL-QUARTZ quartz cooling", "-p", "*").stdout


@pytest.mark.line("I5")
def test_a_restore_is_refused_while_another_process_has_the_store_open(tmp_path: Path) -> None:
    one = filled(tmp_path)
    run(one, "raw-rag", "backup", str(tmp_path / "F"))
    with subprocess.Popen(
        [sys.executable, "-c", READER], env=environment(one), stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as reading:
        assert reading.stdout is not None
        reading.stdout.readline()
        refused = run(one, "raw-rag", "restore", str(tmp_path / "F"), expect=1).stderr
        reading.communicate("")
    assert f"Process {reading.pid} has the store" in refused and "then restore" in refused
    run(one, "raw-rag", "restore", str(tmp_path / "F"))


@pytest.mark.line("I5")
def test_a_backup_of_a_newer_schema_is_refused_by_the_command(tmp_path: Path) -> None:
    one = filled(tmp_path)
    file, manifest = tmp_path / "F", tmp_path / "F.manifest.json"
    run(one, "raw-rag", "backup", str(file))
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["stores"][0]["schema"].append("m999_tomorrow")
    manifest.write_text(json.dumps(content), encoding="utf-8")
    assert "newer version" in run(one, "raw-rag", "restore", str(file), expect=1).stderr


def test_every_space_goes_into_one_folder_and_one_comes_back(tmp_path: Path) -> None:
    one = filled(tmp_path)
    run(one, "raw-rag", "space", "create", "shop")
    run(one, "raw-rag", "import", str(CHATGPT), "--space", "shop")
    told = read_json(one, "raw-rag", "backup", str(tmp_path / "all"), "--all-spaces", "--json")
    assert [store["space"] for store in told["stores"]] == ["default", "shop"]
    run(one, "raw-rag", "import", str(CLAUDE_AI), "--space", "shop")
    (restored,) = read_json(one, "raw-rag", "restore", str(tmp_path / "all"), "--space", "shop", "--json")
    assert restored["space"] == "shop" and restored["counts"]["turns"] == 7
    shop = json.loads(run(one, "raw-rag", "export", "--space", "shop").stdout.splitlines()[0])
    assert shop["counts"]["turn"] == 7
