"""Which project a folder belongs to."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_raw_rag.sources.projects import Project, Projects, normal_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder), *words],
        check=True,
        capture_output=True,
    )


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def test_a_sub_folder_belongs_to_its_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    (root / "src/deep").mkdir(parents=True)
    assert Projects().of(str(root / "src/deep")).path == str(root)


def test_a_linked_worktree_belongs_to_the_main_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "my repo")
    git(root, "worktree", "add", "-q", str(tmp_path / "elsewhere/feature"))
    assert Projects().of(str(tmp_path / "elsewhere/feature")).path == str(root)


def test_a_worktree_that_is_gone_belongs_to_the_repository_it_stood_in(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    assert Projects().of(f"{root}/.worktrees/feature/x").path == str(root)
    assert Projects().of(f"{root}/.claude/worktrees/y").path == str(root)


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    inner = tmp_path / "repo/inner"
    inner.mkdir(parents=True)
    repository(tmp_path / "repo/.git-holder")
    (inner / ".git").write_text("gitdir: ../.git/modules/inner\n", encoding="utf-8")
    assert Projects().of(str(inner)).path == str(inner)


def test_a_folder_outside_a_repository_is_its_own_project(tmp_path: Path) -> None:
    assert Projects().of(str(tmp_path)) == Project(str(tmp_path))


def test_a_folder_that_is_gone_keeps_its_name() -> None:
    assert Projects().of("/no/such/place/") == Project("/no/such/place")


def test_a_symbolic_link_leads_to_the_real_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "real")
    (tmp_path / "link").symlink_to(root)
    assert Projects().of(str(tmp_path / "link")).path == str(root)
    assert normal_path(f"{tmp_path}/link/../link/.") == str(root)


def test_the_remote_is_named_without_credentials(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    git(root, "remote", "add", "upstream", "https://example.org/up.git")
    git(root, "remote", "add", "origin", "https://me:secret@example.org/mine.git")
    assert Projects().of(str(root)).remote == "https://example.org/mine.git"
