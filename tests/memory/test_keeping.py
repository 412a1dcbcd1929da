"""What is kept on purpose stays: sessions whatever is forgotten around them, notes however they are to be retired."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotFoundError, ProtectedError
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.memory.promotion import Propose
from agent_raw_rag.models import Ask, Capture, Role, SessionInfo
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.rows import Status
from tests.memory.notebook import ACTOR, Notebook
from tests.memory.rooms import OWNER, runtime
from tests.samples import PROJECT, sample_runtime

PARENT = "claude:7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001"


def turn(content: str, session: str, **more: object) -> Capture:
    info = SessionInfo(cwd="/w/zoo")
    return replace(Capture(content, "chat", "chat", session, Role.USER, time=1_000, info=info), **more)  # type: ignore[arg-type]


def forgotten(room: Runtime, *, kept: bool = False, dry_run: bool = False, **asked: str) -> tuple[int, int, int]:
    done = room.forget(room.forget_scope(Ask(**asked)), kept=kept, dry_run=dry_run)  # type: ignore[arg-type]
    return done.sessions, done.turns, done.shielded


def names(room: Runtime) -> set[str]:
    return {one.session for one in room.sessions(Ask(project="*"))}


@pytest.mark.parametrize(
    "filters", [{"project": "/w/zoo"}, {"agent": "chat"}, {"after": "1970-01-01"}, {"branch": "b"}]
)
def test_forgetting_by_filters_passes_kept_sessions_over_and_says_how_many(
    tmp_path: Path, filters: dict[str, str]
) -> None:
    room = runtime(tmp_path)
    info = SessionInfo(cwd="/w/zoo", branch="b")
    room.memory.raw.capture_all([turn("stays", "a", kept=True, info=info), turn("goes", "b", info=info)], OWNER)
    assert forgotten(room, dry_run=True, **filters) == (1, 1, 1)
    assert forgotten(room, **filters) == (1, 1, 1)
    assert names(room) == {"chat:a"} and [one.kept for one in room.sessions(Ask(project="*"))] == [True]
    assert forgotten(room, kept=True, **filters) == (1, 1, 0) and names(room) == set()


def test_a_kept_session_is_not_forgotten_by_its_id_unless_that_is_meant(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    room.memory.raw.capture(turn("stays", "a", kept=True), OWNER)
    for dry_run in (True, False):
        with pytest.raises(ProtectedError, match="protected") as refused:
            forgotten(room, session="chat:a", dry_run=dry_run)
    assert refused.value.code == "protected" and isinstance(refused.value, ConflictError)
    assert forgotten(room, session="chat:a", kept=True) == (1, 1, 0)


def test_keeping_a_session_covers_its_sub_agents_and_its_words_in_copies(tmp_path: Path) -> None:
    room = sample_runtime(tmp_path)
    before = names(room)
    assert room.memory.keeping.session(PARENT, OWNER).changed
    assert not room.memory.keeping.session(PARENT, OWNER).changed
    assert forgotten(room, project=PROJECT)[2] == 2
    assert len(names(room)) == 2 and names(room) < before
    assert all(turn.text for turn in room.show(PARENT).turns)
    room.ingest(again=True)
    assert len(names(room)) == 2
    child = next(name for name in names(room) if name != PARENT)
    with pytest.raises(ProtectedError):
        forgotten(room, session=child)
    room.memory.keeping.session(PARENT, OWNER, on=False)
    assert forgotten(room, project=PROJECT)[2] == 0 and names(room) == set()


def test_what_others_copied_from_a_kept_session_does_not_take_its_words_along(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    room.memory.raw.capture_all([turn("the original", "a", kept=True), turn("own words", "fork")], OWNER)
    with room.memory.store.write() as connection:
        connection.execute(
            """INSERT INTO turns (session_id, ordinal, exchange, role, text, text_hash, key, status)
               SELECT (SELECT id FROM sessions WHERE native = 'fork'), 2, 2, role, '', text_hash, key, ? FROM turns
               WHERE text = 'the original'""",
            (Status.COPY,),
        )
    assert forgotten(room, session="chat:fork") == (1, 1, 0)
    assert [one.text for one in room.show("chat:a").turns] == ["the original"]


def test_keeping_is_written_down_and_taken_along(tmp_path: Path) -> None:
    room = runtime(tmp_path / "one")
    room.memory.raw.capture(turn("stays", "a"), OWNER)
    room.memory.keeping.session("chat:a", OWNER)
    acts = room.reader.connection.execute("SELECT action, target FROM journal ORDER BY id").fetchall()
    assert tuple(acts[-1]) == ("keep", "chat:a")
    file = str(tmp_path / "export.jsonl")
    room.portable().export(file)
    other = runtime(tmp_path / "other")
    for _ in range(2):
        other.portable().import_file(file, embed=False)
    assert [one.kept for one in other.sessions(Ask(project="*"))] == [True]


def test_what_passes_or_is_not_there_cannot_be_kept(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    with pytest.raises(NotFoundError):
        room.memory.keeping.session("chat:none", OWNER)
    assert not (tmp_path / "store" / "raw_rag.db").exists()
    room.memory.raw.capture(turn("passes", "a", passing=True), OWNER)
    with pytest.raises(ConflictError):
        room.memory.keeping.session("chat:a", OWNER)


def test_a_note_with_the_tag_is_protected_until_it_is_let_go(book: Notebook) -> None:
    note = book.save("Deploy on Friday", tags=("keep", "keep", " "))
    with pytest.raises(ProtectedError) as refused:
        book.notes.deprecate(note, "old", ACTOR)
    assert refused.value.code == "protected"
    assert book.notes.history(note).notes[0].tags == ["keep"] and book.notes.history(note).notes[0].status == "active"
    assert book.notes.keep(note, ACTOR, on=False).changed and not book.notes.keep(note, ACTOR, on=False).changed
    assert book.notes.deprecate(note, "old", ACTOR).id == note


def test_saving_it_again_adds_its_tags_and_a_successor_has_them(book: Notebook) -> None:
    note = book.save("Deploy on Friday", tags=("a",))
    assert book.save("Deploy on Friday", tags=("keep",)) == note
    later = book.notes.update(note, "Deploy on Monday", "test", ACTOR).new_node_id
    assert book.notes.history(later).notes[-1].tags == ["a", "keep"]
    with pytest.raises(BadArgumentError):
        book.notes.save(Save("x y z", "test", tags=tuple(map(str, range(21)))), ACTOR)


def test_no_candidate_takes_the_place_of_a_protected_note(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    memory = room.memory
    note = memory.notes.save(Save("Deploy on Friday", "test", kind="fact", tags=("keep",)), OWNER).node_id
    said = "never deploy on Friday"
    event = memory.raw.capture(Capture(said, "test", role=Role.USER), OWNER).event_id or ""
    made = memory.promotion.propose(Propose(said, said, (event,)), OWNER).candidate
    assert made.status == "conflict"
    for refused in (ConflictError, ProtectedError):  # that it contradicts, and then that nobody may mean it
        with pytest.raises(refused):
            memory.promotion.promote([made.id], OWNER, "it changed")
    assert memory.notes.history(note).notes[-1].status == "active"
