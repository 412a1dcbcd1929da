"""TOML and Markdown: edits at their own place."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.connect.marked import SNIPPET, has_block, with_block, without_block
from agent_raw_rag.connect.splice import UnfitError
from agent_raw_rag.connect.toml import TomlText

ENTRY = {"command": "/x", "args": ["a"], "env": {"K": "v"}}
PATH = ("mcp_servers", "raw-rag")
STRETCHES = st.sampled_from([
    'a = 1 # c\n', '# about b\nb = [\n  1, # one\n  2,\n]\n', "\n", 'c = """\n[mcp_servers.fake]\n"""\n', "d = '''x'''\n",
])  # fmt: skip
TABLES = st.sampled_from([
    "[t1]\nx = 1\n", '[mcp_servers.a]\ncommand = "a"\n', '[mcp_servers.a.env]\nK = "1"\n', "# about t2\n[t2]\ny = 2\n\n",
    "[[list]]\nz = 1\n", '[projects."/w"]\ntrust = "x"\n',
])  # fmt: skip


@given(
    st.lists(STRETCHES, max_size=4, unique=True), st.lists(TABLES, max_size=5, unique=True),
    st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_an_entry_comes_and_goes_and_the_rest_stays(head: list[str], tables: list[str], eol: str) -> None:
    text = "".join([*head, *tables]).replace("\n", eol)
    before = tomllib.loads(text)
    new = TomlText(text).put(PATH, ENTRY)
    assert new.text.startswith(text), "a new table goes to the end"
    assert new.value == {**before, "mcp_servers": {**before.get("mcp_servers", {}), "raw-rag": ENTRY}}
    gone = new.without(PATH)
    assert gone.value.get("mcp_servers", {}) == before.get("mcp_servers", {})
    assert gone.text.rstrip().startswith(text.rstrip())


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_key_is_changed_in_its_place(eol: str) -> None:
    text = '[mcp_servers.raw-rag]\ncommand = "old" # mine\nargs = []\n\n# next\n[z]\nq = 1\n'.replace("\n", eol)
    new = TomlText(text).put((*PATH, "command"), "new").put((*PATH, "env"), {"K": "v"})
    assert new.value["mcp_servers"]["raw-rag"] == {"command": "new", "args": [], "env": {"K": "v"}}
    assert f'command = "new" # mine{eol}' in new.text and f"# next{eol}[z]{eol}" in new.text
    assert "\n" not in new.text.replace(eol, "")


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_comments_of_what_comes_next_outlive_our_table(eol: str) -> None:
    text = 'a = 1\n\n[mcp_servers."raw-rag"] # ours\nargs = [\n  "x", # one\n]\n\n[mcp_servers.raw-rag.env]\nK = "v"\n'
    text += "\n# next\n[z]\nq = 1\n"
    gone = TomlText(text.replace("\n", eol)).without(PATH)
    assert gone.text == "a = 1\n\n# next\n[z]\nq = 1\n".replace("\n", eol)


def test_a_table_that_only_seems_to_be_ours_is_not_touched() -> None:
    text = 'c = """\n[mcp_servers.raw-rag]\nx\n"""\n'
    assert TomlText(text).without(PATH).text == text
    both = TomlText(text).put(PATH, ENTRY)
    assert both.without(PATH).value["c"] == "[mcp_servers.raw-rag]\nx\n"


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(UnfitError):
        TomlText("mcp_servers = 1\n").put(PATH, ENTRY)


@given(st.text(alphabet="ab#\n -<>!", max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_our_lines_come_and_go_and_are_kept_up_to_date(text: str, eol: str) -> None:
    text = text.replace("\n", eol)
    old = with_block(text, "old words")
    new = with_block(old)
    assert has_block(new) and "old words" not in new and with_block(new) == new
    assert SNIPPET.replace("\n", "\r\n" if "\r\n" in text else "\n") in new
    assert new.startswith(text)
    assert without_block(new).rstrip() == text.rstrip() and not has_block(without_block(new))


def test_our_lines_stay_where_the_user_moved_them() -> None:
    text = with_block("# Mine\n", "outdated words") + "\n## More\n"
    new = with_block(text)
    assert new.startswith("# Mine\n") and new.endswith("\n## More\n") and "outdated words" not in new
    assert without_block(new) == "# Mine\n\n\n## More\n"
