"""Laws of arrow 4, for any turn and any text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_raw_rag.models import Action, Image, Outcome, Role, Text, Thinking, ToolCall, ToolResult, Turn
from agent_raw_rag.sanitize import RULES, Options, clean, plant, redact
from tests.sanitize.texts import PLACES


class Bytes:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> bytes:
        return bytes(tokens)


PLANTED = [plant(rule.example) for rule in RULES]
PIECES = st.sampled_from(
    ["password", "token", "api_key", "secret", '"', "'", "\\", "=", ": ", "://", "@", "-----BEGIN RSA PRIVATE KEY-----"]
    + [
        "\n",
        "\\n",
        "Bearer ",
        "[redacted:x]",
        "]",
        "_",
        "-",
        ".",
        "curl -u a:",
        "cookie: ",
        " ",
        "export A_KEY=",
        "é",
        "密",
    ]
    + [text for text, _ in PLANTED]
)
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
MIXED_TEXT = st.lists(PIECES | ANY_TEXT, max_size=12).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | MIXED_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["Bash", "shell", "Edit", "apply_patch", "Read", "Task", "TodoWrite", "web_search", "exec", "x"]
)
KEYS = st.sampled_from(
    [
        *(
            "command",
            "cmd",
            "file_path",
            "path",
            "edits",
            "old_string",
            "new_string",
            "content",
            "todos",
            "tasks",
            "prompt",
        ),
        *("pattern", "query", "input", "plan", "code", "url", "changes", "ReplacementChunks"),
    ]
)
ARGS = st.dictionaries(KEYS | ANY_TEXT, JSON, max_size=5) | MIXED_TEXT
RESULTS = st.none() | st.builds(
    ToolResult, st.none() | ANY_TEXT, st.sampled_from(Outcome), MIXED_TEXT, st.none() | st.integers(-9, 300)
)
ITEMS = st.one_of(
    st.builds(Text, MIXED_TEXT),
    st.builds(Thinking, MIXED_TEXT),
    st.builds(Image, ANY_TEXT),
    st.builds(Action, st.builds(ToolCall, NAMES | ANY_TEXT, ARGS, st.none()), RESULTS),
)


def turn(items: list[Any]) -> Turn:
    return Turn("s", Role.ASSISTANT, "k", None, items, [], 0, 1)


@given(MIXED_TEXT)
@settings(max_examples=400)
@example("curl -u a:" + "é" * 101)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once, kinds = redact(text)
    assert redact(once) == (once, ())
    assert once.count("[redacted:") >= len(set(kinds)) * bool(kinds)


@given(st.sampled_from(PLANTED), st.sampled_from(sorted(set(PLACES) - {"colour", "url-encoded"})), ANY_TEXT, ANY_TEXT)
@settings(max_examples=400)
def test_no_planted_secret_survives(planted: tuple[str, str], place: str, before: str, after: str) -> None:
    text, secret = planted
    masked, kinds = redact(f"{before}\n{PLACES[place](text)}\n{after}")
    assert kinds
    assert secret not in masked


@given(MIXED_TEXT)
def test_what_is_redacted_can_be_stored(text: str) -> None:
    clean_text, _ = redact(text)
    assert clean_text.encode().decode() == clean_text
    assert not any(char < " " and char not in "\n\t" for char in clean_text)


@given(st.lists(ITEMS, max_size=6), st.booleans())
@settings(max_examples=300)
@example([Action(ToolCall("exec", "[" * 100_000), None)], True)
@example([Action(ToolCall("Edit", '"' + "x" * 100_000), None)], True)
def test_any_turn_is_cleaned_and_always_the_same(items: list[Any], masking: bool) -> None:
    options = Options(redact=masking)
    cleaned = clean(turn(items), Bytes(), options)
    assert cleaned == clean(turn(items), Bytes(), options)
    if cleaned is not None:
        assert cleaned.text.encode().decode() == cleaned.text
        assert cleaned.text == cleaned.text.rstrip() != ""


def test_arguments_may_be_nested_ever_so_deep() -> None:
    nested: dict[str, Any] = {}
    for _ in range(5000):
        nested = {"edits": [nested], "deep": nested, "command": [nested], "todos": [nested], "tasks": [nested]}
    names = ("Edit", "Bash", "TodoWrite", "Task", "Read", "exec", "x")
    cleaned = clean(turn([Action(ToolCall(name, nested), None) for name in names]), Bytes())
    assert cleaned is not None
    assert cleaned.text == "[Edit]\n[Bash]\n[TodoWrite] 1 items\n[Task]\n[Read]\n[exec]\n[x]"


@given(st.lists(ITEMS, max_size=6))
@settings(max_examples=300)
def test_nothing_is_left_to_mask_in_a_clean_turn(items: list[Any]) -> None:
    cleaned = clean(turn(items), Bytes())
    if cleaned is not None:
        assert redact(cleaned.text) == (cleaned.text, ())


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(lambda text: text.strip())
)
def test_words_without_a_secret_are_kept_letter_by_letter(text: str) -> None:
    cleaned = clean(turn([Text(text)]), Bytes())
    assert cleaned is not None
    assert cleaned.redactions or cleaned.text == text.rstrip()


@given(st.lists(st.builds(Action, st.builds(ToolCall, NAMES, ARGS, st.none()), st.none()), min_size=1, max_size=5))
def test_a_call_is_one_line(actions: list[Action]) -> None:
    cleaned = clean(turn(list(actions)), Bytes())
    assert cleaned is not None
    assert len(cleaned.text.split("\n")) == len(actions)
