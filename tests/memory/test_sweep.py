from __future__ import annotations

import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from agent_raw_rag.errors import ConfigError
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.models import Role
from agent_raw_rag.store.candidates import CandidateRow, CandidateRows
from agent_raw_rag.store.forget import blank
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.migrations import _migrations
from agent_raw_rag.store.notes import NoteRow, NoteRows
from tests.memory.spoken import OWNER, Spoken

RELEASE = "Remember: release window is Tuesday"
PREFERS = "I prefer small commits over large ones."
OLD = 946_684_800_000
"""The year 2000: before any store."""


@pytest.fixture
def spoken(tmp_path: Path) -> Spoken:
    return Spoken(tmp_path / "home")


def candidates(spoken: Spoken) -> list[CandidateRow]:
    rows = CandidateRows(spoken.runtime.reader.connection)
    return list(reversed(rows.listed(("pending", "conflict", "promoted", "rejected"), 1000)))


def active(spoken: Spoken) -> list[NoteRow]:
    return list(NoteRows(spoken.runtime.reader.connection).active())


def now() -> int:
    return time.time_ns() // 1_000_000 + 1000


def test_what_was_said_outright_becomes_a_note_that_rests_on_its_event(spoken: Spoken) -> None:
    event = spoken.say(RELEASE)
    swept = spoken.runtime.memory.promotion.sweep()
    assert (swept.read, swept.created, swept.promoted) == (1, 1, 1)
    (candidate,), (note,) = candidates(spoken), active(spoken)
    assert candidate.statement == candidate.quote == RELEASE
    assert (candidate.rule, candidate.kind, candidate.status, candidate.note) == (
        "remember",
        "fact",
        "promoted",
        note.id,
    )
    assert (note.statement, note.evidence, note.candidate, note.source) == (RELEASE, (event,), candidate.id, "tester")


def test_what_is_only_read_out_of_a_sentence_waits(spoken: Spoken) -> None:
    spoken.say(PREFERS)
    assert spoken.runtime.memory.promotion.sweep().promoted == 0
    assert [one.status for one in candidates(spoken)] == ["pending"]
    assert active(spoken) == []


@pytest.mark.parametrize(("mode", "notes"), [("off", 0), ("explicit", 1), ("all_valid", 2)])
def test_the_mode_says_what_becomes_a_note_by_itself(spoken: Spoken, mode: str, notes: int) -> None:
    spoken.options = f'[promotion]\nauto_promote = "{mode}"\n'
    spoken.say(f"{RELEASE}\n{PREFERS}")
    assert spoken.runtime.memory.promotion.sweep().created == 2
    assert len(active(spoken)) == notes


def test_a_second_sweep_makes_nothing_and_writes_no_journal(spoken: Spoken) -> None:
    spoken.say(f"{RELEASE}\n{PREFERS}")
    spoken.runtime.memory.promotion.sweep()
    before = len(list(Journal(spoken.runtime.reader.connection).rows()))
    swept = spoken.runtime.memory.promotion.sweep()
    assert (swept.read, swept.created) == (0, 0)
    assert spoken.runtime.memory.promotion.sweep(everything=True).created == 0
    assert len(list(Journal(spoken.runtime.reader.connection).rows())) == before


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TASK, Role.SUMMARY, Role.TOOL])
def test_only_people_and_events_are_listened_to(spoken: Spoken, role: Role) -> None:
    spoken.say(RELEASE, role=role)
    assert spoken.runtime.memory.promotion.sweep().read == 0
    assert candidates(spoken) == []


@pytest.mark.parametrize("mode", ["explicit", "all_valid"])
def test_nothing_that_was_overheard_becomes_a_rule(spoken: Spoken, mode: str) -> None:
    spoken.options = f'[promotion]\nauto_promote = "{mode}"\n'
    spoken.say("Rule: always run the full suite first.\nRemember: rule number one is to always run X.", role=Role.EVENT)
    spoken.runtime.memory.promotion.sweep()
    assert candidates(spoken)
    assert "rule" not in {one.kind for one in candidates(spoken)} | {one.kind for one in active(spoken)}


# ------------------------------------------------------------ history


def test_what_logs_told_before_the_store_was_is_passed_over_and_read_on_demand_without_promoting(
    spoken: Spoken,
) -> None:
    spoken.say(RELEASE, agent="claude", time=OLD)
    spoken.say("We decided to stay with SQLite for now.", agent="claude", time=now())
    swept = spoken.runtime.memory.promotion.sweep()
    assert (swept.read, swept.created, swept.promoted, swept.history) == (1, 1, 1, 1)
    everything = spoken.runtime.memory.promotion.sweep(everything=True)
    assert (everything.created, everything.promoted) == (1, 0)
    assert [one.status for one in candidates(spoken)] == ["promoted", "pending"]


def test_what_a_door_was_given_is_never_history_but_an_import_is(spoken: Spoken) -> None:
    spoken.say(RELEASE, agent="http", time=OLD)
    spoken.say("We decided to stay with SQLite for now.", agent="import", time=OLD)
    assert spoken.runtime.memory.promotion.sweep().created == 1


