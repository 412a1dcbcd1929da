"""Importing an export into a space that has a history of its own: what is added, what is kept, what never comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.errors import StoreError, UsageError
from agent_raw_rag.ingest.forget import forget
from agent_raw_rag.memory.portable.arrive import arrive
from agent_raw_rag.memory.statements import statement_hash
from agent_raw_rag.models import Capture, CleanText
from agent_raw_rag.store.connection import transaction
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.notes import NoteRow, NoteRows
from agent_raw_rag.store.portable import Part
from agent_raw_rag.store.reader import Scope
from tests.ingest.claude_log import folder, line, lines, said
from tests.memory.moving import CHATGPT, CLAUDE_AI, NOW, OWNER, chats, count, empty, exported, imported, records, texts
from tests.memory.rooms import runtime
from tests.store_support import Ingest

KEY = "ghp_" + "R7kq2ZpX9vLm4TnB8sWd3CfJ6hYaGu1Qe5Ko"


@pytest.fixture
def one(tmp_path: Path) -> Ingest:
    return empty(tmp_path / "a", "one")


@pytest.fixture
def two(tmp_path: Path) -> Ingest:
    return empty(tmp_path / "b", "two")


def log(store: Ingest, *numbers: int, session: str = "s1") -> None:
    path = folder(store.home) / f"{session}.jsonl"
    path.write_text("".join(line(number, session) for number in numbers), encoding="utf-8")
    store.run("claude")


def note(store: Ingest, name: str, statement: str, **more: Any) -> None:
    row = NoteRow(f"n{name:0>20}", "rule", CleanText(statement), statement_hash(statement), CleanText("test"), NOW, NOW)
    with transaction(store.connection):
        NoteRows(store.connection).add(row)
        if more:
            sets = ", ".join(f"{field} = ?" for field in more)
            store.connection.execute(f"UPDATE notes SET {sets} WHERE id = ?", (*more.values(), row.id))


def statuses(store: Ingest) -> dict[str, tuple[str, str | None]]:
    rows = store.connection.execute("SELECT id, status, superseded_by FROM notes ORDER BY id")
    return {row[0].lstrip("n0"): (row[1], row[2] and row[2].lstrip("n0")) for row in rows}


def again(data: bytes, change: Any) -> bytes:
    """The export with its records changed, and made to hold together again."""
    import hashlib

    head, *body = [json.loads(row) for row in data.splitlines()[:-1]]
    body = [row for row in (change(row) for row in body) if row is not None]
    head["counts"] = {kind: sum(row["type"] == kind for row in body) for kind in head["counts"]}
    rows = b"".join(json.dumps(row).encode() + b"\n" for row in [head, *body])
    end = {"type": "end", "records": len(body), "sha256": hashlib.sha256(rows).hexdigest()}
    return rows + json.dumps(end).encode() + b"\n"


# ---------------------------------------------------------------- what was said


def test_turns_that_are_missing_are_put_in_their_places(one: Ingest, two: Ingest) -> None:
    log(one, 0, 1, 2, 3, 4)
    log(two, 0, 3)
    assert imported(two, exported(one)).added["turn"] == 3
    assert [word for _, word in said(two)] == ["0", "1", "2", "3", "4"]
    chunks = two.connection.execute("SELECT text FROM chunks ORDER BY place").fetchall()
    assert [row[0] for row in chunks] == [
        row[0] for row in one.connection.execute("SELECT text FROM chunks ORDER BY place")
    ]


def test_what_only_this_store_has_stays_behind_what_it_followed(one: Ingest, two: Ingest) -> None:
    log(one, 0, 1, 4)
    log(two, 0, 1, 2, 3)
    imported(two, exported(one))
    assert [word for _, word in said(two)] == ["0", "1", "2", "3", "4"]


def test_another_space_gets_what_it_lacks_and_loses_nothing(one: Ingest, two: Ingest) -> None:
    chats(one, CLAUDE_AI)
    chats(two, CHATGPT)
    before = texts(two)
    imported(two, exported(one))
    assert sorted(texts(two)) == sorted([*before, *texts(one)])
    assert imported(two, exported(one)).added == {"session": 0, "turn": 0, "note": 0, "candidate": 0, "journal": 0}


@pytest.mark.line("I3")
def test_what_was_forgotten_here_does_not_come_back(one: Ingest, two: Ingest) -> None:
    for store in (one, two):
        log(store, 0, 1, 2)
    forget(two.committer(), Scope())
    result = imported(two, exported(one))
    assert result.forgotten == 3 and texts(two) == []
    log(one, *range(5))
    assert imported(two, exported(one)).forgotten == 5 and texts(two) == []


def test_a_tombstone_keeps_a_log_out_and_takes_nothing_away(one: Ingest, two: Ingest, tmp_path: Path) -> None:
    for store in (one, two):
        log(store, 0, 1)
    forget(one.committer(), Scope())
    data = exported(one)
    assert "says" not in data.decode()
    assert imported(two, data).kept == 2 and len(texts(two)) == 2
    three = empty(tmp_path / "c", "three")
    imported(three, data)
    log(three, 0, 1)
    assert texts(three) == []


@pytest.mark.line("I3")
def test_a_secret_in_a_file_is_masked_again(one: Ingest, two: Ingest) -> None:
    log(one, 0, 1)
    note(one, "1", "The key is KEY")
    data = again(exported(one), lambda row: json.loads(json.dumps(row).replace("s1 says 1", KEY).replace("KEY", KEY)))
    assert KEY.encode() in data
    assert imported(two, data).masked == 2
    assert KEY not in "\n".join(two.connection.iterdump())
    assert texts(two)[1] == "[redacted:github-pat]"


def test_an_open_turn_is_settled_by_who_heard_its_end(one: Ingest, two: Ingest) -> None:
    call = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}],
    }
    done = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}]}
    rows = [line(0), line(1, message=call), line(2, message=done), *lines(5)[3:]]
    for store, some in ((one, rows), (two, rows[:2])):
        (folder(store.home) / "s1.jsonl").write_text("".join(some), encoding="utf-8")
        store.run("claude")
    assert "failed" not in texts(two)[1]
    imported(two, exported(one))
    assert texts(two) == texts(one) and "failed" in texts(two)[1]


def test_a_fork_alone_has_the_words_of_what_it_was_forked_from(one: Ingest, two: Ingest) -> None:
    log(one, 0, 1)
    path = folder(one.home) / "s2.jsonl"
    path.write_text(
        line(0) + line(1) + line(5, "s2", sessionId="s2", timestamp="2026-10-06T00:00:00Z"), encoding="utf-8"
    )
    one.run("claude")
    number = one.connection.execute("SELECT id FROM sessions WHERE native = 's2'").fetchone()[0]
    imported(two, exported(one, Part((number,), notes=False)))
    assert [word for _, word in said(two, "s2")] == ["0", "1", "5"]


# ---------------------------------------------------------------- notes and journal


def test_ids_of_notes_stay_and_one_that_is_said_here_leads_to_the_one_here(one: Ingest, two: Ingest) -> None:
    note(one, "1", "Use tabs.")
    note(one, "2", "Never push on Friday.")
    note(two, "9", "never push on friday")
    for _ in range(2):
        imported(two, exported(one))
        assert statuses(two) == {"1": ("active", None), "2": ("superseded", "9"), "9": ("active", None)}


def test_a_note_that_was_replaced_there_is_replaced_here(one: Ingest, two: Ingest) -> None:
    for store in (one, two):
        note(store, "1", "Use tabs.")
    one.connection.execute(
        "UPDATE notes SET status = 'superseded', superseded_by = ?, changed = ?", (f"n{2:020}", NOW + 1)
    )
    note(one, "2", "Use blanks.", supersedes=f"n{1:020}")
    result = imported(two, exported(one))
    assert result.updated == 1 and statuses(two) == {"1": ("superseded", "2"), "2": ("active", None)}


def test_a_journal_goes_with_an_empty_store_and_stays_out_of_another(one: Ingest, two: Ingest, tmp_path: Path) -> None:
    for store, target in ((one, "a"), (one, "b"), (two, "c")):
        with transaction(store.connection):
            Journal(store.connection).add(OWNER, "save", time=NOW, target=target)
    new = empty(tmp_path / "c", "new")
    assert imported(new, exported(one)).added["journal"] == 2
    assert [(row.action, row.target) for row in Journal(new.connection).rows()] == [
        ("save", "a"), ("save", "b"), ("import", "export"),
    ]  # fmt: skip
    assert imported(two, exported(one)).journal_left_out == 2
    for store in (one, two, new):
        assert Journal(store.connection).broken() is None


def test_an_empty_store_takes_the_name_and_another_keeps_its_own(one: Ingest, two: Ingest, tmp_path: Path) -> None:
    log(one, 0)
    log(two, 1)
    names = [json.loads(exported(store).splitlines()[0])["generation"] for store in (one, two)]
    new = empty(tmp_path / "c", "new")
    for store, name in ((new, names[0]), (two, names[1])):
        imported(store, exported(one))
        assert json.loads(exported(store).splitlines()[0])["generation"] == name


# ---------------------------------------------------------------- files that are not whole


def harmed(data: bytes, harm: str) -> bytes:
    rows = data.splitlines(keepends=True)
    return {
        "a byte": data.replace(b"says 1", b"says 7", 1), "cut": b"".join(rows[:-1]), "cut in a line": data[:-200],
        "a line less": b"".join(rows[:3] + rows[4:]), "a line more": data + rows[2], "empty line": data + b"\n",
        "newer": data.replace(b'"version":1', b'"version":2', 1), "no JSON": b"{\n" + data,
    }[harm]  # fmt: skip


HARMS = ["a byte", "cut", "cut in a line", "a line less", "a line more", "empty line", "newer", "no JSON"]


@pytest.mark.parametrize("harm", HARMS)
def test_a_file_that_is_not_whole_is_refused_and_nothing_is_written(one: Ingest, two: Ingest, harm: str) -> None:
    log(one, 0, 1, 2)
    with pytest.raises((StoreError, UsageError)):
        imported(two, harmed(exported(one), harm))
    assert [count(two, table) for table in ("sources", "sessions", "turns", "journal")] == [0, 0, 0, 0]


ODD = {
    "an unknown type": lambda row: {**row, "type": "secret"},
    "an unknown field": lambda row: {**row, "else": 1},
    "a number for a text": lambda row: {**row, "text": 5} if row["type"] == "turn" else row,
    "a turn of another session": lambda row: {**row, "session": "x:y"} if row["type"] == "turn" else row,
    "no id": lambda row: {name: value for name, value in row.items() if name != "key"},
    "a key that is none": lambda row: {**row, "key": "zz"} if row["type"] == "turn" else row,
    "a role that is none": lambda row: {**row, "role": "king"} if row["type"] == "turn" else row,
    "an instant after the last year": lambda row: {**row, "time": 2**62} if row["type"] == "turn" else row,
    "an instant before the first year": lambda row: {**row, "started": -(2**62)} if row["type"] == "session" else row,
    "a status that is none": lambda row: {**row, "status": "?"} if row["type"] == "turn" else row,
}


@pytest.mark.parametrize("odd", ODD)
def test_a_file_made_by_hand_that_breaks_the_form_is_refused(one: Ingest, two: Ingest, odd: str) -> None:
    log(one, 0, 1, 2)
    with pytest.raises(StoreError):
        imported(two, again(exported(one), ODD[odd]))
    assert count(two, "turns") == 0


def test_a_records_ids_are_the_ids_of_the_tools(one: Ingest) -> None:
    log(one, 0)
    (turn,) = records(exported(one), "turn")
    assert turn["id"] == f"e{turn['key'][:20]}" and turn["session"] == "claude:s1"


def test_an_import_that_was_interrupted_goes_on(one: Ingest, two: Ingest, tmp_path: Path) -> None:
    for session in ("s1", "s2", "s3"):
        log(one, 0, 1, session=session)
    note(one, "1", "Use tabs.")
    file = tmp_path / "export.jsonl"
    file.write_bytes(exported(one))

    def stop(chunks: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        arrive(two.committer(), str(file), actor=OWNER, now=NOW, on_chunks=stop)
    assert count(two, "turns") == 2 and count(two, "notes") == count(two, "journal") == 0
    assert imported(two, file.read_bytes()).added["turn"] == 4
    assert exported(two) == file.read_bytes()


def test_a_capture_that_moved_is_known_when_it_is_sent_again(tmp_path: Path) -> None:
    said_here = Capture("The release window is Tuesday.", "tester", host_turn_id="7", author="ann")
    homes = [runtime(tmp_path / name) for name in ("a", "b")]
    first = homes[0].memory.raw.capture(said_here, OWNER)
    file = tmp_path / "export.jsonl"
    homes[0].portable().export(str(file))
    homes[1].portable().import_file(str(file), embed=False)
    again = homes[1].memory.raw.capture(said_here, OWNER)
    assert again.duplicate and again.event_id == first.event_id
    (turn,) = records(file.read_bytes(), "turn")
    assert turn["id"] == first.event_id
    assert turn["captured"] == {"source": "tester", "author": "ann", "partial": False}
    homes[1].portable().export(str(tmp_path / "second.jsonl"))
    assert (tmp_path / "second.jsonl").read_bytes() == file.read_bytes()


def test_candidates_move_with_what_was_decided(one: Ingest, two: Ingest) -> None:
    add = """INSERT INTO candidates (id, kind, statement, statement_hash, quote, evidence, source, proposer, status, created)
             VALUES (?, 'fact', 'Tuesday', x'00', 'It is Tuesday', '["e1"]', 's', 'sweep', ?, 5)"""
    names = [f"c{number:020x}" for number in (1, 2)]
    for name in names:
        one.connection.execute(add, (name, "pending"))
    data = exported(one)
    assert imported(two, data).added["candidate"] == 2 and exported(two) == data
    one.connection.execute(
        "UPDATE candidates SET status = 'rejected', reason = 'no', decided = 9 WHERE id = ?", names[:1]
    )
    result = imported(two, exported(one))
    assert (result.updated, result.added["candidate"], result.present["candidate"]) == (1, 0, 2)
    assert exported(two) == exported(one)
