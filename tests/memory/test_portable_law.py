"""The law of moving: an export, imported into an empty store, gives that export again, and the same store row for row."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.ingest.forget import forget
from agent_raw_rag.memory.statements import statement_hash
from agent_raw_rag.models import CleanText
from agent_raw_rag.sanitize import redact
from agent_raw_rag.store.connection import transaction
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.notes import NoteRow, NoteRows
from agent_raw_rag.store.portable import Part
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.rows import Status
from tests.dump import differences, dump
from tests.ingest.claude_log import folder, line
from tests.memory.moving import CHATGPT, CLAUDE_AI, NOW, OWNER, chats, count, empty, exported, imported
from tests.store_support import Ingest

LOGS = Path(__file__).parents[1] / "logs"
DERIVED = ("tallies", "quarantine")
"""What was counted while reading is of the logs, and not exported."""

SESSIONS = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True)),
    min_size=1, max_size=4,
)  # fmt: skip
"""Sessions of which some tell the same messages: forks."""
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip)


def moved(store: Ingest) -> dict[str, list[tuple[Any, ...]]]:
    """What a store holds, but for what does not move: where a forgotten turn stood among the tokens means nothing any more."""
    found = {name: rows for name, rows in dump(store.connection).items() if name not in DERIVED}
    found["turns"] = [(*row[:11], 0, *row[12:]) if row[7] == Status.FORGOTTEN else row for row in found["turns"]]
    return found


def filled(place: Path, sessions: list[tuple[str, list[int]]], words: list[str]) -> Ingest:
    """A store of logs with forks, words of any kind, notes and a journal."""
    store = empty(place, "one")
    logs = folder(store.home)
    for number, (origin, messages) in enumerate(sessions):
        said = (line(one, origin, words[one % len(words)], sessionId=f"s{number}") for one in sorted(messages))
        (logs / f"s{number}.jsonl").write_text("".join(said), encoding="utf-8")
    store.run("claude")
    with transaction(store.connection):
        for number, statement in enumerate(dict.fromkeys(redact(word)[0] for word in words)):
            hashed = statement_hash(statement)
            if NoteRows(store.connection).active_of(hashed) is None:
                row = NoteRow(
                    f"n{number:020x}", "rule", CleanText(statement), hashed, CleanText("t"), NOW, NOW + number
                )
                NoteRows(store.connection).add(row)
                Journal(store.connection).add(OWNER, "save", time=NOW, target=row.id)
    return store


@settings(max_examples=settings().max_examples // 3)
@given(
    sessions=SESSIONS, words=st.lists(WORDS, min_size=1, max_size=5), forgotten=st.sets(st.integers(1, 4), max_size=2)
)
def test_an_export_imported_into_an_empty_store_gives_the_same_bytes(
    sessions: list[tuple[str, list[int]]], words: list[str], forgotten: set[int]
) -> None:
    place = Path(tempfile.mkdtemp())
    one, two = filled(place, sessions, words), empty(place, "two")
    for session in forgotten:
        forget(one.committer(), Scope(sessions=(session,)))
    data = exported(one)
    first = imported(two, data)
    assert exported(two) == data
    assert imported(two, data).added == dict.fromkeys(first.added, 0)
    assert exported(two) == data
    found = differences(moved(one), moved(two))
    for store in (one, two):
        store.connection.close()
    shutil.rmtree(place)
    assert found == []


@settings(max_examples=settings().max_examples // 4)
@given(sessions=SESSIONS, words=st.lists(WORDS, min_size=1, max_size=5), chosen=st.integers(1, 3), since=st.booleans())
def test_a_part_imported_into_an_empty_store_is_told_the_same_again(
    sessions: list[tuple[str, list[int]]], words: list[str], chosen: int, since: bool
) -> None:
    place = Path(tempfile.mkdtemp())
    one, two = filled(place, sessions, words), empty(place, "two")
    middle = one.connection.execute("SELECT max(time) FROM turns").fetchone()[0]
    data = exported(one, Part(None, middle) if since else Part((chosen,), None, notes=False))
    imported(two, data)
    again = exported(two).splitlines()[1:-1]
    for store in (one, two):
        store.connection.close()
    shutil.rmtree(place)
    assert [one for one in again if b'"type":"journal"' not in one] == data.splitlines()[1:-1]


@pytest.mark.parametrize("agent", ["claude", "codex", "omp", "opencode"])
def test_every_sample_log_moves_as_it_is(agent: str, tmp_path: Path) -> None:
    places = {"claude": ".claude", "codex": ".codex", "omp": ".omp/agent", "opencode": ".local/share/opencode"}
    for version in sorted((LOGS / agent).iterdir()):
        if version.is_dir():
            shutil.copytree(version, tmp_path / "home" / places[agent], dirs_exist_ok=True)
    one, two = empty(tmp_path, "one"), empty(tmp_path, "two")
    one.run(agent)
    data = exported(one)
    imported(two, data)
    assert exported(two) == data
    assert differences(moved(one), moved(two)) == []


def test_logs_that_are_read_after_an_import_add_nothing(tmp_path: Path) -> None:
    one, two = filled(tmp_path, [("a", [0, 1, 2]), ("a", [0, 1, 3])], ["words"]), empty(tmp_path, "two")
    imported(two, exported(one))
    before = count(two, "turns")
    assert two.added("claude").turns == 0
    assert count(two, "turns") == before


def test_chat_exports_that_are_read_after_an_import_add_nothing(tmp_path: Path) -> None:
    one, two = empty(tmp_path, "one"), empty(tmp_path, "two")
    for path in (CLAUDE_AI, CHATGPT):
        chats(one, path)
    imported(two, exported(one))
    assert [chats(two, path).added.turns for path in (CLAUDE_AI, CHATGPT)] == [0, 0]
    assert exported(two) == exported(one)