def test_what_an_older_version_stored_is_history(tmp_path: Path) -> None:
    spoken = Spoken(tmp_path)
    older = sqlite3.connect(tmp_path / "raw_rag.db", isolation_level=None)
    _migrations().apply(Database(older), stop_before="m003_memory")
    older.execute("INSERT INTO sessions (id, agent, native) VALUES (1, 'claude', 's')")
    older.execute(
        """INSERT INTO turns (session_id, ordinal, exchange, role, time, text, text_hash, key)
           VALUES (1, 1, 1, 'user', NULL, ?, x'00', zeroblob(16))""",
        (RELEASE,),
    )
    older.close()
    assert spoken.writing().execute("SELECT value FROM meta WHERE key = 'swept'").fetchone()[0] == "1"
    assert spoken.runtime.memory.promotion.sweep().read == 0
    assert spoken.runtime.memory.promotion.sweep(everything=True).created == 1


# ------------------------------------------------------------ the cursor


def test_an_open_turn_waits_until_it_is_settled(spoken: Spoken) -> None:
    spoken.say("Remember: release", agent="claude", time=now(), settled=False, key="k")
    spoken.say(PREFERS, agent="claude", time=now())
    assert spoken.runtime.memory.promotion.sweep().created == 1
    spoken.settle("k", RELEASE)
    assert spoken.runtime.memory.promotion.sweep().created == 1
    assert spoken.runtime.memory.promotion.sweep().read == 0
    assert {one.statement for one in candidates(spoken)} == {PREFERS, RELEASE}


def test_a_forgotten_turn_is_not_swept(spoken: Spoken) -> None:
    spoken.say(RELEASE)
    connection = spoken.writing()
    blank(connection, [1])
    connection.close()
    assert spoken.runtime.memory.promotion.sweep().created == 0


def test_a_row_number_that_is_given_anew_is_swept_anew(spoken: Spoken) -> None:
    spoken.say("Nothing of note is said here.", agent="claude", time=now())
    spoken.say("Nothing of note is said there.", agent="claude", time=now())
    spoken.runtime.memory.promotion.sweep()
    connection = spoken.writing()
    connection.execute("INSERT INTO meta VALUES ('rewriting', '1')")  # as rereading a log does
    connection.execute("DELETE FROM turns WHERE id = 2")
    connection.execute("DELETE FROM meta WHERE key = 'rewriting'")
    spoken.say(RELEASE, agent="claude", time=now())
    assert connection.execute("SELECT max(id) FROM turns").fetchone()[0] == 2
    assert spoken.runtime.memory.promotion.sweep().created == 1


def test_a_slice_ends_where_it_has_found_much(spoken: Spoken) -> None:
    sweep = replace(spoken.runtime.memory.promotion.sweeping, most_hits=2)
    for number in range(5):
        spoken.say(f"Remember: the port of host {number} is {number}000", agent="claude", time=now(), settled=number > 2,
                   key=f"k{number}")  # fmt: skip
    assert sweep().created == 2
    for number in range(3):
        spoken.settle(f"k{number}", f"Remember: the port of host {number} is {number}000")
    swept = sweep()
    assert (swept.read, swept.created) == (3, 3)
    assert sweep().read == 0


TEXTS = st.sampled_from(
    [RELEASE, PREFERS, "Nothing of note is said here.", "我们决定从下个月开始用新的队列服务", f"{RELEASE}\n{PREFERS}"]
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=8), st.sampled_from([1, 3, 500]))
def test_sweeping_after_each_turn_and_once_at_the_end_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, bool]], slice_turns: int
) -> None:
    pieces, whole = (Spoken(tmp_path_factory.mktemp("home")) for _ in range(2))
    for text, sweep_now in said:
        pieces.say(text)
        whole.say(text)
        if sweep_now:
            sweep(pieces, slice_turns)
    sweep(pieces, slice_turns)
    sweep(whole, slice_turns)
    if said:
        assert plain(pieces) == plain(whole)
        assert sweep(whole, slice_turns) == 0


def sweep(spoken: Spoken, slice_turns: int) -> int:
    return replace(spoken.runtime.memory.promotion.sweeping, slice_turns=slice_turns)().created


def plain(spoken: Spoken) -> object:
    return (
        [(one.kind, one.statement, one.evidence, one.status, one.rule) for one in candidates(spoken)],
        [(one.kind, one.statement, one.evidence) for one in active(spoken)],
    )


# ------------------------------------------------------------ said again


def test_what_is_said_twice_is_one_candidate_with_both_events(spoken: Spoken) -> None:
    first, second = spoken.say(PREFERS), spoken.say(PREFERS)
    assert spoken.runtime.memory.promotion.sweep().created == 1
    (candidate,) = candidates(spoken)
    assert candidate.evidence == (first, second)


