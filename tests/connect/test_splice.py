"""JSON with comments: whatever the text, an edit changes its own place only."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.connect.jsonc import MalformedError, parse
from agent_raw_rag.connect.splice import JsonText, UnfitError

ENTRY = {"type": "stdio", "command": "/usr/bin/x", "args": ["a", "b"], "env": {"K": "v"}}
KEYS = st.sampled_from(["a", "b", "mcpServers", "raw", "é", '"', "/*", "//x"])
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "// no", "/* no */", "a,b", "}", "\\", "\n", "漢"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
GAPS = st.lists(st.sampled_from(["", " ", "\n", "\t", "/* c */", "// c }\n", "/* { [ , */", "\n\n  "]), max_size=2).map(
    "".join
)


@st.composite
def texts(draw: st.DrawFn, value: Any, *, comments: bool, eol: str) -> str:
    """A text of the value, with blanks and (where asked for) comments and trailing commas anywhere they may stand."""

    def gap() -> str:
        found = draw(GAPS)
        return found if comments else "".join(char for char in found if char.isspace()) if "c" not in found else " "

    def written(one: Any) -> str:
        if not isinstance(one, dict | list):
            return json.dumps(one, ensure_ascii=False)
        pieces = (
            [
                f"{gap()}{json.dumps(key, ensure_ascii=False)}{gap()}:{gap()}{written(inner)}{gap()}"
                for key, inner in one.items()
            ]
            if isinstance(one, dict)
            else [f"{gap()}{written(inner)}{gap()}" for inner in one]
        )
        last = f",{gap()}" if comments and pieces and draw(st.booleans()) else gap()
        opening, closing = ("{", "}") if isinstance(one, dict) else ("[", "]")
        return f"{opening}{','.join(pieces)}{last}{closing}"

    return f"{gap()}{written(value)}{gap()}".replace("\n", eol)


@st.composite
def documents(draw: st.DrawFn, *, comments: bool = True) -> tuple[str, dict[str, Any]]:
    value = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    if not isinstance(value.get("mcpServers", {}), dict):
        value["mcpServers"] = {}
    return draw(texts(value, comments=comments, eol=draw(st.sampled_from(["\n", "\r\n"])))), value


@given(documents())
def test_a_text_is_read_as_its_value(given: tuple[str, dict[str, Any]]) -> None:
    text, value = given
    assert parse(text, lenient=True).value == value


@given(documents(comments=False))
def test_strict_text_is_read_as_the_standard_library_reads_it(given: tuple[str, dict[str, Any]]) -> None:
    assert parse(given[0], lenient=False).value == json.loads(given[0])


@given(documents())
def test_after_an_insertion_it_means_the_same_and_our_entry(given: tuple[str, dict[str, Any]]) -> None:
    text, value = given
    new = JsonText(text, lenient=True).put(("mcpServers", "raw-rag"), ENTRY)
    servers = {**value.get("mcpServers", {}), "raw-rag": ENTRY}
    assert new.value == {**value, "mcpServers": servers}
    assert comments_of(new.text) == comments_of(text)
    assert new.put(("mcpServers", "raw-rag"), ENTRY).value == new.value


@given(documents())
def test_after_a_removal_it_means_what_it_meant_and_no_comment_is_lost(given: tuple[str, dict[str, Any]]) -> None:
    text, value = given
    new = JsonText(text, lenient=True).put(("mcpServers", "raw-rag"), ENTRY).without(("mcpServers", "raw-rag"))
    assert new.value == {**value, "mcpServers": value.get("mcpServers", {})}
    assert comments_of(new.text) == comments_of(text)


@given(documents(), KEYS)
def test_any_member_can_be_taken_out(given: tuple[str, dict[str, Any]], key: str) -> None:
    text, value = given
    new = JsonText(text, lenient=True).without((key,))
    assert new.value == {name: one for name, one in value.items() if name != key}


@given(documents(comments=False))
def test_strict_text_stays_strict(given: tuple[str, dict[str, Any]]) -> None:
    new = JsonText(given[0], lenient=False).put(("mcpServers", "raw-rag"), ENTRY)
    assert json.loads(new.text) == new.value
    assert json.loads(new.without(("mcpServers", "raw-rag")).text) == {
        **given[1],
        "mcpServers": given[1].get("mcpServers", {}),
    }


@given(st.lists(VALUES, max_size=4), st.sampled_from(["\n", " "]))
def test_elements_come_and_go_without_touching_the_others(elements: list[Any], gap: str) -> None:
    text = f'{{"x": [{f",{gap}".join(json.dumps(one) for one in elements)}]}}'
    new = JsonText(text, lenient=False).add(("x",), {"ours": 1})
    assert json.loads(new.text) == {"x": [*elements, {"ours": 1}]}
    assert json.loads(new.without_elements(("x",), lambda one: one == {"ours": 1}).text) == {"x": elements}


@given(st.text(alphabet='{}[]",:/*\\n 1tre\n', max_size=30))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(MalformedError, match=r"^line \d+, column \d+: "):
            parse(text, lenient=False)
    else:
        assert parse(text, lenient=False).value == expected


SHAPES = [
    ('{"a": 1}', '{"a": 1, "k": {"x": 1}}'),
    ("{}", '{\n  "k": {\n    "x": 1\n  }\n}'),
    ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"k": {\n\t\t"x": 1\n\t}\n}'),
    ('{\n    "a": 1,\n}\n', '{\n    "a": 1,\n    "k": {\n        "x": 1\n    },\n}\n'),
    ('{\n  "a": 1 // why\n}', '{\n  "a": 1, // why\n  "k": {\n    "x": 1\n  }\n}'),
    ('{\n  "a": 1\n  // the end\n}', '{\n  "a": 1,\n  "k": {\n    "x": 1\n  }\n  // the end\n}'),
    ("{ /* none */ }", '{ /* none */\n  "k": {\n    "x": 1\n  }\n }'),
    ("{\n  // none\n}", '{\n  // none\n  "k": {\n    "x": 1\n  }\n}'),
]


@pytest.mark.parametrize(("before", "after"), SHAPES)
def test_what_is_inserted_looks_like_the_rest(before: str, after: str) -> None:
    new = JsonText(before, lenient=True).put(("k",), {"x": 1})
    assert new.text == after
    if before != "{" + "}":
        assert JsonText(after, lenient=True).without(("k",)).value == JsonText(before, lenient=True).value


@pytest.mark.parametrize("before", [shape[0] for shape in SHAPES if '"a"' in shape[0]])
def test_what_was_inserted_beside_a_member_goes_without_a_trace(before: str) -> None:
    new = JsonText(before, lenient=True).put(("k",), {"x": 1})
    assert new.without(("k",)).text == before


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a": [1]}', '{"a": null}'])
def test_what_is_no_table_is_not_made_one(text: str) -> None:
    with pytest.raises(UnfitError, match=r"a is no table \(line 1\)"):
        JsonText(text, lenient=True).put(("a", "b"), 1)


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(MalformedError, match="too deeply"):
        parse("[" * 100_000, lenient=True)


def comments_of(text: str) -> list[str]:
    """The comments of a text, in order: what stands between its tokens."""
    found, place, inside = [], 0, False
    while place < len(text):
        char = text[place]
        if inside:
            place += 2 if char == "\\" else 1
            inside = char != '"'
        elif text.startswith("//", place):
            end = next((at for at in range(place, len(text)) if text[at] in "\r\n"), len(text))
            found.append(text[place:end])
            place = end
        elif text.startswith("/*", place):
            end = text.index("*/", place) + 2
            found.append(text[place:end])
            place = end
        else:
            inside = char == '"'
            place += 1
    return found
