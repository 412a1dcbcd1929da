"""The way back from a stored turn: what was said, and the actions that follow it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.models import Action, Outcome, Role, Text, ToolCall, ToolResult, Turn
from agent_raw_rag.sanitize.actions import said_and_done, unsplit
from agent_raw_rag.sanitize.clean import clean


@pytest.mark.parametrize(
    ("text", "said", "actions"),
    [
        ("Just words.", "Just words.", []),
        ("", "", []),
        ("[Edit] src/a.py (+1/-1)", "", ["[Edit] src/a.py (+1/-1)"]),
        ("I look.\n[Bash] ls (exit 0)", "I look.", ["[Bash] ls (exit 0)"]),
        (
            "Two.\n[Bash] x (exit 1)\n  | no\n  | such\n[Read] y",
            "Two.",
            ["[Bash] x (exit 1)\n  | no\n  | such", "[Read] y"],
        ),
        ("[Bash] is a tool.\nSo it is.", "[Bash] is a tool.\nSo it is.", []),
        ("A table:\n  | a | b", "A table:\n  | a | b", []),
        ("A list:\n[1] one\n[x] two", "A list:\n[1] one\n[x] two", []),
        ("A key:\n[redacted:api-key]", "A key:\n[redacted:api-key]", []),
        ("See:\n[image]", "See:\n[image]", []),
        ("[mcp__git.log] -3 (exit 0)", "", ["[mcp__git.log] -3 (exit 0)"]),
    ],
)
def test_actions_are_told_from_words(text: str, said: str, actions: list[str]) -> None:
    assert said_and_done("assistant", text) == (said, actions)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60)
ARGUMENTS = st.fixed_dictionaries({"command": WORDS})
CALLS = st.builds(
    Action,
    st.builds(ToolCall, st.sampled_from(["Bash", "Read", "apply_patch", "mcp__x__y"]), ARGUMENTS, st.none()),
    st.none() | st.builds(ToolResult, st.none(), st.just(Outcome.FAILED), WORDS, st.integers(1, 9)),
)  # fmt: skip


@given(st.lists(CALLS, max_size=4))
def test_no_word_is_lost_on_the_way_back_and_every_call_is_one_action(calls: list[Action]) -> None:
    told = Turn("s", Role.ASSISTANT, "k", None, [Text("I do it now."), *calls], ["r"], 0, 1)
    cleaned = clean(told, tokenizer())
    assert cleaned is not None
    said, actions = said_and_done(cleaned.role, cleaned.text)
    assert unsplit(said, actions) == cleaned.text
    assert (said, len(actions)) == ("I do it now.", len(calls))


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ASSISTANT])
@pytest.mark.parametrize("text", ["It fails:\n[ERROR] cannot open file", "[Bash] ls", "[INFO] up\n  | trace\n\n"])
def test_nobody_but_an_assistant_does_anything_whatever_a_pasted_log_looks_like(role: Role, text: str) -> None:
    assert said_and_done(role, text) == (text, [])


@given(st.sampled_from(Role), st.text(st.sampled_from("[]Aa1 \n\r\t|:x"), max_size=60))
def test_any_text_comes_back_byte_for_byte(role: Role, text: str) -> None:
    assert unsplit(*said_and_done(role, text)) == text


@given(st.text(st.sampled_from("Aa1 \n\t"), max_size=20), st.integers(0, 3))
def test_blanks_before_actions_and_at_the_end_are_said(words: str, calls: int) -> None:
    lines = ["[Bash] x"] * calls
    assert unsplit(*said_and_done("assistant", "\n".join([words, *lines]))) == "\n".join([words, *lines])
