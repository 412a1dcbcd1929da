from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotFoundError
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.memory.promotion import Promotion, Propose
from agent_raw_rag.memory.results import NoteItem
from agent_raw_rag.models import Actor
from agent_raw_rag.store.forget import blank
from agent_raw_rag.store.journal import Journal
from tests.memory.spoken import Spoken

SAID = "We met Ann.  The release window IS Tuesday, as always."
STATEMENT = "The release window is Tuesday"
QUOTE = "release window is Tuesday"
AGENT = Actor("laptop", "http", "rrt_abcd")


@pytest.fixture
def spoken(tmp_path: Path) -> Spoken:
    return Spoken(tmp_path / "home")


@pytest.fixture
def event(spoken: Spoken) -> str:
    return spoken.say(SAID)


@pytest.fixture
def promotion(spoken: Spoken, event: str) -> Promotion:
    return spoken.runtime.memory.promotion


def note_of(spoken: Spoken, note: str) -> NoteItem:
    return spoken.runtime.memory.notes.history(note).notes[-1]


def told(spoken: Spoken) -> list[tuple[str, str | None]]:
    return [(row.action, row.target) for row in Journal(spoken.runtime.reader.connection).rows()]


def propose(promotion: Promotion, event: str, statement: str = STATEMENT, **more: str) -> str:
    return promotion.propose(Propose(statement, QUOTE, (event,), **more), AGENT).candidate.id


def test_a_proposal_waits_and_becomes_a_note_when_somebody_says_so(
    spoken: Spoken, promotion: Promotion, event: str
) -> None:
    candidate = propose(promotion, event, kind="decision", importance="low")
    assert [one.status for one in promotion.candidates().candidates] == ["pending"]
    (made,) = promotion.promote([candidate], AGENT, note="true").promoted
    note = note_of(spoken, made.node_id)
    assert (note.statement, note.kind, note.importance, note.evidence) == (STATEMENT, "decision", "low", [event])
    assert (note.candidate, note.author, note.source) == (candidate, "laptop", "tester")
    assert promotion.candidates().candidates == []
    assert told(spoken) == [("candidate", candidate), ("promote", note.id)]


def test_the_same_proposal_is_one_candidate_and_promoting_twice_one_note(promotion: Promotion, event: str) -> None:
    first, second = propose(promotion, event), propose(promotion, event, statement=f"  {STATEMENT}. ")
    assert first == second
    assert (
        promotion.promote([first], AGENT).promoted[0].node_id == promotion.promote([first], AGENT).promoted[0].node_id
    )


@pytest.mark.parametrize("quote", ["release window is Wednesday", "window release", "..."])
def test_a_quote_that_is_not_in_its_evidence_is_refused_and_nothing_written(
    spoken: Spoken, promotion: Promotion, event: str, quote: str
) -> None:
    with pytest.raises(BadArgumentError, match="quote stands in none"):
        promotion.propose(Propose(STATEMENT, quote, (event,)), AGENT)
    assert promotion.candidates("all").candidates == []
    assert told(spoken) == []


REFUSED = {
    "no evidence": (Propose(STATEMENT, QUOTE, ()), "no evidence"),
    "much evidence": (Propose(STATEMENT, QUOTE, tuple(f"e{number:020x}" for number in range(51))), "at most 50"),
    "blank statement": (Propose("  ", QUOTE, ("EVENT",)), "statement is blank"),
    "short statement": (Propose("no", QUOTE, ("EVENT",)), "has 2 characters; .* from 3 to 600"),
    "long statement": (Propose("x" * 601, QUOTE, ("EVENT",)), "has 601 characters"),
    "blank quote": (Propose(STATEMENT, "\n", ("EVENT",)), "quote is blank"),
    "unknown kind": (Propose(STATEMENT, QUOTE, ("EVENT",), kind="wish"), "no kind 'wish'.*Known"),
    "unknown importance": (Propose(STATEMENT, QUOTE, ("EVENT",), importance="huge"), "no importance 'huge'"),
    "high and reworded": (Propose(f"I say: {STATEMENT}", QUOTE, ("EVENT",), importance="high"), "must be its quote"),
}


