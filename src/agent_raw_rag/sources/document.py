"""Documents: one conversation spread over files that are rewritten in place, read whole whenever one of them changed.

A source names its main file, its members (further files of the document) and its companions (files that are read along,
but whose change alone is no news). Every file is read by its extension: ``.jsonl`` gives one record a line, ``.json`` one
record, ``.md``, ``.txt`` and ``.log`` one record ``{"text": ...}``; any other file is not opened, and gives one record without
data that says it is there. A file that cannot be read whole is one bad record, and a symbolic link that leads out of the
agent's folder is not followed.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from agent_raw_rag.models import BadRecord, Record, Source
from agent_raw_rag.sources.lines import LINE_LIMIT_BYTES, parse_line, read_lines

LOG_HEAD_BYTES = 64 << 10
"""Of a ``.log`` file only the head is read: it names the conversation and its folder, the rest is the agent's own affair."""

COMPANION_TAIL_BYTES = 4 << 20
"""Of a companion of lines only the tail is read: a prompt history grows for years, and what is looked up in it is new."""

COMPANION_CACHE = 256
"""Companions are shared by all conversations of an agent: the last ones read are kept as long as they are unchanged."""

Entries = list[Record | BadRecord]


def read_document(source: Source) -> Entries:
    """The records of the main file, the members and the companions, in this order, each with its ``origin``.

    Raises:
        OSError: the main file cannot be opened or read. Of the other files, one that has vanished is passed over, one
            that is not readable is a bad record.
    """
    inside = _inside(source.root)
    entries = _read(source.path, _origin(source.root, source.path))
    for path in _members(source, inside):
        entries += _read_softly(path, _origin(source.root, path))
    return entries + read_companions(source)


def read_companions(source: Source) -> Entries:
    """The records of a source's companions alone."""
    entries: Entries = []
    for path in _matches(source.root, source.companions, source.path, _inside(source.root)):
        entries += _companion(path, _origin(source.root, path))
    return entries


def document_stamp(source: Source) -> str:
    """Changes when a file of the document was added, removed or rewritten: number, total size, last change.

    No file is opened. Companions do not count.

    Raises:
        OSError: the main file cannot be looked at.
    """
    facts = [os.stat(source.path)]
    for path in _members(source, _inside(source.root)):
        try:
            facts.append(os.stat(path))
        except FileNotFoundError:
            continue
    size = sum(fact.st_size for fact in facts)
    return f"{len(facts)}:{size}:{max(fact.st_mtime_ns for fact in facts)}"


# ---------------------------------------------------------------- which files


def _members(source: Source, inside: Callable[[str], bool]) -> Iterator[str]:
    return _matches(source.root, source.members, source.path, inside)


def _matches(root: str, globs: tuple[str, ...], main: str, inside: Callable[[str], bool]) -> Iterator[str]:
    """Files that the globs match, each once; ``{stem}`` of a glob runs over the files that the glob before it matched."""
    before = [main]
    seen = {main}
    for pattern in globs:
        found = [os.path.join(root, name) for one in _fill(pattern, before) for name in sorted(_glob(one, root))]
        before = [path for path in found if inside(path)]
        yield from (path for path in before if path not in seen)
        seen.update(before)


def _fill(pattern: str, before: list[str]) -> list[str]:
    if "{stem}" not in pattern:
        return [pattern]
    return [pattern.replace("{stem}", glob.escape(_stem(path))) for path in before]


def _glob(pattern: str, root: str) -> list[str]:
    return glob.glob(pattern, root_dir=root, recursive="**" in pattern)


def _inside(root: str) -> Callable[[str], bool]:
    """A test for regular files whose real place is under ``root``; each folder is resolved once."""
    real_root = os.path.join(os.path.realpath(root), "")
    folders: dict[str, bool] = {}

    def under(path: str) -> bool:
        return os.path.join(os.path.realpath(path), "").startswith(real_root)

    def test(path: str) -> bool:
        folder = os.path.dirname(path)
        if folder not in folders:
            folders[folder] = under(folder)
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return False
        if stat.S_ISLNK(mode):
            return os.path.isfile(path) and under(path)
        return stat.S_ISREG(mode) and folders[folder]

    return test


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _origin(root: str, path: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


# ---------------------------------------------------------------- one file


def _read(path: str, origin: str) -> Entries:
    extension = os.path.splitext(path)[1]
    if extension == ".jsonl":
        return [_placed(entry, origin) for entry in read_lines(path)]
    if extension == ".json":
        return [_json(path, origin)]
    if extension in (".md", ".txt", ".log"):
        return [_text(path, origin, LOG_HEAD_BYTES if extension == ".log" else LINE_LIMIT_BYTES)]
    return [Record({}, 0, os.stat(path).st_size, origin)]


def _read_softly(path: str, origin: str) -> Entries:
    try:
        return _read(path, origin)
    except FileNotFoundError:
        return []
    except OSError:
        return [BadRecord("unreadable", 0, 0)]


def _companion(path: str, origin: str) -> Entries:
    try:
        fact = os.stat(path)
    except OSError:
        return []
    return list(_kept(path, origin, fact.st_mtime_ns, fact.st_size))


@lru_cache(maxsize=COMPANION_CACHE)
def _kept(path: str, origin: str, changed: int, size: int) -> tuple[Record | BadRecord, ...]:
    # ``changed`` is here to be part of the cache's key.
    if not path.endswith(".jsonl") or size <= COMPANION_TAIL_BYTES:
        return tuple(_read_softly(path, origin))
    lines = read_lines(path, size - COMPANION_TAIL_BYTES)
    next(lines, None)  # begins in the middle
    return tuple(_placed(entry, origin) for entry in lines)


def _placed(entry: Record | BadRecord, origin: str) -> Record | BadRecord:
    return replace(entry, origin=origin) if isinstance(entry, Record) else entry


def _json(path: str, origin: str) -> Record | BadRecord:
    with open(path, "rb") as stream:
        content = stream.read(LINE_LIMIT_BYTES + 1)
    if len(content) > LINE_LIMIT_BYTES:
        return BadRecord("too-long", 0, len(content))
    # An empty file is one that its writer has only just opened.
    return _placed(parse_line(content, 0, len(content)) or BadRecord("json", 0, len(content)), origin)


def _text(path: str, origin: str, limit: int) -> Record:
    with open(path, "rb") as stream:
        content = stream.read(limit)
    return Record({"text": content.decode("utf-8", "replace")}, 0, len(content), origin)
