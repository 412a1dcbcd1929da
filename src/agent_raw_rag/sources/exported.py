"""Exports of chat services, streamed: one conversation at a time out of an array of any size, from a file, a zip or a folder.

Memory is bounded by the largest conversation. What is no conversation is told by name, and costs nothing else.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from agent_raw_rag.errors import SourceError

MEMBERS = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json$")
ENTRY_LIMIT_BYTES = 512 << 20
"""No conversation is that long; one must not take the machine's memory, in a zip that unpacks to anything least of all."""
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One conversation of an export."""

    name: str
    """Where it stands, for people: the file and the number in it."""
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BadEntry:
    """What is no conversation."""

    name: str
    reason: str
    """One of: not-object, json, too-large, unreadable."""


def read_entries(path: str) -> Iterator[Entry | BadEntry]:
    """The conversations of an export: a JSON file, a zip as the service sends it, or the folder it was unpacked to.

    Raises:
        SourceError: it cannot be opened, or holds no conversations file.
    """
    for name, opened in _files(path):
        with opened() as file:
            yield from _entries(name, file, opened)


def _files(path: str) -> Iterator[tuple[str, Any]]:
    """(name, how to open it) of the files with conversations."""
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if MEMBERS.search(name))
        yield from _needed(path, [(name, _plain(os.path.join(path, name))) for name in names])
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            found = sorted(name for name in archive.namelist() if MEMBERS.search(name))
            yield from _needed(path, [(name, _member(archive, name)) for name in found])
    else:
        yield os.path.basename(path), _plain(path)


def _needed(path: str, found: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    if not found:
        raise SourceError(f"There is no conversations.json in {path}.", hint="Is it the export as the service sent it?")
    return found


def _plain(path: str) -> Any:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        try:
            with open(path, "rb") as file:
                yield file
        except OSError as error:
            raise SourceError(f"The export {path} cannot be read: {error.strerror or error}.") from error

    return opened


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        try:
            with archive.open(name) as file:
                yield file
        except RuntimeError as error:  # it has a password
            raise SourceError(f"{name} in {archive.filename} cannot be read: {error}.") from error

    return opened


class _Bounded:
    """A file that refuses to give more than one conversation may have."""

    def __init__(self, file: IO[bytes], head: bytes) -> None:
        self._file = file
        self._head = head
        self._taken = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        if self._taken > ENTRY_LIMIT_BYTES:
            raise OverflowError
        block = self._head if self._head and size else self._file.read(size)
        self._head = b"" if size else self._head
        self._taken += len(block)
        return block

    def next_entry(self) -> None:
        """One was read."""
        self._taken = 0


def _entries(name: str, file: IO[bytes], opened: Any) -> Iterator[Entry | BadEntry]:
    head = file.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")
    first = head.lstrip()[:1]
    if first == b"[":
        yield from _numbered(name, _Bounded(file, head), "item")
        return
    count = 0
    for found in _numbered(name, _Bounded(file, head), "conversations.item"):
        count += 1
        yield found
    if not count:  # one conversation on its own
        with opened() as again:
            yield from _numbered(name, _Bounded(again, again.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")), "")


def _numbered(name: str, file: _Bounded, prefix: str) -> Iterator[Entry | BadEntry]:
    import ijson

    number = 0
    try:
        for value in ijson.items(file, prefix, use_float=True, buf_size=_BLOCK):
            number += 1
            file.next_entry()
            where = f"{name}, entry {number}"
            yield Entry(where, value) if isinstance(value, dict) else BadEntry(where, "not-object")
    except (ijson.JSONError, UnicodeDecodeError) as error:
        yield BadEntry(f"{name} after entry {number}: {str(error).splitlines()[0]}", "json")
    except OverflowError:
        yield BadEntry(f"{name} after entry {number}", "too-large")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        yield BadEntry(f"{name} after entry {number}: {error}", "unreadable")
