"""Which project a folder belongs to: the repository's root, with linked worktrees mapped to their main repository.

Looks at the file system only (``.git`` folders, files and configs; no git process), and only where the folder still
exists. A folder that is gone keeps its name, apart from the well-known places where agents put worktrees.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass

_WORKTREE_PLACES = ("/.worktrees/", "/.claude/worktrees/", "/.git/worktrees/")
_URL = re.compile(r'^\s*\[remote "(?P<name>[^"]+)"\]|^\s*url\s*=\s*(?P<url>\S+)', re.MULTILINE)
_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\[^\\]")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Project:
    """A project as far as the file system tells."""

    path: str
    """Root of the main repository, else the folder itself."""
    remote: str | None = None
    """URL of ``origin`` (else the first remote), without credentials."""


class Projects:
    """Folder -> project, remembered for as long as this object lives."""

    def __init__(self) -> None:
        self._known: dict[str, Project] = {}

    def of(self, folder: str) -> Project:
        """The project of an absolute folder."""
        if folder not in self._known:
            self._known[folder] = _project(folder)
        return self._known[folder]


def normal_path(path: str) -> str:
    """An absolute path without ``~``, ``.``, ``..``, symbolic links and a trailing slash. One of the other system (a log of
    Windows, read in WSL) stays as it is."""
    return path.rstrip("\\/") if is_foreign(path) else os.path.realpath(os.path.expanduser(path))


def is_foreign(path: str, *, windows: bool = sys.platform == "win32") -> bool:
    """Whether it is a path of Windows, and this is not."""
    return not windows and _OF_WINDOWS.match(path) is not None


def other_names(path: str) -> tuple[str, ...]:
    """What Windows and WSL call the same folder: ``/mnt/c/x`` is ``C:\\x``, and ``\\\\wsl$\\Debian\\x`` is ``/x``."""
    if found := re.fullmatch(r"/mnt/([a-z])(/.*)?", path):
        rest = (found[2] or "/").replace("/", "\\")
        return f"{found[1].upper()}:{rest}", f"{found[1]}:{rest}"
    if found := re.fullmatch(r"([A-Za-z]):[\\/](.*)", path):
        inside = found[2].replace("\\", "/")
        other_case = found[1].swapcase() + path[1:]
        return other_case, f"/mnt/{found[1].lower()}/{inside}".rstrip("/")
    if found := re.fullmatch(r"(?i:[\\/]{2}wsl(?:\$|\.localhost)[\\/][^\\/]+)(.*)", path):
        return (found[1].replace("\\", "/") or "/",)
    return ()


def _project(folder: str) -> Project:
    if not os.path.isabs(folder):
        return Project(folder)
    if not os.path.isdir(folder):
        return _gone(folder)
    path = os.path.realpath(folder)
    while True:
        marker = os.path.join(path, ".git")
        if os.path.exists(marker):
            return _repository(path, marker)
        above = os.path.dirname(path)
        if above == path:
            return Project(os.path.realpath(folder))
        path = above


def _gone(folder: str) -> Project:
    for place in _WORKTREE_PLACES:
        if place in folder:
            return _project(folder[: folder.index(place)])
    return Project(folder.rstrip("/") or "/")


def _repository(path: str, marker: str) -> Project:
    if os.path.isdir(marker):
        return Project(path, _remote(os.path.join(marker, "config")))
    common = _common_folder(path, marker)
    if common is None or os.path.basename(common) != ".git":
        return Project(path)  # a submodule, or a worktree of a bare repository: its own project
    return Project(os.path.dirname(common), _remote(os.path.join(common, "config")))


def _common_folder(path: str, marker: str) -> str | None:
    """The main repository's .git folder, from a linked worktree's ``.git`` file."""
    text = _read(marker)
    if not text.startswith("gitdir:"):
        return None
    git = os.path.join(path, text.removeprefix("gitdir:").strip())
    above = _read(os.path.join(git, "commondir")).strip()
    if above:
        return os.path.realpath(os.path.join(git, above))
    parent = os.path.dirname(os.path.realpath(git))
    return os.path.dirname(parent) if os.path.basename(parent) == "worktrees" else None


def _remote(config: str) -> str | None:
    name = ""
    urls: dict[str, str] = {}
    for found in _URL.finditer(_read(config)):
        if found["name"]:
            name = found["name"]
        elif name:
            urls.setdefault(name, _CREDENTIALS.sub("", found["url"]))
    return urls.get("origin") or next(iter(urls.values()), None)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(1 << 16)
    except OSError:
        return ""
