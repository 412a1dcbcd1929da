"""Small files of ours: written as a whole or not at all, for their owner only."""

from __future__ import annotations

import os

DRAFT = ".new"
"""What stands behind a file's name while it is written. One process at a time writes a file of ours, so one draft is enough."""


def write_whole(path: str, text: str) -> None:
    """Replace a file, or make it. What a path holds that is no UTF-8 is kept.

    Raises:
        OSError: it cannot be written; it stays as it was.
    """
    draft = f"{path}{DRAFT}"
    _discard(draft)  # what was left when we were killed: its mode, or where it leads, is not ours to keep
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        os.replace(draft, path)
    except BaseException:
        _discard(draft)
        raise


def _discard(draft: str) -> None:
    if os.path.lexists(draft):
        os.remove(draft)