@pytest.mark.parametrize(("ask", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_a_bad_proposal_is_refused_with_the_reason(
    spoken: Spoken, promotion: Promotion, event: str, ask: Propose, why: str
) -> None:
    named = Propose(
        ask.statement, ask.quote, tuple(one.replace("EVENT", event) for one in ask.evidence), ask.kind, ask.importance
    )
    with pytest.raises(BadArgumentError) as refused:
        promotion.propose(named, AGENT)
    assert re.search(why, str(refused.value)), refused.value
    assert told(spoken) == []


def test_a_statement_of_high_importance_may_be_its_quote(promotion: Promotion, event: str) -> None:
    assert propose(promotion, event, statement="Release window IS tuesday", importance="high")


def test_evidence_of_another_space_is_not_found(spoken: Spoken, promotion: Promotion, event: str) -> None:
    elsewhere = spoken.runtime.in_space("elsewhere")
    elsewhere.memory.notes.save(Save("Anything at all", "tester"), AGENT)
    with pytest.raises(NotFoundError, match="no event"):
        elsewhere.memory.promotion.propose(Propose(STATEMENT, QUOTE, (event,)), AGENT)
    with pytest.raises(NotFoundError, match="no event"):
        promotion.propose(Propose(STATEMENT, QUOTE, ("e" + "0" * 20,)), AGENT)
    with pytest.raises(NotFoundError, match="nothing in this space"):
        spoken.runtime.in_space("empty").memory.promotion.propose(Propose(STATEMENT, QUOTE, (event,)), AGENT)


def test_what_was_forgotten_is_no_evidence_neither_then_nor_later(
    spoken: Spoken, promotion: Promotion, event: str
) -> None:
    candidate = propose(promotion, event)
    connection = spoken.writing()
    blank(connection, [1])
    connection.close()
    with pytest.raises(NotFoundError, match="no event"):
        promotion.propose(Propose("Something else", QUOTE, (event,)), AGENT)
    with pytest.raises(NotFoundError, match=r"What c.* rests on was forgotten"):
        promotion.promote([candidate], AGENT)


def test_an_exact_duplicate_is_merged_into_the_note_there_is(spoken: Spoken, promotion: Promotion, event: str) -> None:
    saved = spoken.runtime.memory.notes.save(Save(STATEMENT.upper(), "tester", kind="fact"), AGENT)
    promoted = promotion.promote([propose(promotion, event)], AGENT)
    assert promoted.as_json()["merged"] is True
    assert promoted.promoted[0].node_id == saved.node_id
    assert note_of(spoken, saved.node_id).evidence == [event]
    assert spoken.runtime.memory.notes.history(saved.node_id).as_json()["count"] == 1


def test_what_contradicts_a_note_is_in_conflict_and_replaces_it_only_when_promoted_again(
    spoken: Spoken, promotion: Promotion
) -> None:
    saved = spoken.runtime.memory.notes.save(Save("deploy on Friday", "tester", kind="fact"), AGENT)
    event = spoken.say("You should never deploy on Friday")
    proposed = promotion.propose(Propose("never deploy on Friday", "never deploy on Friday", (event,)), AGENT)
    assert (proposed.candidate.status, proposed.candidate.note) == ("conflict", saved.node_id)
    with pytest.raises(ConflictError, match=f"contradicts the note {saved.node_id}.*again to replace"):
        promotion.promote([proposed.candidate.id], AGENT)
    assert note_of(spoken, saved.node_id).status == "active"
    (made,) = promotion.promote([proposed.candidate.id], AGENT).promoted
    assert made.superseded == saved.node_id
    assert note_of(spoken, made.node_id).supersedes == saved.node_id


def test_a_conflict_that_came_up_later_is_told_before_anything_is_replaced(
    spoken: Spoken, promotion: Promotion
) -> None:
    event = spoken.say("You should never deploy on Friday")
    other = spoken.say(SAID)
    ids = [
        promotion.propose(Propose("never deploy on Friday", "never deploy on Friday", (event,)), AGENT).candidate.id,
        propose(promotion, other),
    ]
    spoken.runtime.memory.notes.save(Save("deploy on Friday", "tester", kind="fact"), AGENT)
    with pytest.raises(ConflictError, match=r"contradicts the note n.*again to replace"):
        promotion.promote(ids, AGENT)
    assert {one.status for one in promotion.candidates().candidates} == {"conflict", "pending"}
    assert len(promotion.promote(ids, AGENT).promoted) == 2


def test_a_rule_does_not_give_way_to_a_candidate(spoken: Spoken, promotion: Promotion) -> None:
    rule = spoken.runtime.memory.notes.save(Save("deploy on Friday", "tester", kind="rule"), AGENT)
    event = spoken.say("You should never deploy on Friday")
    proposed = promotion.propose(Propose("never deploy on Friday", "never deploy on Friday", (event,)), AGENT)
    with pytest.raises(ConflictError, match="contradicts the rule"):
        promotion.promote([proposed.candidate.id], AGENT)
    assert note_of(spoken, rule.node_id).status == "active"


def test_a_proposed_rule_is_never_promoted_by_itself(spoken: Spoken, event: str) -> None:
    spoken.options = '[promotion]\nauto_promote = "all_valid"\n'
    promotion = spoken.runtime.memory.promotion
    rule = promotion.propose(Propose(STATEMENT, QUOTE, (event,), kind="rule"), AGENT)
    fact = promotion.propose(Propose("Ann was met", "We met Ann", (event,)), AGENT)
    assert (rule.candidate.status, fact.candidate.status) == ("pending", "promoted")


def test_what_is_rejected_is_hidden_kept_and_can_come_back(spoken: Spoken, promotion: Promotion, event: str) -> None:
    candidate = propose(promotion, event)
    assert promotion.reject(candidate, "not true", AGENT).as_json()["status"] == "rejected"
    assert promotion.reject(candidate, "again", AGENT).reason == "not true"
    assert promotion.candidates().candidates == []
    (rejected,) = promotion.candidates("rejected").candidates
    assert (rejected.id, rejected.reason) == (candidate, "not true")
    assert spoken.runtime.reader.connection.execute("SELECT text FROM turns").fetchone()[0] == SAID
    assert propose(promotion, event) == candidate
    assert promotion.promote([candidate], AGENT).promoted[0].node_id
    with pytest.raises(ConflictError, match="is the note"):
        promotion.reject(candidate, "too late", AGENT)


def test_bad_decisions_write_nothing(spoken: Spoken, promotion: Promotion, event: str) -> None:
    candidate = propose(promotion, event)
    before = told(spoken)
    with pytest.raises(NotFoundError, match="no candidate"):
        promotion.promote([candidate, "c" + "0" * 20], AGENT)
    with pytest.raises(BadArgumentError, match="Promote which"):
        promotion.promote([], AGENT)
    with pytest.raises(NotFoundError, match="no candidate"):
        promotion.reject("nothing", "why", AGENT)
    with pytest.raises(BadArgumentError, match="reason is blank"):
        promotion.reject(candidate, " ", AGENT)
    with pytest.raises(BadArgumentError, match="no status"):
        promotion.candidates("maybe")
    assert told(spoken) == before


def test_other_words_become_the_note_and_the_first_ones_are_rejected(
    spoken: Spoken, promotion: Promotion, event: str
) -> None:
    first = propose(promotion, event)
    (made,) = promotion.promote_reworded(first, "Releases go out on Tuesdays", AGENT, "agreed").promoted
    assert note_of(spoken, made.node_id).statement == "Releases go out on Tuesdays"
    assert {one.id: one.status for one in promotion.candidates("all").candidates} == {
        first: "rejected", made.candidate_id: "promoted"
    }  # fmt: skip


def test_other_words_that_cannot_become_a_note_leave_nothing_behind(
    spoken: Spoken, promotion: Promotion, event: str
) -> None:
    rule = spoken.runtime.memory.notes.save(Save("The release window is never Friday", "x", kind="rule"), AGENT).node_id
    first, before = propose(promotion, event), told(spoken)
    for _ in range(2):
        with pytest.raises(ConflictError, match=rule):
            promotion.promote_reworded(first, "The release window is Friday", AGENT)
        assert [one.id for one in promotion.candidates("all").candidates] == [first]
    with pytest.raises(BadArgumentError):
        promotion.promote_reworded(first, "x", AGENT)
    assert told(spoken)[-1:] == before[-1:]


def test_other_words_that_contradict_a_note_are_refused_once_and_then_replace_it(
    spoken: Spoken, promotion: Promotion, event: str
) -> None:
    old = spoken.runtime.memory.notes.save(Save("The release window is never Friday", "x", kind="fact"), AGENT).node_id
    first = propose(promotion, event)
    with pytest.raises(ConflictError, match=old):
        promotion.promote_reworded(first, "The release window is Friday", AGENT)
    assert sorted(one.status for one in promotion.candidates("all").candidates) == ["conflict", "pending"]
    (made,) = promotion.promote_reworded(first, "The release window is Friday", AGENT).promoted
    assert made.superseded == old
    assert {one.id: one.status for one in promotion.candidates("all").candidates}[first] == "rejected"
