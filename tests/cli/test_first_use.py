"""What a new user meets: the space of the environment, words that can be pasted, files in places that are still to be made."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from agent_raw_rag.cli.wording import as_commands
from tests.cli.commands import Environment, given, run

NOTE = "n" + "0" * 20


@pytest.fixture
def work(bare: Environment) -> Environment:
    """A home whose space `work` holds one session; the default space holds nothing."""
    assert run(bare, "space", "create", "work").exit_code == 0
    said = ("capture", "The kiln is fired on Tuesday", "--session", "s1", "--space", "work")
    assert run(bare, *said).exit_code == 0
    return bare


@pytest.mark.parametrize("named", ["option", "variable"])
def test_every_reading_command_reads_the_space_that_was_named(work: Environment, named: str) -> None:
    there = {**work, "RAW_RAG_SPACE": "work"} if named == "variable" else work
    option = () if named == "variable" else ("--space", "work")
    assert given(work, "recent")["turns"] == []
    assert [turn["text"] for turn in given(there, "recent", *option)["turns"]] == ["The kiln is fired on Tuesday"]
    assert "Tuesday" in str(given(there, "search", "kiln", *option)["passages"])
    assert len(given(there, "show", "s1", *option)["turns"]) == 1
    assert len(given(there, "sessions", *option)) == 1
    assert given(there, "projects", *option) == []
    assert given(there, "status", *option)["turns"] == 1


@pytest.mark.parametrize(
    "words", [("search", "x"), ("recent",), ("show", "x"), ("sessions",), ("projects",), ("status",)]
)
def test_a_space_that_is_not_there_is_refused_by_every_reading_command(
    bare: Environment, words: tuple[str, ...]
) -> None:
    refused = run({**bare, "RAW_RAG_SPACE": "nope"}, *words)
    assert refused.exit_code == 1 and "`raw-rag space create nope`" in refused.stderr


def test_a_backup_makes_its_folder_for_the_user_alone(work: Environment, tmp_path: Path) -> None:
    target = tmp_path / "backups" / "monthly" / "x.db"
    assert run(work, "backup", str(target), "--space", "work").exit_code == 0
    assert target.is_file()
    for folder in (target.parent, target.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert run(work, "backup", str(tmp_path / "all" / "of" / "them"), "--all-spaces").exit_code == 0


def test_a_backup_that_cannot_be_written_names_the_file_that_was_asked_for(work: Environment, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    target = tmp_path / "taken" / "x.db"
    refused = run(work, "backup", str(target), "--space", "work")
    assert refused.exit_code == 1
    assert f"{target} cannot be written" in refused.stderr and ".new" not in refused.stderr
    assert "Name a place" in refused.stderr


@pytest.mark.parametrize(
    ("told", "pasted"),
    [
        (f"memory_update {NOTE}, or reject.", f'`raw-rag update {NOTE} "…"`, or reject.'),
        ("memory_update changes a note.", '`raw-rag update ID "…"` changes a note.'),
        ("memory_recall gives the ids.", '`raw-rag recall "…"` gives the ids.'),
        ("as memory_candidates shows them.", "as `raw-rag candidates list` shows them."),
        ("my_memory_update stays, memory_updates too.", "my_memory_update stays, memory_updates too."),
    ],
)
def test_tools_are_named_as_commands(told: str, pasted: str) -> None:
    assert as_commands(told) == pasted


def test_hints_of_commands_can_be_pasted(bare: Environment) -> None:
    assert run(bare, "save", "The kiln is fired on Tuesday").exit_code == 0
    missing = run(bare, "update", NOTE, "other", "--json")
    assert json.loads(missing.stderr)["error"]["hint"] == '`raw-rag recall "…"` gives the ids, as source_id.'
    old = given(bare, "recall", "kiln")["memories"][0]["source_id"]
    new = given(bare, "update", old, "The kiln is fired on Friday")["new_node_id"]
    assert f'`raw-rag update {new} "…"`' in run(bare, "update", old, "again").stderr
    gone = run(bare, "deprecate", old, "--reason", "no kiln")
    assert f'`raw-rag deprecate {new} --reason "…"`' in gone.stderr and "update" not in gone.stderr


def test_markdown_counts_what_it_holds(bare: Environment, tmp_path: Path) -> None:
    assert run(bare, "capture", "Remember: the kiln is fired on Tuesday", "--role", "user").exit_code == 0
    assert run(bare, "sweep", "--now").exit_code == 0
    wrote = given(bare, "export", "--format", "md", "--output", str(tmp_path / "x.md"))
    assert wrote["counts"] == {"session": 1, "turn": 1, "note": 1}


@pytest.mark.parametrize(("content", "told"), [("[]", "no conversations"), ("Dear diary,\ntoday\n", "not JSON")])
def test_a_file_without_conversations_is_an_error(bare: Environment, tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "given.json"
    file.write_text(content, encoding="utf-8")
    refused = run(bare, "import", str(file), "--no-embed")
    assert refused.exit_code == 1 and told in refused.stderr and "Expecting" not in refused.stderr
