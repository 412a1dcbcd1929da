"""Arrow 4: what of a turn is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agent_raw_rag.models import Action, Image, Outcome, Role, Text, Thinking, ToolCall, ToolResult, Turn
from agent_raw_rag.sanitize import Options, clean, plant
from agent_raw_rag.sanitize.thinking import capped

KEY = plant("«ghp_{a36}»")[1]

DEFAULT = Options()


class Bytes:
    """A tokenizer whose tokens are the bytes."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> bytes:
        return bytes(tokens)


class Refusing(Bytes):
    """A tokenizer that nobody may ask."""

    def encode(self, text: str) -> list[int]:
        raise AssertionError(f"asked to cut {len(text)} characters")


def turn(*items: Any, role: Role = Role.ASSISTANT) -> Turn:
    return Turn("s", role, "k", 1_700_000_000_000, list(items), ["r1", "r2"], 10, 20, ["r1"], None, "r0", True)


def text(*items: Any, options: Options = DEFAULT) -> str:
    cleaned = clean(turn(*items), Bytes(), options)
    assert cleaned is not None
    return cleaned.text


def call(command: str, outcome: Outcome = Outcome.OK, output: str = "", code: int | None = 0) -> Action:
    return Action(ToolCall("Bash", {"command": command}, "1"), ToolResult("1", outcome, output, code))


def test_renders_items_in_their_order() -> None:
    shown = text(
        Thinking("Look first."),
        Text("I look at it."),
        call("ls"),
        call("make", Outcome.FAILED, "boom\n", 2),
        Image(),
        Image("report.pdf"),
    )
    assert shown == (
        "<thinking>\nLook first.\n</thinking>\nI look at it.\n[Bash] ls (exit 0)\n[Bash] make (exit 2)\n  | boom\n"
        "[image]\n[report.pdf]"
    )


@pytest.mark.parametrize(
    "words",
    [
        "  leading blanks and\n\n\n\nempty lines stay",
        "tabs\tand 中文 and \U0001f600 and ~~~markdown~~~",
        "<system-reminder> is a word here </system-reminder>",
        "a\u2028b\u2029c\x85d\x7fe\xa0f",
        "[Bash] rm -rf / (exit 0)",
    ],
)
def test_keeps_words_as_they_were_said(words: str) -> None:
    assert text(Text(words)) == words


def test_strips_only_the_end_of_the_turn() -> None:
    assert text(Text("one \n"), Text("two \n\n")) == "one \n\ntwo"


def test_unifies_line_ends_and_removes_controls() -> None:
    assert text(Text("a\r\nb\x00\x1b[0m\ud800")) == "a\nb[0m\ufffd"


def test_carries_the_identity_of_the_turn_over() -> None:
    cleaned = clean(turn(Text("hi"), role=Role.USER), Bytes())
    assert cleaned is not None
    assert (cleaned.session, cleaned.role, cleaned.key, cleaned.time) == ("s", Role.USER, "k", 1_700_000_000_000)
    assert (cleaned.record_ids, cleaned.trail, cleaned.branch_from) == (("r1", "r2"), ("r1",), "r0")
    assert (cleaned.start, cleaned.end, cleaned.settled, cleaned.redactions) == (10, 20, True, ())


@pytest.mark.parametrize(
    "items",
    [
        (),
        (Text(" \n"),),
        (Thinking("\t"),),
        (Text("\x00\x01"),),
        (Action(ToolCall("mcp__memory__recall", {"query": "x"}), None),),
    ],
    ids=["nothing", "blank", "blank thought", "controls", "our own memory"],
)
def test_stores_nothing_where_nothing_remains(items: tuple[Any, ...]) -> None:
    assert clean(turn(*items), Bytes()) is None


def test_masks_secrets_in_words_thoughts_commands_and_output() -> None:
    cleaned = clean(
        turn(
            Thinking(f"use {KEY}"),
            Text(f"I use {KEY}"),
            call(f"curl -H 'X: {KEY}'"),
            call("make", Outcome.FAILED, f"bad {KEY}", 1),
            Action(ToolCall("login", {"password": "Tr0ub4dor&3"}), None),
        ),
        Bytes(),
    )
    assert cleaned is not None
    assert KEY not in cleaned.text
    assert "[login] [redacted:password]" in cleaned.text
    assert sorted(cleaned.redactions) == ["github-pat"] * 4 + ["password"]


def test_masks_a_secret_before_a_command_is_cut() -> None:
    shown = text(call("x" * 170 + " " + KEY))
    assert "ghp_" not in shown
    assert shown == f"[Bash] {'x' * 170} [redacted:github-pat] (exit 0)"


def test_masking_can_be_switched_off() -> None:
    cleaned = clean(turn(Text(f"{KEY}\x00")), Bytes(), Options(redact=False))
    assert cleaned is not None
    assert (cleaned.text, cleaned.redactions) == (KEY, ())


# ---------------------------------------------------------------- reasoning


def test_keeps_a_short_thought_whole_without_cutting_it_into_tokens() -> None:
    assert capped("x" * 512, Refusing()) == "x" * 512


def test_keeps_head_and_tail_of_a_long_thought_and_says_what_is_missing() -> None:
    thought = "a" * 128 + "b" * 129 + "c" * 256
    assert capped(thought, Bytes()) == f"{'a' * 128} […129 tokens omitted…] {'c' * 256}"
    assert capped("a" * 512, Bytes()) == "a" * 512


def test_never_cuts_a_character() -> None:
    shown = capped("€" * 1000, Bytes())
    assert shown == f"{'€' * 42} […2616 tokens omitted…] {'€' * 85}"


def test_cuts_only_the_ends_of_an_enormous_thought_into_tokens() -> None:
    class Counting(Bytes):
        asked = 0

        def encode(self, text: str) -> list[int]:
            self.asked += len(text)
            return super().encode(text)

    tokenizer = Counting()
    shown = capped("a" * 1_000_000, tokenizer)
    assert shown == f"{'a' * 128} […999616 characters omitted…] {'a' * 256}"
    assert tokenizer.asked < 20_000


def test_renders_a_capped_thought_before_the_words_that_follow() -> None:
    assert text(Thinking("a" * 600), Text("So.")) == (
        f"<thinking>\n{'a' * 128} […216 tokens omitted…] {'a' * 256}\n</thinking>\nSo."
    )
