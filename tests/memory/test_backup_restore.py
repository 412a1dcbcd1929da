"""Backups and restores: what is proved before anything is replaced, and what outlasts it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.errors import NotFoundError, StoreBusyError, StoreError, UsageError
from agent_raw_rag.ingest.forget import forget
from agent_raw_rag.memory.portable.backup import BackedUp, back_up_all, back_up_one
from agent_raw_rag.memory.portable.manifest import SUFFIX, sha256_of
from agent_raw_rag.memory.portable.restore import Restored, choose, restore
from agent_raw_rag.store.backup import faults_of
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.lock import DAEMON, lock
from agent_raw_rag.store.reader import Scope
from tests.memory.moving import CHATGPT, CLAUDE_AI, NOW, OWNER, chats, count, empty, texts
from tests.store_support import Ingest

WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Home:
    """A home whose store is closed between two acts, as between two commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = str(folder / "store" / "raw_rag.db")
        self.file = str(folder / "F")

    def fill(self, path: Path) -> None:
        store = self.open()
        chats(store, path)
        store.connection.close()

    def open(self) -> Ingest:
        return empty(self.folder, "store")

    def back_up(self) -> BackedUp:
        return back_up_one(self.store, "default", self.file, program="test", now=NOW, actor=OWNER)

    def restore(self) -> Restored:
        ((path, facts),) = choose(self.file, None)
        home = os.path.dirname(self.store)
        return restore(path, facts, self.store, "default", home, now=WHEN, actor=OWNER)

    def texts(self) -> list[str]:
        store = self.open()
        found = texts(store)
        store.connection.close()
        return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.fill(CLAUDE_AI)
    return made


