"""Sessions that are there for their own history only: no way of searching finds them, and they end."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.errors import BadArgumentError, NotFoundError
from agent_raw_rag.memory.raw_search import RawQuery
from agent_raw_rag.memory.recall import RecallAsk
from agent_raw_rag.models import Ask, Capture, Role, SessionInfo
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.ending import end_idle_sessions
from agent_raw_rag.store.glance import glance
from agent_raw_rag.store.passing import passing
from agent_raw_rag.store.portable import Part, PortableRows
from agent_raw_rag.store.presence import alone, live, present
from tests.memory.rooms import OWNER, runtime

SECRET = "zebracrossing"
WORDS = f"Remember: the {SECRET} opens on Tuesday"
FOLDER = "/w/zoo"


def passing_turn(content: str = WORDS, session: str = "p", **more: object) -> Capture:
    values = {"source": "chat", "door": "chat", "role": Role.USER, "time": 1_000, "passing": True}
    return Capture(content, session=session, **{**values, **more})  # type: ignore[arg-type]


def told(room: Runtime, *captures: Capture) -> None:
    room.memory.raw.capture_all(list(captures), OWNER)


def everywhere(room: Runtime) -> str:
    """Whatever any way of searching or listing gives, as one text."""
    raw = room.memory.raw
    found: list[object] = [
        raw.search(RawQuery(SECRET)),
        raw.search(RawQuery(SECRET, session="p")),
        raw.search(RawQuery(SECRET, source="chat")),
        room.memory.notes.recall(RecallAsk(SECRET, include_raw=True)),
        room.search(SECRET, Ask(project="*")).passages,
        room.recent(Ask(project="*")),
        room.sessions(Ask(project="*")),
        room.projects(), room.project_names(None), room.session_names(),
        list(glance(room.settings.store_path(), (FOLDER,), lambda: 60.0)),
        room.memory.promotion.sweep(), room.memory.promotion.candidates(),
    ]  # fmt: skip
    rows = PortableRows(room.reader.connection, Part())
    exported = [(values, list(rows.turns(number, ""))) for number, values in rows.sessions()]
    tables = [
        [tuple(row) for row in room.reader.connection.execute(f"SELECT * FROM {table}")]
        for table in ("chunks", "candidates", "notes")
    ]
    return repr([*found, exported, tables])


OTHERS = st.lists(
    st.builds(
        Capture,
        content=st.sampled_from(["the lion sleeps", "Remember: feed the lion", "x " * 900]),
        source=st.sampled_from(["chat", "tester"]),
        door=st.sampled_from(["chat", "mcp"]),
        session=st.sampled_from(["p", "q", None]),
        role=st.sampled_from([Role.USER, Role.ASSISTANT]),
        kept=st.booleans(),
        info=st.sampled_from([None, SessionInfo(cwd=FOLDER)]),
    ),
    max_size=5,
)


@given(OTHERS, OTHERS, st.sampled_from(["p", "r"]))
def test_nothing_that_is_to_pass_is_ever_found(
    tmp_path_factory: pytest.TempPathFactory, before: list[Capture], after: list[Capture], session: str
) -> None:
    room = runtime(tmp_path_factory.mktemp("passing"))
    told(room, *before)
    told(room, passing_turn(session=session, info=SessionInfo(cwd=FOLDER, title=SECRET)))
    told(room, *after)
    assert SECRET not in everywhere(room)
    room.memory.end_session("chat", session, OWNER)
    assert SECRET not in everywhere(room)


def test_it_is_shown_by_its_exact_id_and_counted_until_it_ends(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn(session="passing-one"), passing_turn("yes", session="passing-one", role=Role.ASSISTANT))
    shown = room.show("chat:passing-one")
    assert [turn.text for turn in shown.turns] == [WORDS, "yes"] and shown.session and shown.session.turns == 2
    assert room.context("passing-one", 2).turns[-1].text == "yes"
    assert (room.status().passing, room.status().turns) == (1, 2)
    with pytest.raises(NotFoundError):
        room.show("chat:passing")
    assert room.memory.end_session("chat", "passing-one", OWNER)
    assert room.show("chat:passing-one").turns == [] and room.status().passing == 0


def test_it_ends_once_with_tombstones_and_a_row_in_the_journal_and_no_word_of_it_in_any_file(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn())
    assert any(SECRET.encode() in file.read_bytes() for file in (tmp_path / "store").rglob("*") if file.is_file())
    assert room.memory.end_session("chat", "p", OWNER) and not room.memory.end_session("chat", "p", OWNER)
    rows = room.reader.connection.execute("SELECT status, text FROM turns").fetchall()
    assert [tuple(row) for row in rows] == [(2, "")]
    acts = room.reader.connection.execute("SELECT action, target FROM journal ORDER BY id").fetchall()
    assert tuple(acts[-1]) == ("forget", "chat:p") and len(acts) == 2
    assert not any(SECRET.encode() in file.read_bytes() for file in (tmp_path / "store").rglob("*") if file.is_file())


def test_after_its_end_the_same_id_and_words_begin_anew(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    first = room.memory.raw.capture(passing_turn(), OWNER)
    room.memory.end_session("chat", "p", OWNER)
    again = room.memory.raw.capture(passing_turn(), OWNER)
    assert again.recorded and not again.duplicate and again.event_id != first.event_id
    assert room.memory.raw.capture(passing_turn(), OWNER).duplicate
    room.memory.end_session("chat", "p", OWNER)
    stays = room.memory.raw.capture(passing_turn(passing=False), OWNER)
    assert stays.recorded and SECRET in everywhere(room)
    assert not room.memory.end_session("chat", "p", OWNER)


def test_what_was_stored_for_good_takes_nothing_that_is_to_pass(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn("for good", passing=False))
    answer = room.memory.raw.capture(passing_turn(), OWNER)
    assert not answer.recorded and answer.skipped == "for_good"
    assert not room.memory.end_session("chat", "p", OWNER)
    assert [turn.text for turn in room.show("chat:p").turns] == ["for good"]


def test_a_turn_cannot_be_kept_and_pass(tmp_path: Path) -> None:
    with pytest.raises(BadArgumentError):
        told(runtime(tmp_path), passing_turn(kept=True))


def test_a_silent_session_ends_and_one_that_was_just_heard_of_does_not(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn(session="old"), passing_turn(session="new"), passing_turn("stays", "good", passing=False))
    with room.memory.store.write() as connection:
        connection.execute("UPDATE sessions SET heard = heard - 1801000 WHERE native = 'old'")
    assert end_idle_sessions(room) == 1 and end_idle_sessions(room) == 0
    assert room.show("chat:old").turns == []
    assert len(room.show("chat:new").turns) == 1 and len(room.show("chat:good").turns) == 1


def test_spaces_each_end_their_own(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    other = room.in_space("other")
    told(room, passing_turn())
    told(other, passing_turn())
    with other.memory.store.write() as connection:
        connection.execute("UPDATE sessions SET heard = 0")
    assert end_idle_sessions(room) == 1
    assert len(room.show("chat:p").turns) == 1 and other.show("chat:p").turns == []


HOLD = """
import sys
from agent_raw_rag.runtime import Runtime
with Runtime.load().memory.live_session("p"):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.process
def test_a_session_that_another_process_holds_is_not_ended(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn())
    with room.memory.store.write() as connection:
        connection.execute("UPDATE sessions SET heard = 0")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={"HOME": str(tmp_path), "RAW_RAG_HOME": str(tmp_path / "store"), "PATH": ""},
    )  # fmt: skip
    assert holder.stdout and holder.stdout.readline() == "held\n"
    with room.memory.live_session("p"):
        assert not room.memory.end_session("chat", "p", OWNER)
    assert end_idle_sessions(room) == 0 and len(room.show("chat:p").turns) == 1
    holder.kill()  # its hold goes with it, whatever it left
    holder.communicate(timeout=60)
    assert end_idle_sessions(room) == 1
    assert not list((tmp_path / "store").glob("live-*"))


