"""Other programs' databases: what is read of them, and that they do not notice."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_raw_rag.adapters.base import Family
from agent_raw_rag.errors import SourceError
from agent_raw_rag.models import BadRecord, Record, Shape, Source
from agent_raw_rag.sources._guest import MovedError, open_guest
from agent_raw_rag.sources.foreign import foreign_sessions, read_session

NEW = Family(
    name="new",
    tables=("talk2",),
    sessions="SELECT session, count(*) || '' AS stamp FROM talk2 GROUP BY session",
    records=("SELECT id, data AS data_json, blob FROM talk2 WHERE session = :session ORDER BY id",),
)
OLD = Family(
    name="old",
    tables=("talk",),
    sessions="SELECT session, count(*) || '' AS stamp FROM talk GROUP BY session",
    records=("SELECT id, data AS data_json FROM talk WHERE session = :session ORDER BY id",),
)
FAMILIES = (NEW, OLD)

SCHEMA = """
CREATE TABLE talk (id INTEGER, session TEXT, data TEXT);
CREATE TABLE account (token TEXT);
INSERT INTO talk VALUES (1, 's1', '{"n": 1}'), (2, 's1', '{"n": 2}'), (1, 's2', '{"n": 3}');
INSERT INTO account VALUES ('SECRET');
"""

WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = wal")
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.executescript(sys.argv[2])
print("ready", flush=True)
for line in sys.stdin:
    connection.executescript(line)
    print("done", flush=True)
import os
os._exit(0)
"""
"""A program that uses its database; when its input ends, it dies without closing it."""


