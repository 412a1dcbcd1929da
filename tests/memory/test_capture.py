"""What a capture answers, and what it leaves in the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_raw_rag.errors import BadArgumentError, NotFoundError
from agent_raw_rag.memory.results import PROMOTED_LATER
from agent_raw_rag.models import Capture, Role, SessionInfo
from agent_raw_rag.store.journal import Journal
from tests.memory.rooms import OWNER, runtime
from tests.memory.test_echo import block

SAID = Capture("The release window is Tuesday.", "tester")
KEY = "sk-ant-api03-" + "".join("Ab3dE6gH9"[n % 9] for n in range(93)) + "-AAAAAAAA"


def test_a_capture_says_what_it_is_and_what_comes_next(tmp_path: Path) -> None:
    answer = runtime(tmp_path).memory.raw.capture(SAID, OWNER)
    assert answer.event_id and answer.event_id[0] == "e" and len(answer.event_id) == 21
    assert answer.as_json() == {
        "event_id": answer.event_id, "source": "tester", "session_id": "ext:tester", "recorded": True, "duplicate": False,
        "note": PROMOTED_LATER,
    }  # fmt: skip


def test_a_retry_is_the_same_event(tmp_path: Path) -> None:
    raw = runtime(tmp_path).memory.raw
    first = raw.capture(SAID, OWNER)
    for again in (SAID, replace(SAID, content="The  release window\nis Tuesday. ")):
        answer = raw.capture(again, OWNER)
        assert (answer.event_id, answer.duplicate, answer.recorded) == (first.event_id, True, True)


def test_an_id_of_the_callers_own_makes_the_turn(tmp_path: Path) -> None:
    raw = runtime(tmp_path).memory.raw
    first = raw.capture(replace(SAID, host_turn_id="7"), OWNER)
    again = raw.capture(replace(SAID, host_turn_id="7", content="something else"), OWNER)
    other = raw.capture(replace(SAID, host_turn_id="8"), OWNER)
    assert again.duplicate and again.event_id == first.event_id != other.event_id
    assert raw.event(str(first.event_id)).text == SAID.content


def test_sessions_and_roles_and_doors_are_told_apart(tmp_path: Path) -> None:
    raw = runtime(tmp_path).memory.raw
    ids = {
        raw.capture(one, OWNER).event_id
        for one in (SAID, replace(SAID, session="s"), replace(SAID, role=Role.USER), replace(SAID, door="http"))
    }
    assert len(ids) == 4


def test_the_same_capture_in_two_spaces_is_two_events(tmp_path: Path) -> None:
    root = runtime(tmp_path)
    one, two = (root.in_space(name).memory.raw.capture(SAID, OWNER) for name in ("a", "b"))
    assert one.event_id != two.event_id
    with pytest.raises(NotFoundError):
        root.in_space("b").memory.raw.event(str(one.event_id))


@pytest.mark.parametrize(
    "bad",
    [
        replace(SAID, content=" \n"),
        replace(SAID, source=" "),
        replace(SAID, content="x" * 2_000_001),
        replace(SAID, source="x" * 201),
        replace(SAID, session="x" * 201),
        replace(SAID, host_turn_id="x" * 201),
    ],
)
def test_a_bad_argument_writes_nothing(tmp_path: Path, bad: Capture) -> None:
    memory = runtime(tmp_path).memory
    with pytest.raises(BadArgumentError):
        memory.raw.capture_all([SAID, bad], OWNER)
    assert not memory.store.exists()


def test_nothing_but_an_echo_is_not_recorded(tmp_path: Path) -> None:
    memory = runtime(tmp_path).memory
    answer = memory.raw.capture(replace(SAID, content=block()), OWNER)
    assert (answer.recorded, answer.skipped, answer.event_id) == (False, "recall_echo", None)
    assert not memory.store.exists()


def test_an_echo_is_cut_out_of_what_is_recorded(tmp_path: Path) -> None:
    raw = runtime(tmp_path).memory.raw
    answer = raw.capture(replace(SAID, content=f"{block()}\nWe deploy on Tuesday."), OWNER)
    assert raw.event(str(answer.event_id)).text == "We deploy on Tuesday."


def test_a_secret_is_masked_unless_redaction_is_off(tmp_path: Path) -> None:
    raw = runtime(tmp_path).memory.raw
    one = replace(SAID, content=f"the key is {KEY} here")
    assert KEY not in raw.event(str(raw.capture(one, OWNER).event_id)).text
    config = tmp_path / "verbatim.toml"
    config.write_text("[sanitize]\nredact = false\n", encoding="utf-8")
    verbatim = runtime(tmp_path / "other", RAW_RAG_CONFIG=str(config)).memory.raw
    assert KEY in verbatim.event(str(verbatim.capture(one, OWNER).event_id)).text


def test_who_told_it_and_what_is_known_of_the_session_is_kept(tmp_path: Path) -> None:
    memory = runtime(tmp_path).memory
    info = SessionInfo(cwd=str(tmp_path), title="Release talk")
    told = replace(SAID, author="Ada", session="s1", time=5_000, info=info, partial=True, host_turn_id="m1")
    row = memory.raw.event(str(memory.raw.capture(told, OWNER).event_id))
    assert (row.author, row.source, row.session, row.time, row.partial) == ("Ada", "tester", "s1", 5_000, True)
    session = memory.store.read().session("mcp:s1")
    assert (session.title, session.cwd, session.started, session.last) == ("Release talk", str(tmp_path), 5_000, 5_000)


def test_each_new_event_is_in_the_journal_and_a_retry_is_not(tmp_path: Path) -> None:
    memory = runtime(tmp_path).memory
    answer = memory.raw.capture(SAID, OWNER)
    memory.raw.capture(SAID, OWNER)
    (row,) = Journal(memory.store.read().connection).rows()
    assert (row.action, row.target, row.source, row.actor, row.transport) == (
        "capture", answer.event_id, "tester", "owner", "cli",
    )  # fmt: skip
