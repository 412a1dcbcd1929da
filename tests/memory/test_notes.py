"""Keeping statements: each act is stored with its row in the journal, or leaves no trace."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotActiveError, NotFoundError, RawRagError
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.memory.taken import LONGEST_STATEMENT
from agent_raw_rag.store.rows import text_hash
from tests.memory.notebook import ACTOR, Notebook

TAB = "Indent with tabs."


def test_the_same_statement_is_one_note_however_it_is_written(book: Notebook) -> None:
    first = book.notes.save(Save(TAB, "a"), ACTOR)
    again = [
        book.notes.save(Save(text, "b"), ACTOR)
        for text in (TAB, "  INDENT  with\ntabs ", "indent with tabs!", "Ｉndent with tabs")
    ]
    assert first.created and not any(one.created for one in again)
    assert {one.node_id for one in again} == {first.node_id}
    assert book.counted() == {"active": 1}


def test_an_act_is_in_the_journal_by_id_and_hash_and_never_by_its_words(book: Notebook) -> None:
    note = book.save(TAB, source="review")
    new = book.notes.update(note, "Indent with spaces.", "review", ACTOR).new_node_id
    book.notes.deprecate(new, "the formatter decides", ACTOR)
    rows = book.journal()
    assert [(row.action, row.target) for row in rows] == [("save", note), ("update", new), ("deprecate", new)]
    assert {(row.actor, row.transport, row.token) for row in rows} == {("laptop", "http", "rrt_1234")}
    assert [row.source for row in rows] == ["review", "review", None]
    assert rows[1].before == text_hash(TAB) and rows[1].after == text_hash("Indent with spaces.")
    assert rows[1].detail == {"kind": "fact", "supersedes": note}
    assert not any(word in str(row.as_json()) for row in rows for word in ("Indent", "formatter"))


def test_an_update_inherits_and_links_both_ways(book: Notebook) -> None:
    old = book.save(TAB, kind="rule", topic="style", source="a", importance="high")
    book.clock.now += 5000
    new = book.notes.update(old, "Indent with spaces.", "b", ACTOR, "the team changed its mind")
    first, second = book.notes.history(old).notes
    assert [first.id, second.id] == [old, new.new_node_id]
    assert (first.status, first.superseded_by, first.reason) == ("superseded", second.id, "the team changed its mind")
    assert (second.status, second.supersedes, second.topic, second.kind) == ("active", old, "style", "rule")
    assert (first.source, second.source, second.importance) == ("a", "b", "high")
    assert book.notes.history(second.id).notes == [first, second]


def test_history_walks_the_whole_chain_from_any_of_its_notes(book: Notebook) -> None:
    ids = [book.save("Version 1.")]
    for number in range(2, 6):
        ids.append(book.notes.update(ids[-1], f"Version {number}.", "t", ACTOR).new_node_id)
    for note in ids:
        assert [one.id for one in book.notes.history(note).notes] == ids


def test_a_superseded_note_cannot_be_changed_and_the_current_one_is_named(book: Notebook) -> None:
    old = book.save("Version 1.")
    middle = book.notes.update(old, "Version 2.", "t", ACTOR).new_node_id
    current = book.notes.update(middle, "Version 3.", "t", ACTOR).new_node_id
    before = book.counted(), len(book.journal())
    with pytest.raises(NotActiveError, match=current):
        book.notes.update(old, "Version 4.", "t", ACTOR)
    with pytest.raises(NotActiveError, match=current):
        book.notes.deprecate(old, "why", ACTOR)
    assert (book.counted(), len(book.journal())) == before


def test_a_deprecated_note_is_recalled_no_more_and_cannot_be_changed(book: Notebook) -> None:
    note = book.save(TAB)
    book.notes.deprecate(note, "we use spaces", ACTOR)
    assert book.texts("tabs") == []
    with pytest.raises(NotActiveError, match="deprecated"):
        book.notes.update(note, "x y z", "t", ACTOR)
    assert book.notes.save(Save(TAB, "t"), ACTOR).created, "it may be kept anew"


@pytest.mark.parametrize("status", [{}, {"content": TAB}])
def test_an_unknown_id_changes_nothing_and_makes_no_store(book: Notebook, status: dict[str, str]) -> None:
    if status:
        book.save(TAB)
    before = book.counted(), book.store.exists(), len(book.journal())
    for act in (
        lambda: book.notes.update("n00", "x", "t", ACTOR),
        lambda: book.notes.deprecate("n00", "x", ACTOR),
        lambda: book.notes.history("n00"),
    ):
        with pytest.raises(NotFoundError):
            act()
    assert (book.counted(), book.store.exists(), len(book.journal())) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""}, {"content": " \n\t "}, {"source": ""}, {"source": "  "}, {"kind": "opinion"},
        {"importance": "urgent"}, {"content": "x" * (LONGEST_STATEMENT + 1)}, {"source": "x" * 201},
        {"topic": "x" * 201}, {"content": "<raw-rag-memory abcdef01>\nx\n</raw-rag-memory abcdef01>"},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_kept_leaves_no_trace(book: Notebook, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgumentError):
        book.notes.save(Save(**{"content": TAB, "source": "t", **wrong}), ACTOR)
    assert not book.store.exists()


def test_an_update_that_says_what_is_said_already_is_refused(book: Notebook) -> None:
    one, other = book.save(TAB), book.save("Indent with spaces.")
    for content, named in ((TAB, one), ("indent with SPACES", other)):
        with pytest.raises(ConflictError, match=named):
            book.notes.update(one, content, "t", ACTOR)
    assert book.counted() == {"active": 2}


def test_the_wording_of_a_note_can_be_changed(book: Notebook) -> None:
    new = book.notes.update(book.save("indent with tabs"), TAB, "t", ACTOR)
    assert book.texts("tabs") == [TAB] and book.counted() == {"active": 1, "superseded": 1}
    assert new.content == TAB


def test_a_rule_takes_the_place_of_a_fact_that_says_the_same_and_not_the_other_way_round(book: Notebook) -> None:
    fact = book.save(TAB, topic="style")
    rule = book.notes.save(Save(TAB, "t", kind="rule"), ACTOR)
    assert rule.created and rule.kind == "rule" and rule.topic == "style"
    assert [one.id for one in book.notes.history(fact).notes] == [fact, rule.node_id]
    again = book.notes.save(Save(TAB, "t", kind="fact"), ACTOR)
    assert (again.created, again.node_id, again.kind) == (False, rule.node_id, "rule")


def test_evidence_is_looked_up_before_anything_is_stored(book: Notebook) -> None:
    with pytest.raises(NotFoundError, match="e0011"):
        book.save(TAB, evidence=("e0011",))
    assert not book.store.exists()
    event = book.capture("we indent with tabs here")
    with pytest.raises(NotFoundError, match="e0011"):
        book.save(TAB, evidence=(event, "e0011"))
    assert book.counted() == {}
    note = book.save(TAB, evidence=(event, event))
    assert book.notes.history(note).notes[0].evidence == [event]


def test_new_evidence_for_a_kept_statement_is_added_and_written_down(book: Notebook) -> None:
    one, other = book.capture("tabs, please"), book.capture("tabs again")
    note = book.save(TAB, evidence=(one,))
    assert book.save(TAB, evidence=(other, one)) == note
    assert book.notes.history(note).notes[0].evidence == [one, other]
    assert [row.action for row in book.journal()][-2:] == ["save", "merge"]


def test_secrets_are_masked_in_all_that_is_kept(book: Notebook) -> None:
    secret = "ghp_" + "k3J9xQ2mZ8vB4nL7pR5tW1yC6dF0gHsAeUoI"
    note = book.save(f"The token is {secret}.", source=f"mail {secret}", topic=secret)
    book.notes.deprecate(note, f"it was {secret}", ACTOR)
    stored = "\n".join(book.store.read().connection.iterdump())
    assert secret not in stored and "[redacted:" in stored


def test_two_threads_saving_the_same_make_one_note(book: Notebook) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda number: book.save(TAB if number % 2 else TAB.upper()), range(32)))
    assert len(ids) == 1 and book.counted() == {"active": 1}
    assert len(book.journal()) == 1


def test_two_threads_updating_one_note_do_not_fork_its_history(book: Notebook) -> None:
    note = book.save("Version 0.")

    def change(number: int) -> str | None:
        try:
            return book.notes.update(note, f"Version {number}.", "t", ACTOR).new_node_id
        except RawRagError as error:
            assert error.code == "not_active"
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [one for one in pool.map(change, range(1, 17)) if one]
    assert len(made) == 1 and [one.id for one in book.notes.history(note).notes] == [note, *made]
