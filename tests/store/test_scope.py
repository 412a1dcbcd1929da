"""Which sessions a folder filter lets through, and which projects are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.models import Role
from agent_raw_rag.store.reader import Scope

FOLDERS = ("/a", "/a/b", "/a/b/c", "/a/b.c", "/a/b0", "/a/b-1", "/a/bc", "/a/b/é", "/b", "/A/b")


@pytest.mark.parametrize("asked", [*FOLDERS, "/", "/a/b/", "/a/%", "/a/_"])
def test_a_folder_means_itself_and_what_is_below_it(tmp_path: Path, asked: str) -> None:
    stored = Stored(tmp_path)
    for folder in FOLDERS:
        stored.add_session(folder, [(Role.USER, "word", 1)], cwd=folder)
    ids = stored.reader.session_ids(Scope(projects=(asked,)))
    found = {row.cwd for row in stored.reader.session_rows(ids or []).values()}
    inside = asked.rstrip("/") + "/"
    assert found == {folder for folder in FOLDERS if folder == asked or folder.startswith(inside)}


def test_projects_are_named_newest_first_if_something_of_them_lives(tmp_path: Path) -> None:
    stored = Stored(tmp_path)
    for number, folder in enumerate(("/old", "/new", "/empty", "/old")):
        stored.add_session(f"s{number}", [] if folder == "/empty" else [(Role.USER, "word", number)], cwd=folder)
    assert stored.reader.project_names(5) == ["/old", "/new"] == [name for name, _, _ in stored.reader.projects()]
    assert stored.reader.project_names(1) == ["/old"]