def test_a_presence_is_shared_and_leaves_no_file(tmp_path: Path) -> None:
    home, name = str(tmp_path), live("chat", "../../x")
    with alone(home, name) as nobody:
        assert nobody
    with ExitStack() as one, ExitStack() as other:
        one.enter_context(present(home, name))
        with alone(home, name) as nobody, alone(home, name, among=1) as mine:
            assert mine and not nobody
        other.enter_context(present(home, name))
        with alone(home, name, among=1) as mine:
            assert not mine
    assert list(tmp_path.iterdir()) == []


def test_who_leaves_while_somebody_is_alone_there_waits_for_nobody_and_who_enters_waits(tmp_path: Path) -> None:
    home, name = str(tmp_path), live("chat", "s")
    order: list[str] = []
    mine = ExitStack()
    mine.enter_context(present(home, name))

    def enter() -> None:
        with present(home, name):
            order.append("entered")

    with alone(home, name, among=1) as free:
        assert free
        mine.close()
        entering = Thread(target=enter)
        entering.start()
        with present(home, live("chat", "other")):  # nobody else waits
            order.append("alone")
    entering.join(60)
    assert order == ["alone", "entered"] and list(tmp_path.iterdir()) == []


def test_a_session_that_this_process_is_just_asked_in_is_not_ended_for_its_silence(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn())
    with room.memory.store.write() as connection:
        connection.execute("UPDATE sessions SET heard = 0")
    with room.memory.live_session("p"):
        assert end_idle_sessions(room) == 0
    assert end_idle_sessions(room) == 1


def test_the_count_of_what_passes_is_of_those_that_have_not_ended(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    told(room, passing_turn(), passing_turn(session="q"))
    room.memory.end_session("chat", "q", OWNER)
    assert passing(room.reader.connection) == 1
