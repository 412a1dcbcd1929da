"""Finding an agent's sources: walk the folders its row names, match its globs, ask it which file is whose.

Symbolic links are followed for a root itself, and inside it as long as they stay inside. Only plain files are sources:
opening a pipe would wait for ever.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.models import Source

OnError = Callable[[OSError], None]


def _raise(error: OSError) -> None:
    raise error


def find_sources(adapter: Adapter, roots: tuple[Root, ...], on_error: OnError = _raise) -> list[Source]:
    """Every source under the roots, each physical file once, in reading order.

    ``on_error`` is told of each folder that may not be looked into; the others are walked all the same.
    """
    found: dict[str, Source] = {}
    for root in roots:
        path = os.path.realpath(root.path)
        resolved = Root(path, root.patterns)
        for relative in _files(path, root.patterns, on_error):
            source = adapter.classify(resolved, relative)
            if source is not None:
                found.setdefault(source.path, source)
    return sorted(found.values(), key=lambda source: (source.order, source.path))


def sources_at(adapter: Adapter, roots: tuple[Root, ...], paths: Iterable[str]) -> dict[str, Source]:
    """Those of the paths that are sources as ``find_sources`` would find them, without a walk. Links are left to a walk."""
    found: dict[str, Source] = {}
    for root in (Root(os.path.realpath(root.path), root.patterns) for root in roots):
        for path in paths:
            if path not in found and could_be_source(root, path) and os.path.isfile(path) and _is_plain(path):
                source = adapter.classify(root, _relative(root, path))
                if source is not None and source.path == path:
                    found[path] = source
    return found


def could_be_source(root: Root, path: str) -> bool:
    """Whether a path under a root (whose links are resolved) is one that the root's patterns name."""
    inside = path.startswith(os.path.join(root.path, ""))
    return inside and any(_matcher(pattern).fullmatch(_relative(root, path)) for pattern in root.patterns)


def _relative(root: Root, path: str) -> str:
    return os.path.relpath(path, root.path).replace(os.sep, "/")


def _is_plain(path: str) -> bool:
    return os.path.realpath(path) == path


def _files(root: str, patterns: tuple[str, ...], on_error: OnError) -> Iterator[str]:
    matchers = [_matcher(pattern) for pattern in patterns]
    depth = max((_depth(pattern) for pattern in patterns), default=0)
    folders = [_Prefix(pattern) for pattern in patterns]
    stack = [""]
    while stack:
        relative = stack.pop()
        for entry in _entries(os.path.join(root, relative), on_error):
            name = f"{relative}{entry.name}"
            if entry.is_symlink() and not os.path.realpath(entry.path).startswith(root + os.sep):
                continue
            if _says(entry.is_dir):
                level = name.count("/") + 1
                if level < depth and any(prefix.allows(name, level) for prefix in folders):
                    stack.append(f"{name}/")
            elif _says(entry.is_file) and any(matcher.fullmatch(name) for matcher in matchers):
                yield _inside(root, entry, name)


def _inside(root: str, entry: os.DirEntry[str], name: str) -> str:
    """A link's target stands for it, so that a file linked twice is read once."""
    return os.path.relpath(os.path.realpath(entry.path), root).replace(os.sep, "/") if entry.is_symlink() else name


def _says(question: Callable[[], bool]) -> bool:
    """What an entry says of itself; a link that leads round in a circle is nothing."""
    try:
        return question()
    except OSError:
        return False


def _entries(folder: str, on_error: OnError) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        on_error(error)
        return []


class _Prefix:
    """Tells which folders can hold a match of a pattern, so that the others are not walked."""

    def __init__(self, pattern: str) -> None:
        self.levels = [None if part == "**" else _matcher(part) for part in pattern.split("/")[:-1]]

    def allows(self, folder: str, level: int) -> bool:
        for number, part in enumerate(folder.split("/")):
            if number >= len(self.levels):
                return False
            matcher = self.levels[number]
            if matcher is None:
                return True
            if not matcher.fullmatch(part):
                return False
        return True


def _depth(pattern: str) -> int:
    """How many levels below the root a match can stand; ``**`` is bounded, as links could make a circle."""
    return 12 if "**" in pattern else pattern.count("/") + 1


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    parts = []
    for part in re.split(r"(\*\*/|\*|\?)", pattern):
        parts.append({"**/": r"(?:[^/]+/)*", "*": r"[^/]*", "?": r"[^/]"}.get(part) or re.escape(part))
    return re.compile("".join(parts))
