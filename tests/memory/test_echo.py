"""Our own answers are cut out of what is captured, and nothing else is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.memory.echo import without_echoes
from agent_raw_rag.memory.render import rendered
from agent_raw_rag.memory.results import Memory
from agent_raw_rag.search.fence import closed, fence_note, opened

MARK = "a1b2c3d4e5"


def block(text: str = "Never deploy on Friday.") -> str:
    return rendered([Memory("n1", None, "atom", "rule", text, None, "tester", None, 1.0)], MARK)


def passage(text: str) -> str:
    return f"#1 claude:s1, turn 3, 2026-11-30, fused 0.50\n{opened(MARK)}\n{text}\n{closed(MARK)}"


def test_a_recall_block_is_cut_out_of_a_prompt() -> None:
    assert without_echoes(f"{block()}\n\nWhat is the release day?") == "What is the release day?"
    assert without_echoes(f"What is the release day?\n{block()}") == "What is the release day?"


def test_nothing_is_left_of_a_block_alone_or_of_two() -> None:
    assert without_echoes(block()) == ""
    assert without_echoes(f"{block()}\n{block('x')}\n") == ""


def test_a_block_whose_end_was_cut_off_reaches_to_the_end() -> None:
    assert without_echoes(f"Before.\n{block()[:-20]}") == "Before."


def test_a_search_answer_is_cut_out_with_its_frame() -> None:
    answer = "\n\n".join([
        f"2 passages from all projects. Ranking: words.\n{fence_note(MARK)}", passage("old words"), passage("older"),
        "To resume there: cd /x && claude --resume s1",
    ])  # fmt: skip
    assert without_echoes(answer) == ""
    assert without_echoes(f"I looked:\n\n{answer}\n\nSo it was Tuesday.").split() == [
        "I",
        "looked:",
        "So",
        "it",
        "was",
        "Tuesday.",
    ]


def test_a_fence_inside_words_that_are_not_ours_stays() -> None:
    for text in (
        "cat <<<history",
        "a >>>b",
        "5 turns from here.",
        "<<<history is a bash here-string",
        "#1 is first\nx",
    ):
        assert without_echoes(text) == text


@given(st.text(alphabet="<>/ abc\n-#1", max_size=60))
def test_what_holds_nothing_of_ours_is_unchanged(text: str) -> None:
    assert without_echoes(text) == text


@given(st.text(max_size=40))
def test_cutting_out_is_done_once_and_for_all(stored: str) -> None:
    told = without_echoes(f"a\n{block(stored)}\nb\n{passage(stored)}\nc")
    assert without_echoes(told) == told
