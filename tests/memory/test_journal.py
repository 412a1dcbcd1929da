from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.journal import JournalView
from agent_raw_rag.models import Actor
from agent_raw_rag.store.journal import GENESIS, Journal
from tests.memory.spoken import Spoken

ACTOR = Actor("laptop", "http", "rrt_abcd")


@pytest.fixture
def spoken(tmp_path: Path) -> Spoken:
    spoken = Spoken(tmp_path / "home")
    spoken.say("Nothing of note is said here.")
    with spoken.runtime.memory.store.write() as connection:
        for number in range(5):
            Journal(connection).add(
                ACTOR, "save", time=number, target=f"n{number}", source="ünï", before=b"" if number else None,
                after=bytes([number]), detail={"kind": "fact", "evidence": ["e1"]},
            )  # fmt: skip
    return spoken


@pytest.fixture
def edited(spoken: Spoken) -> sqlite3.Connection:
    """The store with everything that protects it taken off."""
    connection = sqlite3.connect(spoken.home / "raw_rag.db", isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def view(spoken: Spoken) -> JournalView:
    return spoken.runtime.memory.journal


def test_acts_stand_in_their_order_with_who_how_and_what(spoken: Spoken) -> None:
    shown = view(spoken).rows(limit=2).as_json()
    assert [row["target"] for row in shown["rows"]] == ["n3", "n4"]
    last = shown["rows"][-1]
    assert (last["actor"], last["transport"], last["token"], last["source"]) == ("laptop", "http", "rrt_abcd", "ünï")
    assert last["time"] == "1970-01-01T00:00:00.004Z"
    assert json.loads(json.dumps(shown)) == shown
    assert [row["target"] for row in view(spoken).rows(since="1970-01-01T00:00:00.003Z").rows] == ["n3", "n4"]
    with pytest.raises(BadArgumentError):
        view(spoken).rows(limit=0)


@pytest.mark.parametrize("act", ["UPDATE journal SET actor = 'me'", "DELETE FROM journal"])
def test_the_database_itself_refuses_to_change_the_journal(spoken: Spoken, act: str) -> None:
    connection = sqlite3.connect(spoken.home / "raw_rag.db", isolation_level=None)
    with pytest.raises(sqlite3.Error, match="append-only"):
        connection.execute(act)
    connection.close()
    assert view(spoken).verify().as_json() == {"ok": True, "rows": 5, "broken": None}


EDITS = {
    "a text": ("UPDATE journal SET actor = 'me' WHERE id = 3", 3),
    "a time": ("UPDATE journal SET time = time + 1 WHERE id = 1", 1),
    "a time that is none": ("UPDATE journal SET time = 'noon' WHERE id = 2", 2),
    "a hash": ("UPDATE journal SET after = x'ff' WHERE id = 2", 2),
    "nothing and empty": ("UPDATE journal SET before = NULL WHERE id = 4", 4),
    "bytes for text": ("UPDATE journal SET after = 'text' WHERE id = 4", 4),
    "blanks in the detail": ("UPDATE journal SET detail = detail || ' ' WHERE id = 5", 5),
    "a detail that is no json": ("UPDATE journal SET detail = '{' WHERE id = 5", 5),
    "the chain": ("UPDATE journal SET chain = x'00' WHERE id = 2", 2),
    "the first row": ("DELETE FROM journal WHERE id = 1", 2),
    "a row in the middle": ("DELETE FROM journal WHERE id = 3", 4),
    "the last rows": ("DELETE FROM journal WHERE id > 3", 4),
    "all rows": ("DELETE FROM journal", 1),
    "the order": ("UPDATE journal SET id = CASE id WHEN 2 THEN 9 ELSE id END", 3),
}


@pytest.mark.parametrize(("edit", "broken"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_past_the_triggers_is_found_where_it_was_made(
    spoken: Spoken, edited: sqlite3.Connection, edit: str, broken: int
) -> None:
    edited.execute(edit)
    verified = view(spoken).verify()
    assert (verified.ok, verified.broken) == (False, broken)
    view(spoken).rows()


def test_rows_that_were_cut_off_are_missed_after_more_were_added_too(
    spoken: Spoken, edited: sqlite3.Connection
) -> None:
    edited.execute("DELETE FROM journal WHERE id > 3")
    with spoken.runtime.memory.store.write() as connection:
        Journal(connection).add(ACTOR, "save", time=9)
    assert view(spoken).verify().broken == 6


def test_a_row_knows_its_link_from_the_one_before(spoken: Spoken) -> None:
    chain = GENESIS
    for row in Journal(spoken.runtime.reader.connection).rows():
        assert (chain := row.link(chain)) == row.chain


def test_a_space_without_a_store_has_an_empty_sound_journal(tmp_path: Path) -> None:
    empty = Spoken(tmp_path)
    assert view(empty).rows().rows == []
    assert view(empty).verify().ok
