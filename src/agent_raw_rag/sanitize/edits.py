"""What an edit did: which file, and how many lines came and went.

Counted from the arguments. Lines that old and new text share at their beginning and end are context, as in a diff.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from agent_raw_rag.sanitize.arguments import text_of

PATH_KEYS = (
    *("filepath", "path", "targetfile", "absolutepath", "notebookpath", "file", "filename", "relativepath", "uri"),
    *("absolutefilepath", "destination"),
)
_OLD = ("oldstring", "oldtext", "oldstr", "targetcontent", "search", "oldcontent", "old")
_NEW = (
    "newstring",
    "newtext",
    "newstr",
    "replacementcontent",
    "replace",
    "newcontent",
    "new",
    "newsource",
    "inserttext",
)
_WHOLE = ("content", "codecontent", "filetext", "contents", "text", "lines")
_PATCH = ("patch", "patchtext", "diff", "input", "unifieddiff", "command", "cmd")
_LISTS = ("edits", "replacementchunks", "replacements", "changes", "operations")
_FILE = re.compile(
    r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.{1,1000})$|^\+\+\+ (?:b/)?([^\t\n]{1,1000})", re.M
)
_BEGIN = "*** Begin Patch"


class Edit(NamedTuple):
    """Target and size of an edit; ``None`` where the arguments do not tell."""

    target: str
    added: int | None = None
    removed: int | None = None

    @property
    def counts(self) -> str:
        """``(+a/-r)``, or nothing."""
        return "" if self.added is None else f"(+{self.added}/-{self.removed})"


def edit_of(args: Mapping[str, Any]) -> Edit:
    """The edit that a call's arguments describe."""
    path = text_of(args, PATH_KEYS)
    for key in _PATCH:
        patch = args.get(key)
        if isinstance(patch, str) and is_patch(patch):
            edit = patch_edit(patch)
            return edit._replace(target=path or edit.target)
    sizes = list(_sizes(args))
    if not sizes:
        return Edit(path)
    return Edit(path, sum(added for added, _ in sizes), sum(removed for _, removed in sizes))


def is_patch(text: str) -> bool:
    """Whether a text is a patch: of apply_patch, or a unified diff."""
    return _BEGIN in text or text.startswith(("--- ", "diff --git ", "@@ ")) or "\n+++ " in text


def patch_edit(patch: str) -> Edit:
    """Files and line counts of a patch."""
    start = patch.find(_BEGIN)
    if start >= 0:
        patch = patch[start:].partition("\n*** End Patch")[0]
    files = dict.fromkeys((own or unified).strip() for own, unified in _FILE.findall(patch))
    lines = list(_body(patch.split("\n"), unified=start < 0))
    added = sum(line.startswith("+") for line in lines)
    return Edit(", ".join(files), added, sum(line.startswith("-") for line in lines))


def _body(lines: list[str], *, unified: bool) -> Iterator[str]:
    """The lines of a patch without a unified diff's file headers."""
    header = False
    for line, after in pairwise([*lines, ""]):
        header = unified and not header and line.startswith("--- ") and after.startswith("+++ ")
        if not header and not (unified and line.startswith("+++ ")):
            yield line


def _sizes(args: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """(added, removed) of every replacement in the arguments."""
    lists = (args.get(key) for key in _LISTS)
    entries = (entry for one in lists if isinstance(one, list | tuple) for entry in one if isinstance(entry, Mapping))
    for given in (args, *map(_plain, entries)):
        old, new = _given(given, _OLD), _given(given, _NEW)
        if old is None and new is None:
            new = _given(given, _WHOLE)
        if old is not None or new is not None:
            yield _changed(old or "", new or "")


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).replace("_", "").lower(): value for key, value in entry.items()}


def _given(args: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = args.get(key)
        if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
            return "\n".join(value)
        if isinstance(value, str):
            return value
    return None


def _changed(old: str, new: str) -> tuple[int, int]:
    before, after = _lines(old), _lines(new)
    same = _common(before, after)
    before, after = before[same:], after[same:]
    same = _common(before[::-1], after[::-1])
    return len(after) - same, len(before) - same


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _common(left: list[str], right: list[str]) -> int:
    """How many lines are the same from the start."""
    return next(
        (place for place, (one, other) in enumerate(zip(left, right, strict=False)) if one != other),
        min(len(left), len(right)),
    )