class Program:
    """Another process with the database open."""

    def __init__(self, path: Path, script: str) -> None:
        command = [sys.executable, "-c", WRITER, str(path), script]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()

    def does(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self._answer()

    def dies(self) -> None:
        self.process.communicate()

    def _answer(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline()


@contextmanager
def running(path: Path, script: str = SCHEMA) -> Iterator[Program]:
    program = Program(path, script)
    try:
        yield program
    finally:
        program.dies()


def closed(path: Path, script: str = SCHEMA, mode: str = "wal") -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.executescript(script)
    return path


def source(path: Path, session: str | None = None) -> Source:
    return Source("agent", str(path), str(path.parent), Shape.DATABASE, session=session)


def prints(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def read_all(path: Path) -> dict[str, list[int]]:
    where = source(path)
    return {
        session: [
            entry.data["data_json"]["n"]
            for entry in read_session(where, FAMILIES, family, session)
            if isinstance(entry, Record)
        ]
        for family, session, _ in foreign_sessions(where, FAMILIES)
    }


# ---------------------------------------------------------------- what is read


def test_a_session_of_two_families_comes_from_the_preferred_one(tmp_path: Path) -> None:
    more = "CREATE TABLE talk2 (id, session, data, blob); INSERT INTO talk2 VALUES (1, 's1', '{\"n\": 9}', x'00ff');"
    path = closed(tmp_path / "a.db", SCHEMA + more)
    assert list(foreign_sessions(source(path), FAMILIES)) == [("new", "s1", "1"), ("old", "s2", "1")]
    assert read_session(source(path), FAMILIES, "new", "s1") == [
        Record({"id": 1, "data_json": {"n": 9}, "blob": b"\x00\xff"}, origin="new")
    ]


def test_a_family_whose_tables_are_missing_is_passed_over(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db")
    assert [family for family, _, _ in foreign_sessions(source(path), FAMILIES)] == ["old", "old"]


def test_a_database_without_tables_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"")
    assert list(foreign_sessions(source(tmp_path / "a.db"), FAMILIES)) == []


def test_a_database_of_one_nameless_session_takes_the_name_of_its_source(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db")
    family = Family("one", ("talk",), "SELECT '' AS session, 7 AS stamp", ("SELECT id FROM talk",))
    assert list(foreign_sessions(source(path, "conversation"), (family,))) == [("one", "conversation", "7")]
    assert len(read_session(source(path, "conversation"), (family,), "one", "conversation")) == 3


def test_companions_are_read_along_after_the_rows(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db")
    (tmp_path / "side.json").write_text('{"n": 9}', encoding="utf-8")
    where = replace(source(path), companions=("*.json",))
    entries = read_session(where, FAMILIES, "old", "s2")
    assert [entry.origin for entry in entries if isinstance(entry, Record)] == ["old", "side.json"]


def test_a_row_that_is_no_json_costs_that_row(tmp_path: Path) -> None:
    rows = "INSERT INTO talk VALUES (3, 's1', '{not json'), (4, 's1', '[1]'), (5, 's1', ''), (6, 's1', NULL), (7, 's1', 5);"
    path = closed(tmp_path / "a.db", SCHEMA + rows)
    entries = read_session(source(path), FAMILIES, "old", "s1")
    assert [entry.reason if isinstance(entry, BadRecord) else entry.data["id"] for entry in entries] == [
        1,
        2,
        "json",
        "not-object",
        "json",
        6,
        "not-object",
    ]


def test_text_that_is_not_utf_8_survives(tmp_path: Path) -> None:
    path = closed(
        tmp_path / "a.db", SCHEMA + "INSERT INTO talk VALUES (0, 's3', CAST(x'7b226e223a2261ff227d' AS TEXT));"
    )
    assert read_session(source(path), FAMILIES, "old", "s3") == [
        Record({"id": 0, "data_json": {"n": "a\ufffd"}}, origin="old")
    ]


def test_tables_that_the_family_does_not_name_cannot_be_read(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db")
    nosy = Family("nosy", ("talk",), "SELECT token AS session, 1 AS stamp FROM account", ("SELECT * FROM account",))
    with pytest.raises(SourceError, match="prohibited"):
        list(foreign_sessions(source(path), (nosy,)))
    with pytest.raises(SourceError, match="prohibited"):
        read_session(source(path), (nosy,), "nosy", "s1")


@pytest.mark.parametrize("query", ["DELETE FROM talk", "ATTACH 'x.db' AS x", "PRAGMA user_version = 3"])
def test_a_family_cannot_write(tmp_path: Path, query: str) -> None:
    path = closed(tmp_path / "a.db")
    before = prints(tmp_path)
    with pytest.raises(SourceError):
        read_session(source(path), (Family("bad", ("talk",), "SELECT 1, 1", (query,)),), "bad", "s1")
    assert prints(tmp_path) == before


def test_a_family_of_another_shape_is_told_after_the_others_were_read(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db", SCHEMA + "CREATE TABLE talk2 (other);")
    found = foreign_sessions(source(path), FAMILIES)
    assert [next(found)[1], next(found)[1]] == ["s1", "s2"]
    with pytest.raises(SourceError, match="generation 'new' are not as expected"):
        next(found)


def test_what_is_no_database_is_told_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text("no database", encoding="utf-8")
    with pytest.raises(SourceError, match=r"a\.db.*not a database") as raised:
        list(foreign_sessions(source(path), FAMILIES))
    assert raised.value.hint


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(SourceError):
        list(foreign_sessions(source(path), FAMILIES))


def test_a_database_that_is_gone_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(foreign_sessions(source(tmp_path / "a.db"), FAMILIES))


# ---------------------------------------------------------------- guests do not notice

ALL = {"s1": [1, 2], "s2": [3]}


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_closed_database_is_left_as_it_was(tmp_path: Path, mode: str) -> None:
    path = closed(tmp_path / "a.db", mode=mode)
    before = prints(tmp_path)
    assert read_all(path) == ALL
    assert prints(tmp_path) == before
    assert list(before) == ["a.db"]


def test_a_database_whose_program_died_is_read_with_its_log_and_left_as_it_was(tmp_path: Path) -> None:
    with running(tmp_path / "a.db"):
        pass
    before = prints(tmp_path)
    assert list(before) == ["a.db", "a.db-shm", "a.db-wal"]
    assert read_all(tmp_path / "a.db") == ALL
    assert prints(tmp_path) == before


def test_a_database_in_use_is_read_with_its_log_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with running(path) as program:
        for step, expected in (
            ("INSERT INTO talk VALUES (2, 's2', '{\"n\": 4}');", [3, 4]),
            ("PRAGMA wal_checkpoint(TRUNCATE);", [3, 4]),
            ("INSERT INTO talk VALUES (3, 's2', '{\"n\": 5}');", [3, 4, 5]),
            ("PRAGMA wal_checkpoint(RESTART);", [3, 4, 5]),
        ):
            program.does(step)
            before = prints(tmp_path)
            assert read_all(path) == {"s1": [1, 2], "s2": expected}
            assert prints(tmp_path) == before


def test_a_reader_does_not_stop_a_writer_and_sees_one_state(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with running(path) as program, open_guest(str(path)) as guest:
        count = "SELECT count(*) FROM talk"
        guest.connection.execute("BEGIN")
        assert guest.connection.execute(count).fetchone() == (3,)
        program.does("INSERT INTO talk VALUES (9, 's9', '{}');")
        assert guest.connection.execute(count).fetchone() == (3,)
        guest.connection.execute("COMMIT")
        assert guest.connection.execute(count).fetchone() == (4,)


def test_a_log_without_its_index_is_read_from_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with running(path):
        pass
    (tmp_path / "a.db-shm").unlink()
    before = prints(tmp_path)
    assert read_all(path) == ALL
    assert prints(tmp_path) == before


def test_a_database_copied_without_its_log_is_read_as_it_is(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as program:
        program.does("PRAGMA wal_checkpoint(TRUNCATE);")
        program.does("INSERT INTO talk VALUES (2, 's2', '{\"n\": 4}');")
    (tmp_path / "other").mkdir()
    copy = Path(shutil.copy(tmp_path / "a.db", tmp_path / "other" / "a.db"))
    assert read_all(copy) == ALL
    assert list(prints(tmp_path / "other")) == ["a.db"]


def test_what_was_read_while_a_program_came_back_does_not_count(tmp_path: Path) -> None:
    path = closed(tmp_path / "a.db")
    with pytest.raises(MovedError), open_guest(str(path)) as guest:
        guest.connection.execute("SELECT count(*) FROM talk").fetchall()
        closed(path, "INSERT INTO talk VALUES (9, 's9', '{}');")


def test_odd_characters_in_a_path_are_no_parameters(tmp_path: Path) -> None:
    folder = tmp_path / "a?mode=rwc#x%20"
    folder.mkdir()
    assert read_all(closed(folder / "語 b.db")) == ALL
