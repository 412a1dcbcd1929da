"""Tags and metadata of notes: kept, masked, bounded, joined where the same is said twice, and moved with an export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.errors import BadArgumentError, ProtectedError
from agent_raw_rag.memory.finding import Ask, metadata_of
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.memory.values import canonical, tags_of
from agent_raw_rag.models import Capture
from agent_raw_rag.store.notes import NoteRows
from tests.memory.moving import empty, exported, imported
from tests.memory.notebook import ACTOR, DAY, Notebook

KEY = "sk-ant-api03-" + "".join("Ab3dE6gH9"[n % 9] for n in range(93)) + "-AAAAAAAA"
DEEP: Any = 1
for _ in range(40):
    DEEP = [DEEP]


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def note(book: Notebook, of: str) -> Any:
    return next(one for one in book.notes.history(of).notes if one.id == of)


def test_tags_and_metadata_are_kept_and_follow_an_update(book: Notebook) -> None:
    saved = book.save(
        "Deploy by hand", tags=(" keep ", "ui", "ui", " "), metadata={"ticket": 7, "who": {"name": ["a", None]}}
    )
    for of in (saved, book.notes.update(saved, "Deploy with the script", "test", ACTOR).new_node_id):
        assert note(book, of).tags == ["keep", "ui"]
        assert note(book, of).metadata == {"ticket": 7, "who": {"name": ["a", None]}}


def test_saying_it_again_adds_tags_and_metadata_and_is_journalled_once(book: Notebook) -> None:
    saved = book.save("Deploy by hand", tags=("a",), metadata={"x": 1, "y": 1})
    for _ in range(2):
        assert book.save("deploy by hand.", tags=("b",), metadata={"y": 2, "z": 3}) == saved
    assert note(book, saved).tags == ["a", "b"] and note(book, saved).metadata == {"x": 1, "y": 2, "z": 3}
    assert [one["action"] for one in book.memory.journal.rows().rows] == ["save", "merge"]


def test_a_rule_takes_over_what_was_said_of_the_note_it_replaces(book: Notebook) -> None:
    book.save("Deploy by hand", tags=("a",), metadata={"x": 1})
    rule = book.save("Deploy by hand", kind="rule", tags=("b",), metadata={"y": 2})
    assert set(note(book, rule).tags) == {"a", "b"} and note(book, rule).metadata == {"x": 1, "y": 2}


def test_secrets_in_metadata_and_tags_are_masked(book: Notebook) -> None:
    book.save("Deploy by hand", tags=(KEY,), metadata={"deep": [{"key": KEY}], KEY: 1})
    content = book.store.read().connection.execute("SELECT group_concat(metadata || tags) FROM notes").fetchone()[0]
    assert KEY not in content


@pytest.mark.parametrize("bad", [
    {"metadata": {str(n): n for n in range(65)}}, {"metadata": {"x": "y" * 20_000}}, {"metadata": {"k" * 201: 1}},
    {"metadata": {"": 1}}, {"metadata": {"x": float("nan")}}, {"metadata": {"x": 10**5000}}, {"metadata": {"x": DEEP}},
    {"tags": ("t" * 201,)},
])  # fmt: skip
def test_what_is_no_metadata_is_refused_and_nothing_is_written(book: Notebook, bad: dict[str, Any]) -> None:
    with pytest.raises(BadArgumentError):
        book.save("Deploy by hand", **bad)
    assert not book.store.exists()


@pytest.mark.parametrize("bad", [1, {"a": 1}, [1], ["a"] * 21, ",".join("a" * 21)])
def test_what_are_no_tags_is_refused(bad: Any) -> None:
    with pytest.raises(BadArgumentError):
        tags_of(bad)


def test_equal_values_have_one_text_and_true_is_not_one() -> None:
    assert canonical({"a": 1, "b": [None]}) == canonical({"b": [None], "a": 1})
    assert len({canonical(one) for one in (1, True, "1", 1.5, None, [1], {"1": 1})}) == 7
    assert canonical(float("inf")) is None and canonical(DEEP) is None


def test_what_a_writer_says_cannot_pose_as_what_the_note_is(book: Notebook) -> None:
    saved = book.save("Deploy by hand", metadata={"source": "somebody else", "collection": "x"})
    row = NoteRows(book.store.read().connection).get(saved)
    assert row is not None and metadata_of(row) == {"source": "test", "collection": "memory", "category": "fact"}


def test_a_note_may_hold_since_an_earlier_time(book: Notebook) -> None:
    early = book.notes.save(Save("Deploy by hand", "test", time=book.clock.now - 400 * DAY), ACTOR).node_id
    assert note(book, early).created < note(book, early).changed
    assert [row["time"][:4] for row in book.memory.journal.rows().rows] == [note(book, early).changed[:4]]


def test_a_protected_note_is_not_retired(book: Notebook) -> None:
    saved = book.save("Deploy by hand", tags=("keep",))
    with pytest.raises(ProtectedError):
        book.notes.deprecate(saved, "no reason", ACTOR)


def test_metadata_moves_with_an_export_and_is_masked_on_arrival(tmp_path: Path) -> None:
    one, two = empty(tmp_path, "one"), empty(tmp_path, "two")
    book = Notebook(tmp_path / "book")
    book.save("Deploy by hand", tags=("ui",), metadata={"ticket": 7})
    (row,) = NoteRows(book.store.read().connection).active()
    NoteRows(one.connection).add(row)
    data = exported(one)
    assert b'"metadata":{"ticket":7}' in data
    imported(two, data)
    (arrived,) = NoteRows(two.connection).active()
    assert arrived == row and exported(two).splitlines()[1:-1] == data.splitlines()[1:-1]
    assert json.loads(data.splitlines()[1])["tags"] == ["ui"]


def test_the_list_of_notes_and_turns_goes_by_one_score(book: Notebook) -> None:
    saved = [book.save(f"The teapot number {n} is blue") for n in range(4)]
    said = book.memory.raw.capture(
        Capture("A blue teapot it was, " + "and so on " * 400, "test", time=book.clock.now), ACTOR
    )
    found = book.memory.finding(Ask("blue teapot", limit=100))
    assert {one.id for one in found.hits} == {*saved, said.event_id} and found.hits[-1].id == said.event_id
    scores = [one.score or 0 for one in found.hits]
    assert scores == sorted(scores, reverse=True)
    cut = book.memory.finding(Ask("blue teapot", limit=100, min_score=scores[3]))
    assert [one.id for one in cut.hits] == [one.id for one in found.hits if (one.score or 0) >= scores[3]]
