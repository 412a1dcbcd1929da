"""Users' files: read as bytes, written whole or not at all, never through a link's place, never over a newer version."""

from __future__ import annotations

import codecs
import hashlib
import itertools
import os
import re
import stat
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_raw_rag.errors import WiringError

_MARK = codecs.BOM_UTF8
_DRAFT = ".raw-rag-"
_DRAFTS = re.compile(re.escape(_DRAFT) + r"[a-z0-9_]{8}")


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was found."""

    path: str
    """Where it really lies, links followed."""
    data: bytes | None
    """None: there is none."""
    stamp: tuple[int, int, int] | None = None
    """Inode, size and time of change, to see that nobody wrote in between."""

    @property
    def text(self) -> str:
        """Its text, without a byte order mark, with its own line ends.

        Raises:
            WiringError: it is not UTF-8.
        """
        try:
            return (self.data or b"").removeprefix(_MARK).decode("utf-8")
        except UnicodeDecodeError as error:
            line = (self.data or b"")[: error.start].count(b"\n") + 1
            raise WiringError(f"{self.path}, line {line}: not UTF-8.", hint="Save it as UTF-8 and try again.") from None

    def encoded(self, text: str) -> bytes:
        """A text as this file would hold it: with a byte order mark if it had one."""
        mark = _MARK if self.data is not None and self.data.startswith(_MARK) else b""
        return mark + text.encode("utf-8")


def read(path: str) -> Content:
    """A file, or that there is none.

    Raises:
        WiringError: it is there, and cannot be read.
    """
    real = os.path.realpath(path)
    try:
        if not stat.S_ISREG(os.stat(real).st_mode):  # a pipe would be waited for, and a device replaced
            raise WiringError(f"{path} is no plain file.", hint="Nothing was changed.")
        with open(real, "rb") as stream:
            data = stream.read()
            return Content(real, data, _stamp(os.fstat(stream.fileno())))
    except FileNotFoundError:
        return Content(real, None)
    except OSError as error:
        raise WiringError(f"{path} cannot be read: {error.strerror}.", hint="Check its owner and mode.") from error


def replace(old: Content, data: bytes) -> None:
    """Put new bytes in the place of a file that was read, with its mode and owner. Its folder must be there.

    Raises:
        WiringError: it is read-only, was changed meanwhile, or cannot be written.
    """
    _check_writable(old)
    try:
        _swap(old, data)
    except OSError as error:
        raise WiringError(f"{old.path} cannot be written: {error.strerror}.", hint="Nothing was changed.") from error


def make_folders(old: Content) -> list[str]:
    """Make the folders that a file needs. Returns those that were missing, the outermost first.

    Raises:
        WiringError: one cannot be made.
    """
    folder, missing = os.path.dirname(old.path), []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    try:
        for one in reversed(missing):
            Path(one).mkdir()
    except OSError as error:
        raise WiringError(f"{old.path} cannot be written: {error.strerror}.", hint="Nothing was changed.") from error
    return missing[::-1]


def remove(old: Content, folders: list[str]) -> list[str]:
    """Delete a file of our own, and folders that were made for it and are empty now. Returns those that are not.

    Raises:
        WiringError: it is read-only, was changed meanwhile, or cannot be deleted.
    """
    _check_writable(old)
    discard(old.path)
    return remove_folders(folders)


def remove_folders(folders: list[str]) -> list[str]:
    """Delete folders that were made for a file, as far as they are empty. Returns those that are not."""
    left = list(folders)
    while left:
        try:
            Path(left[-1]).rmdir()
        except OSError:  # something else is in it
            break
        left.pop()
    return left


def backup_place(old: Content, now: datetime) -> str:
    """Where a copy of a file is to lie: beside it, and never in the place of an earlier one.

    Raises:
        WiringError: the file itself could not be replaced afterwards.
    """
    _check_writable(old)
    stem = f"{old.path}.raw-rag-{now:%Y%m%d-%H%M%S}"
    places = (f"{stem}{f'-{number}' if number else ''}.bak" for number in itertools.count())
    return next(path for path in places if not os.path.lexists(path))


def back_up(old: Content, path: str) -> None:
    """Make a copy of a file as it was read, which only its owner can read.

    Raises:
        WiringError: it cannot be made, or something is in its place.
    """
    assert old.data is not None
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(old.data)
            os.fsync(stream.fileno())
        _make_alike(path, old.path, 0o600)
    except OSError as error:
        raise WiringError(f"{path} cannot be made: {error.strerror}.", hint="Nothing was changed.") from error


def discard(path: str) -> None:
    """Delete a file that we made, if it is there.

    Raises:
        WiringError: it cannot be deleted.
    """
    try:
        Path(path).unlink(missing_ok=True)
    except OSError as error:
        raise WiringError(f"{path} cannot be deleted: {error.strerror}.", hint="Delete it by hand.") from error


def digest(data: bytes) -> str:
    """What a file's bytes are remembered by."""
    return hashlib.sha256(data).hexdigest()


def _stamp(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _check_writable(old: Content) -> None:
    try:
        facts = os.stat(old.path)
    except FileNotFoundError:
        if old.data is None:
            return
        raise WiringError(f"{old.path} was deleted meanwhile.", hint="Try again.") from None
    except OSError as error:
        raise WiringError(f"{old.path} cannot be read: {error.strerror}.", hint="Nothing was changed.") from error
    if old.stamp != _stamp(facts):
        raise WiringError(f"{old.path} was changed meanwhile.", hint="Nothing was changed; try again.")
    if not facts.st_mode & stat.S_IWUSR:
        raise WiringError(f"{old.path} is read-only.", hint="Make it writable, or add the entry by hand.")


def _swap(old: Content, data: bytes) -> None:
    _sweep(os.path.dirname(old.path))
    handle, temporary = tempfile.mkstemp(prefix=_DRAFT, dir=os.path.dirname(old.path))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if old.data is not None:
            _make_alike(temporary, old.path, stat.S_IMODE(os.stat(old.path).st_mode))
        _check_writable(old)  # once more: agents write these files too, and reaching the disk took its time
        os.replace(temporary, old.path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sweep(folder: str) -> None:
    """Remove what was left of us when we were killed. Whoever writes holds the lock, so nobody else's is in work."""
    for name in os.listdir(folder):
        if _DRAFTS.fullmatch(name):
            Path(folder, name).unlink(missing_ok=True)


def _make_alike(made: str, path: str, mode: int) -> None:
    """Give a file of ours the owner and, as far as we may, the group of another, and a mode."""
    mine, facts = os.stat(made), os.stat(path)
    if sys.platform != "win32" and (mine.st_uid, mine.st_gid) != (facts.st_uid, facts.st_gid):
        try:
            os.chown(made, facts.st_uid, facts.st_gid)
        except PermissionError as error:
            if mine.st_uid != facts.st_uid:
                raise WiringError(f"{path} belongs to another user.", hint="Nothing was changed.") from error
    Path(made).chmod(mode)
