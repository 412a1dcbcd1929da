"""What an agent's sources look like: every change shows, once, without a file being opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.ingest.picture import Picture, changed_at
from tests.samples import sample_environment

LINES = ".claude/projects/-home-dev-uploader/7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001.jsonl"
DATABASE = ".local/share/opencode/opencode.db"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(sample_environment(tmp_path)["HOME"])


def picture(home: Path, agent: str) -> Picture:
    row = adapters()[agent]
    return Picture(row, row.roots({}, str(home)))


@pytest.mark.parametrize("agent", sorted(adapters()))
def test_the_first_look_shows_all_and_the_second_nothing(home: Path, agent: str) -> None:
    seen = picture(home, agent)
    assert seen.changed() == seen.paths != set()
    assert seen.changed() == set()
    assert seen.changed(seen.paths) == set()


@pytest.mark.parametrize(("agent", "name"), [("claude", LINES), ("opencode", DATABASE)])
def test_a_file_that_grew_shows_once(home: Path, agent: str, name: str) -> None:
    seen, path = picture(home, agent), home / name
    seen.changed()
    with path.open("ab") as stream:
        stream.write(b"{}\n")
    assert seen.changed([str(path)]) == {str(path)}
    assert seen.changed() == set()


def test_a_database_changes_by_its_log(home: Path) -> None:
    seen, path = picture(home, "opencode"), home / DATABASE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        seen.changed()
        with connection:
            connection.execute("UPDATE session SET title = 'Another'")
        assert seen.source_of(f"{path}-wal") == str(path)
        assert seen.source_of(f"{path}-shm") is None
        assert seen.changed([str(path)]) == {str(path)}
        newest = changed_at(str(path))
        assert newest is not None
        assert newest >= path.stat().st_mtime


def test_new_and_vanished_sources_show_when_all_are_looked_at(home: Path) -> None:
    seen, path = picture(home, "claude"), home / LINES
    seen.changed()
    other = path.with_name("11111111-2222-4333-8444-555555555555.jsonl")
    path.rename(other)
    assert seen.may_be_news(str(other))
    assert seen.changed([str(path)]) == {str(path)}
    assert seen.changed() == {str(path), str(other)}
    assert changed_at(str(path)) is None


def test_files_of_no_concern_are_no_news(home: Path) -> None:
    seen, folder = picture(home, "claude"), (home / LINES).parent
    seen.changed()
    assert not seen.may_be_news(str(folder / "notes.txt"))
    assert not seen.holds(str(home / ".bashrc"))
    assert seen.holds(str(folder / "notes.txt"))


def test_a_root_that_leads_elsewhere_is_followed(home: Path) -> None:
    seen = picture(home, "claude")
    assert seen.changed()
    (home / ".claude").rename(home / "moved")
    (home / ".claude").symlink_to(home / "moved")
    assert {Path(path).is_relative_to(home / "moved") for path in seen.changed() & seen.paths} == {True}
