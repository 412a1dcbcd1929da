"""Folders of corpus and queries, and the parts of a dataset that can be asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_raw_rag.errors import UsageError
from agent_raw_rag.evals.dataset import CorpusTurn, Dataset, millis, role_and_text
from agent_raw_rag.evals.folder import load
from agent_raw_rag.models import Role

BAKERY = Path(__file__).with_name("bakery")
TURN = {"id": "1", "text": "Hello."}


def written(folder: Path, corpus: list[object], queries: list[object]) -> Path:
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return folder


def test_the_sample_corpus_is_read_whole() -> None:
    dataset = load(BAKERY)
    assert (dataset.name, len(dataset.turns), len(dataset.questions), dataset.left_out) == ("bakery", 20, 7, {})
    by_id = {question.id: question for question in dataset.questions}
    assert by_id["b1"].kinds == ("identifier", "code")
    assert by_id["a2"].gold == (frozenset(["a:6"]), frozenset(["a:7"]))
    assert by_id["b2"].gold == (frozenset(["b:1", "b:2"]),)
    assert by_id["b3"].asked == millis("2026-04-20")
    assert by_id["b4"].gold == ()


def test_questions_that_cannot_be_scored_are_counted(tmp_path: Path) -> None:
    asked = [{"query": "q", "gold": gold} for gold in (["1"], [], ["1", "2"])]
    elsewhere = {"query": "q", "gold": ["1"], "conv": "other"}
    dataset = load(written(tmp_path, [TURN], [*asked, {"query": "q"}, elsewhere]))
    assert len(dataset.questions) == 1
    assert dataset.left_out == {
        "no gold": 2,
        "gold that the corpus lacks": 1,
        "conversation that the corpus lacks": 1,
    }


@pytest.mark.parametrize(
    ("corpus", "queries", "message"),
    [
        ([TURN, TURN], [{"query": "q", "gold": ["1"]}], "'1' stands there more than once"),
        ([{"id": "1"}], [], r"corpus.jsonl:1 has no 'text'"),
        ([TURN], [{"gold": ["1"]}], r"queries.jsonl:1 has no 'query'"),
        ([TURN], ["{"], r"queries.jsonl:1 is not valid JSON"),
        ([TURN], ["[" * 100_000], r"queries.jsonl:1 is not valid JSON"),
        ([TURN], ["[1]"], r"queries.jsonl:1 is no JSON object"),
        ([TURN], [], "holds no question"),
        ([TURN], [{"query": "q", "gold": ["9"]}], "1 with gold that the corpus lacks"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, corpus: list[object], queries: list[object], message: str
) -> None:
    with pytest.raises(UsageError) as told:
        load(written(tmp_path, corpus, queries))
    assert message in str(told.value)


def test_a_folder_without_the_files_says_what_it_must_hold(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"The folder must hold corpus.jsonl and queries.jsonl"):
        load(tmp_path)


def test_halves_share_nothing_and_leave_nothing_out() -> None:
    dataset = load(BAKERY)
    a, b = dataset.half("a"), dataset.half("b")
    assert (a.conversations(), b.conversations()) == (["a"], ["b"])
    assert len(a.questions) + len(b.questions) == len(dataset.questions)


def test_a_conversation_goes_by_number_or_name() -> None:
    dataset = load(BAKERY)
    assert dataset.conversation("2").turns == dataset.conversation("b").turns
    for wrong in ("0", "3", "c"):
        with pytest.raises(UsageError, match="Give a number from 1 to 2"):
            dataset.conversation(wrong)


def test_a_limit_counts_in_each_conversation() -> None:
    kept = load(BAKERY).limited(2)
    assert [question.id for question in kept.questions] == ["a1", "a2", "b1", "b2"]
    assert len(kept.turns) == 20


@pytest.mark.parametrize(
    ("speaker", "expected"),
    [
        ("user", (Role.USER, "Hi.")),
        ("Assistant", (Role.ASSISTANT, "Hi.")),
        ("Ada", (Role.USER, "Ada: Hi.")),
        ("Bo", (Role.ASSISTANT, "Bo: Hi.")),
        ("", (Role.ASSISTANT, "Hi.")),
    ],
)
def test_a_speaker_is_a_role_or_stands_in_the_text(speaker: str, expected: tuple[Role, str]) -> None:
    assert role_and_text(CorpusTurn("1", "c", speaker, "Hi."), "Ada") == expected


@pytest.mark.parametrize(
    ("date", "instant"),
    [
        ("2026-03-02", 1_772_409_600_000),
        ("2026-03-02T01:00:00+01:00", 1_772_409_600_000),
        ("12:00 am on 2 March, 2026", 1_772_409_600_000),
        ("9999-12-31T23:59:59-23:00", None),
        ("some day", None),
        (None, None),
        (5, None),
    ],
)
def test_dates_of_both_forms_are_read_and_none_is_invented(date: object, instant: int | None) -> None:
    assert millis(date) == instant


def test_an_empty_dataset_has_no_conversations() -> None:
    assert Dataset("none", [], []).conversations() == []