def changed(path: str, **values: Any) -> None:
    """Say something else in a manifest."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    content["stores"][0].update(values)
    Path(path).write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.line("I5")
def test_a_backup_is_a_sound_database_and_a_restore_brings_all_of_it_back(home: Home) -> None:
    before = home.texts()
    done = home.back_up()
    assert faults_of(home.file) == [] and done.stores[0].counts["turns"] == 10
    home.fill(CHATGPT)
    restored = home.restore()
    assert home.texts() == before and restored.counts["turns"] == 10 and restored.returned == 0


def test_a_backup_is_one_file_for_its_owner_alone_and_a_manifest(home: Home, tmp_path: Path) -> None:
    home.back_up()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["F", "F" + SUFFIX]
    if os.name != "nt":
        assert {stat.S_IMODE(os.stat(path).st_mode) for path in (home.file, home.file + SUFFIX)} == {0o600}


def test_a_backup_again_replaces_the_one_before(home: Home) -> None:
    home.back_up()
    home.fill(CHATGPT)
    home.back_up()
    assert choose(home.file, None)[0][1].counts["turns"] == 17


def test_what_a_restore_replaces_is_kept_dated(home: Home) -> None:
    home.back_up()
    home.fill(CHATGPT)
    kept = home.restore().kept
    assert kept is not None and "before-restore-20261130T120000" in kept
    old = sqlite3.connect(kept)
    assert old.execute("SELECT count(*) FROM turns").fetchone()[0] == 17
    old.close()


def test_a_restore_makes_what_is_missing(home: Home, tmp_path: Path) -> None:
    home.back_up()
    other = Home(tmp_path / "other")
    ((path, facts),) = choose(home.file, None)
    done = restore(path, facts, other.store, "new", os.path.dirname(other.store), now=WHEN, actor=OWNER)
    assert done.kept is None and other.texts() == home.texts()


def test_a_damaged_store_is_moved_away_as_it_is(home: Home) -> None:
    home.back_up()
    before = home.texts()
    Path(home.store).write_bytes(b"not a database at all" * 1000)
    kept = home.restore().kept
    assert home.texts() == before
    assert kept is not None and Path(kept).read_bytes().startswith(b"not a database")


@pytest.mark.line("I5")
def test_a_newer_schema_is_refused(home: Home) -> None:
    home.back_up()
    changed(home.file + SUFFIX, schema=["m001_initial", "m999_tomorrow"])
    with pytest.raises(StoreError, match="newer version"):
        home.restore()


@pytest.mark.parametrize("harm", ["flipped", "cut", "swapped", "no manifest", "no file", "other schema"])
def test_a_backup_that_is_not_what_its_manifest_says_is_refused(home: Home, harm: str) -> None:
    home.back_up()
    before, data = home.texts(), Path(home.file).read_bytes()
    acts = {
        "flipped": lambda: Path(home.file).write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]),
        "cut": lambda: Path(home.file).write_bytes(data[:-4096]),
        "swapped": lambda: Path(home.file).write_bytes(Path(home.store).read_bytes()),
        "no manifest": lambda: os.remove(home.file + SUFFIX),
        "no file": lambda: os.remove(home.file),
        "other schema": lambda: changed(home.file + SUFFIX, schema=["m001_initial"]),
    }
    acts[harm]()
    with pytest.raises((StoreError, NotFoundError)):
        home.restore()
    assert home.texts() == before


def test_a_manifest_cannot_lead_elsewhere(home: Home, tmp_path: Path) -> None:
    back_up_all({"default": home.store}, str(tmp_path / "all"), program="test", now=NOW, actor=OWNER)
    changed(str(tmp_path / "all" / "manifest.json"), file="../F")
    with pytest.raises(StoreError, match="damaged"):
        choose(str(tmp_path / "all"), None)


def test_a_restore_is_refused_while_a_daemon_watches(home: Home) -> None:
    home.back_up()
    watching = lock(os.path.dirname(home.store), DAEMON, wait_seconds=1, purpose="since noon")
    with watching, pytest.raises(StoreBusyError, match=f"process {os.getpid()}") as refused:
        home.restore()
    assert "then restore" in refused.value.hint


def test_a_token_that_was_revoked_stays_so(home: Home) -> None:
    revoke = "UPDATE tokens SET revoked = 5"
    connection = connect(home.store, write=True)
    connection.execute(
        "INSERT INTO tokens (label, prefix, hash, spaces, scopes, created) VALUES ('a', 'p', x'01', '', '', 1)"
    )
    home.back_up()
    connection.execute(revoke)
    connection.close()
    home.restore()
    connection = connect(home.store, write=True)
    assert connection.execute("SELECT revoked FROM tokens").fetchall()[0][0] == 5
    connection.close()


def test_what_was_forgotten_since_is_counted_when_it_comes_back(home: Home) -> None:
    home.back_up()
    store = home.open()
    forget(store.committer(), Scope(sessions=(1,)))
    store.connection.close()
    assert home.restore().returned == 3


def test_both_acts_stand_in_the_journal_and_a_backup_does_not_tell_of_itself(home: Home) -> None:
    home.back_up()
    sha = choose(home.file, None)[0][1].sha256
    store = home.open()
    rows = list(Journal(store.connection).rows())
    assert [(row.action, row.detail["sha256"]) for row in rows] == [("backup", sha)]
    store.connection.close()
    home.restore()
    store = home.open()
    assert [row.action for row in Journal(store.connection).rows()] == ["restore"]
    assert Journal(store.connection).broken() is None
    store.connection.close()


def test_all_spaces_are_a_folder_and_each_comes_back_alone(home: Home, tmp_path: Path) -> None:
    other = empty(tmp_path / "spaces", "other")
    chats(other, CHATGPT)
    other.connection.close()
    stores = {"default": home.store, "other": str(tmp_path / "spaces" / "other" / "raw_rag.db")}
    target = str(tmp_path / "all")
    for _ in range(2):
        back_up_all(stores, target, program="test", now=NOW, actor=OWNER)
    assert sorted(os.listdir(target)) == ["default.db", "manifest.json", "other.db"]
    assert [facts.space for _, facts in choose(target, None)] == ["default", "other"]
    ((path, facts),) = choose(target, "other")
    assert facts.counts["turns"] == 7 and faults_of(path) == []
    with pytest.raises(UsageError, match="no space 'third'"):
        choose(target, "third")


def test_nothing_of_the_users_is_overwritten_by_a_backup(home: Home, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError):
        back_up_all({"default": home.store}, str(tmp_path / "mine"), program="test", now=NOW, actor=OWNER)
    for target in (home.store, f"{home.store}-wal", str(tmp_path / "mine")):
        with pytest.raises(UsageError):
            back_up_one(home.store, "default", target, program="test", now=NOW, actor=OWNER)
    with pytest.raises(StoreError, match="no store"):
        back_up_one(str(tmp_path / "none.db"), "default", home.file, program="test", now=NOW, actor=OWNER)
    assert count(home.open(), "turns") == 10


@pytest.mark.parametrize(
    "stores", ["null", "[[]]", '[{"file": "F", "counts": []}]', '[{"file": "F", "counts": {"a": 1e999}}]']
)
def test_a_manifest_of_other_shapes_is_refused(home: Home, stores: str) -> None:
    home.back_up()
    head = '{"format": "raw-rag-backup", "version": 1, "made": "", "program": "", "stores": '
    Path(home.file + SUFFIX).write_text(f"{head}{stores}}}", encoding="utf-8")
    with pytest.raises(StoreError, match="damaged"):
        choose(home.file, None)


@pytest.mark.parametrize("content", ["", "[" * 100_000, '{"format": "raw-rag-ba'])
def test_a_manifest_that_was_not_written_to_its_end_is_refused(home: Home, content: str) -> None:
    home.back_up()
    Path(home.file + SUFFIX).write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        choose(home.file, None)


@pytest.mark.parametrize("more", ["", "CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('generation', 'g')"])
def test_another_programs_database_is_refused_whatever_its_manifest_says(home: Home, more: str) -> None:
    home.back_up()
    os.remove(home.file)
    foreign = sqlite3.connect(home.file)
    foreign.executescript(f"CREATE TABLE theirs (a); {more}")
    foreign.close()
    changed(home.file + SUFFIX, bytes=os.path.getsize(home.file), sha256=sha256_of(home.file), schema=[])
    with pytest.raises(StoreError, match="is no store"):
        choose(home.file, None)
    assert len(home.texts()) == 10


def test_a_space_that_was_disabled_stays_so(home: Home) -> None:
    with closing(connect(home.store, write=True)) as connection:
        connection.execute("INSERT INTO spaces (slug, created) VALUES ('a', 1), ('b', 1)")
    home.back_up()
    with closing(connect(home.store, write=True)) as connection:
        connection.execute("UPDATE spaces SET enabled = 0 WHERE slug = 'a'")
    home.restore()
    with closing(connect(home.store, write=False)) as connection:
        rows = connection.execute("SELECT slug, enabled FROM spaces ORDER BY slug").fetchall()
    assert [tuple(row) for row in rows] == [("a", 0), ("b", 1)]


def test_a_time_of_grace_that_was_cut_short_stays_so(home: Home) -> None:
    columns = "(label, prefix, hash, spaces, scopes, created, revoked)"
    with closing(connect(home.store, write=True)) as connection:
        connection.execute(f"INSERT INTO tokens {columns} VALUES ('l', 'p', x'01', '[]', '[]', 1, 900)")
    home.back_up()
    with closing(connect(home.store, write=True)) as connection:
        connection.execute("UPDATE tokens SET revoked = 500")
    home.restore()
    with closing(connect(home.store, write=False)) as connection:
        assert connection.execute("SELECT revoked FROM tokens").fetchone()[0] == 500
