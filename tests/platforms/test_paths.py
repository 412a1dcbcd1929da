"""Paths as Windows and WSL write them: pure functions, the same on every system."""

from __future__ import annotations

import ntpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.adapters.wiring import is_absolute, moved
from agent_raw_rag.connect.command import Command
from agent_raw_rag.runtime.reopening import Reopening, in_posix_shell, in_powershell
from agent_raw_rag.search.scope import folders
from agent_raw_rag.server.project import local_path
from agent_raw_rag.sources.projects import is_foreign, normal_path, other_names

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters='\\/:*?"<>|\0', exclude_categories=("Cc", "Cs")), min_size=1
)


@given(st.sampled_from("CcDz"), st.lists(NAMES, max_size=4))
def test_what_windows_calls_absolute_is_absolute(drive: str, names: list[str]) -> None:
    path = f"{drive}:\\" + "\\".join(names)
    assert ntpath.isabs(path) and is_absolute(path)
    assert is_foreign(path, windows=False) and not is_foreign(path, windows=True)
    assert not is_absolute("\\".join(names) or "x") or names[0] == ""


@pytest.mark.parametrize(
    ("path", "others"),
    [
        ("/mnt/c/Users/me/a b", ("C:\\Users\\me\\a b", "c:\\Users\\me\\a b")),
        ("/mnt/c", ("C:\\", "c:\\")),
        ("C:\\Users\\me", ("c:\\Users\\me", "/mnt/c/Users/me")),
        ("d:/repo", ("D:/repo", "/mnt/d/repo")),
        ("\\\\wsl$\\Debian\\home\\me", ("/home/me",)),
        ("\\\\wsl.localhost\\Ubuntu-24.04\\home\\me\\x", ("/home/me/x",)),
        ("//wsl$/Debian/home/me", ("/home/me",)),
        ("\\\\server\\share\\x", ()),
        ("/mnt/data/x", ()),
        ("/home/me", ()),
    ],
)
def test_the_two_systems_names_of_a_folder_are_known(path: str, others: tuple[str, ...]) -> None:
    assert other_names(path) == others


@pytest.mark.parametrize("path", ["C:\\Users\\me\\repo", "\\\\wsl$\\Debian\\home\\me", "\\\\server\\share\\x"])
def test_a_path_of_windows_is_not_hung_under_the_current_folder(path: str) -> None:
    assert normal_path(path) == path and normal_path(path + "\\") == path
    assert folders(path)[0] == path and all("/C:" not in one for one in folders(path))


@pytest.mark.parametrize(
    ("uri", "here", "there"),
    [
        ("file:///home/me/a%20b", "/home/me/a b", "\\home\\me\\a b"),
        ("file:///c%3A/Users/me", "/c:/Users/me", "c:\\Users\\me"),
        ("file:///C:/Users/me/%E8%A8%98", "/C:/Users/me/記", "C:\\Users\\me\\記"),
        ("file://localhost/x", "/x", "\\x"),
        ("file://wsl.localhost/Debian/home/me", None, "\\\\wsl.localhost\\Debian\\home\\me"),
        ("https://x/y", None, None),
    ],
)
def test_a_clients_root_is_a_path_of_its_system(uri: str, here: str | None, there: str | None) -> None:
    assert (local_path(uri, windows=False), local_path(uri, windows=True)) == (here, there)


@pytest.mark.parametrize(
    ("folder", "words", "powershell"),
    [
        ("C:\\Users\\me", ("claude", "--resume", "a-1"), "cd C:\\Users\\me; claude --resume a-1"),
        ("C:\\it's $x", ("pi", "--session", "a;b"), "cd 'C:\\it''s $x'; pi --session 'a;b'"),
        (None, ("C:\\Program Files\\x.exe", "y"), "& 'C:\\Program Files\\x.exe' y"),
    ],
)
def test_a_session_is_reopened_from_powershell(folder: str | None, words: tuple[str, ...], powershell: str) -> None:
    assert in_powershell(Reopening(words, folder)) == powershell
    assert "&&" in in_posix_shell(Reopening(words, folder)) or folder is None


def test_a_hooks_line_is_one_that_every_shell_of_windows_reads() -> None:
    command = Command(("C:\\Program Files\\raw-rag.exe", "hook"), {"RAW_RAG_HOME": "D:\\my logs"})
    line = command.hook("pre-compact", "--agent", "x", windows=True)
    assert line == '"C:/Program Files/raw-rag.exe" hook --set "RAW_RAG_HOME=D:/my logs" pre-compact --agent x'


def test_a_variable_that_moves_a_folder_may_be_written_as_windows_does() -> None:
    assert moved({"X": "~\\logs\\"}, "X", "C:\\Users\\me", ".x") == "C:\\Users\\me\\logs"
