"""Where each space's store lies. A space is a store of its own, so that no query can reach from one into another.

``default`` is the home folder itself; any other space has a folder in ``<home>/spaces``.
"""

from __future__ import annotations

import os
import re

from agent_raw_rag.errors import BadArgumentError

DEFAULT_SPACE = "default"
STORE_FILE = "raw_rag.db"
_SPACES = "spaces"
_is_slug = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}").fullmatch


def checked_slug(slug: str) -> str:
    """The slug, if it is one.

    Raises:
        BadArgumentError: it is none. A slug is a folder's name, so nothing else may pass.
    """
    if not _is_slug(slug):
        shown = slug if len(slug) <= 80 else f"{slug[:80]}…"
        raise BadArgumentError(
            f"{shown!r} is no name of a space.",
            hint="Use lower-case letters, digits, - and _, up to 63, a letter or digit first.",
        )
    return slug


def space_path(path: str, slug: str) -> str:
    """Where the store of a space lies. ``path``: the store of the default space. Raises BadArgumentError."""
    if checked_slug(slug) == DEFAULT_SPACE:
        return path
    return os.path.join(os.path.dirname(path), _SPACES, slug, STORE_FILE)


def spaces_with_store(path: str) -> list[str]:
    """The slugs of the spaces whose store exists, ``default`` first, the others by name. ``path``: as above."""
    found = [DEFAULT_SPACE] if os.path.exists(path) else []
    try:
        names = sorted(os.listdir(os.path.join(os.path.dirname(path), _SPACES)))
    except OSError:
        names = []
    return found + [
        name for name in names if _is_slug(name) and name != DEFAULT_SPACE and os.path.exists(space_path(path, name))
    ]


def file_number(path: str) -> int:
    """What tells a file from another one that took its place; 0: there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
