"""The end of a failed command's output."""

from __future__ import annotations

import pytest

from agent_raw_rag.models import Action, Outcome, ToolCall, ToolResult
from agent_raw_rag.sanitize import Options, plant, redact
from agent_raw_rag.sanitize.actions import action_lines
from agent_raw_rag.sanitize.tail import error_tail

KEY = plant("«ghp_{a36}»")[1]

DEFAULT = Options()


def mask(text: str) -> str:
    return redact(text)[0]


def lines(outcome: Outcome, output: str, options: Options = DEFAULT) -> list[str]:
    action = Action(ToolCall("Bash", {"command": "make"}, "1"), ToolResult("1", outcome, output, 2))
    return action_lines(action, mask, options)


def test_a_failure_keeps_the_last_15_lines_that_are_not_empty() -> None:
    output = "\n\n".join(f"line {number}" for number in range(40)) + "\n\n"
    assert lines(Outcome.FAILED, output) == [
        "[Bash] make (exit 2)",
        *(f"  | line {number}" for number in range(25, 40)),
    ]


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.REJECTED, Outcome.INTERRUPTED, Outcome.UNKNOWN])
def test_nothing_but_a_failure_has_a_tail(outcome: Outcome) -> None:
    assert lines(outcome, "output") == ["[Bash] make (exit 2)"]


def test_a_failure_without_output_is_one_line() -> None:
    assert lines(Outcome.FAILED, " \n \n") == ["[Bash] make (exit 2)"]


def test_the_number_of_lines_is_an_option() -> None:
    assert lines(Outcome.FAILED, "a\nb\nc", Options(error_tail_lines=2))[1:] == ["  | b", "  | c"]
    assert lines(Outcome.FAILED, "a\nb\nc", Options(error_tail_lines=0))[1:] == []


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("\x1b[1;31mE   boom\x1b[0m", "E   boom"),
        ("\x1b]8;;https://x.dev\x1b\\link\x1b]8;;\x07 \x1b(Bend", "link end"),
        ("10%\r50%\r100% done", "100% done"),
        ("over\r\nwindows\r\n", "over"),
        ("out " + "QUJD" * 100 + "== end", "out [binary] end"),
        ("x" * 500, "[binary]"),
        ("ab " * 200, ("ab " * 200)[:399] + "…"),
        ("50%\r" + "z " * 4000, ("z " * 4000)[:399] + "…"),
        ("a\x00b\ud800", "ab\ufffd"),
    ],
)
def test_shows_a_line_as_it_stood_in_the_end(output: str, shown: str) -> None:
    assert error_tail(output, 15, mask)[0] == f"  | {shown}"


def test_secrets_are_masked_before_lines_are_cut() -> None:
    assert error_tail("a " * 190 + KEY, 15, mask) == ["  | " + "a " * 190 + "[redacted:github-pa…"]


def test_a_key_that_begins_above_the_tail_is_masked() -> None:
    armour = plant("-----BEGIN RSA PRIVATE KEY-----\n" + "{b64}\n" * 25 + "-----END RSA PRIVATE KEY-----")[0]
    assert error_tail(f"cat id_rsa\n{armour}\nexit", 15, mask) == [
        "  | cat id_rsa",
        "  | [redacted:private-key]",
        "  | exit",
    ]


def test_an_output_of_one_huge_line_is_cut() -> None:
    (shown,) = error_tail("START " + "word " * 400_000 + "END", 15, mask)
    assert shown.startswith("  | START word")
    assert len(shown) == 404