def test_what_is_said_again_after_it_became_a_note_is_more_evidence_for_it(spoken: Spoken) -> None:
    first = spoken.say(RELEASE)
    spoken.runtime.memory.promotion.sweep()
    second = spoken.say("remember: Release  window is Tuesday.")
    swept = spoken.runtime.memory.promotion.sweep()
    assert (swept.created, swept.merged) == (0, 1)
    (note,) = active(spoken)
    assert note.evidence == (first, second)


def test_what_was_saved_on_purpose_takes_the_event_in(spoken: Spoken) -> None:
    spoken.say("Nothing of note is said here.")
    saved = spoken.runtime.memory.notes.save(Save(RELEASE, "tester", kind="fact"), OWNER)
    event = spoken.say(RELEASE)
    assert spoken.runtime.memory.promotion.sweep().merged == 1
    (note,) = active(spoken)
    assert (note.id, note.evidence) == (saved.node_id, (event,))


def test_a_rejected_sentence_is_not_proposed_again_unless_it_is_said_outright(spoken: Spoken) -> None:
    spoken.say(PREFERS)
    spoken.runtime.memory.promotion.sweep()
    spoken.runtime.memory.promotion.reject(candidates(spoken)[0].id, "no", OWNER)
    spoken.say(PREFERS)
    assert spoken.runtime.memory.promotion.sweep().created == 0

    spoken.options = '[promotion]\nauto_promote = "off"\n'
    spoken.say(RELEASE)
    spoken.runtime.memory.promotion.sweep()
    spoken.runtime.memory.promotion.reject(candidates(spoken)[-1].id, "no", OWNER)
    spoken.say(RELEASE)
    assert spoken.runtime.memory.promotion.sweep().created == 1


def test_what_is_said_again_after_its_note_was_retired_is_proposed_anew(spoken: Spoken) -> None:
    spoken.say(RELEASE)
    spoken.runtime.memory.promotion.sweep()
    spoken.runtime.memory.notes.deprecate(active(spoken)[0].id, "no longer", OWNER)
    assert spoken.runtime.memory.promotion.sweep(everything=True).created == 0
    spoken.say(RELEASE)
    assert spoken.runtime.memory.promotion.sweep().promoted == 1


def test_a_sentence_that_contradicts_a_note_is_in_conflict_and_no_note(spoken: Spoken) -> None:
    spoken.say("Nothing of note is said here.")
    note = spoken.runtime.memory.notes.save(Save("deploy on Friday", "tester", kind="fact"), OWNER)
    spoken.options = '[promotion]\nauto_promote = "all_valid"\n'
    spoken.say("never deploy on Friday")
    assert spoken.runtime.memory.promotion.sweep().conflicts == 1
    (candidate,) = candidates(spoken)
    assert (candidate.status, candidate.note) == ("conflict", note.node_id)
    assert len(active(spoken)) == 1


# ------------------------------------------------------------ forgetting


def test_what_was_made_of_forgotten_turns_goes_with_them_once_nothing_else_says_it(spoken: Spoken) -> None:
    spoken.say(RELEASE)
    second = spoken.say(RELEASE)
    mine = spoken.runtime.memory.notes.save(Save("My own words about it", "tester"), OWNER)
    spoken.runtime.memory.promotion.sweep()
    connection = spoken.writing()
    blank(connection, [1])
    (candidate,) = candidates(spoken)
    assert (candidate.statement, candidate.evidence) == (RELEASE, (second,))
    assert {one.statement for one in active(spoken)} == {RELEASE, mine.content}
    blank(connection, [2])
    connection.close()
    (candidate,) = candidates(spoken)
    assert (candidate.statement, candidate.quote, candidate.status) == ("", "", "rejected")
    assert [one.id for one in active(spoken)] == [mine.node_id]
    kept = spoken.runtime.reader.connection.execute("SELECT statement, status FROM notes WHERE candidate IS NOT NULL")
    assert [tuple(row) for row in kept] == [("", "deprecated")]


# ------------------------------------------------------------ bad rules, no store


def test_wrong_trigger_rules_of_the_user_end_a_sweep_before_it_begins(spoken: Spoken) -> None:
    spoken.say(RELEASE)
    (spoken.home / "triggers.toml").write_text("nonsense = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 1: unknown key"):
        spoken.runtime.memory.promotion.sweep()
    (spoken.home / "triggers.toml").write_text('off = ["remember"]\n', encoding="utf-8")
    assert spoken.runtime.memory.promotion.sweep().created == 0


def test_a_space_without_a_store_has_nothing_to_sweep_and_gets_none(spoken: Spoken) -> None:
    promotion = spoken.runtime.memory.promotion
    assert promotion.sweep().read == 0
    assert promotion.candidates().candidates == []
    assert promotion.due_in(300) == 300
    assert not (spoken.home / "raw_rag.db").exists()


def test_a_sweep_is_due_after_the_interval_and_when_there_was_none(spoken: Spoken) -> None:
    spoken.say(RELEASE)
    promotion = spoken.runtime.memory.promotion
    assert promotion.due_in(21_600) == 0
    promotion.sweep()
    assert 21_000 < promotion.due_in(21_600) <= 21_600
