"""Which folder an Antigravity conversation works in. Its transcript does not say; files around it may.

In this order: the prompt history, the list of last conversations, the program's log together with the projects, and at last
the calls' own arguments. The program's scratch folders are where sandboxed commands run, not where the work is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from agent_raw_rag.adapters.base import mapping, sequence, string
from agent_raw_rag.models import Record

FOLDER_ARGUMENTS = ("Cwd",)
FILE_ARGUMENTS = ("TargetFile", "AbsolutePath")
SEARCH_ARGUMENTS = ("SearchPath", "DirectoryPath", "SearchDirectory")

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_USING = re.compile(r'using project "([^"]+)"')
_PROJECT_ID = re.compile(r"(?:using project ID: |\(id=)([0-9a-fA-F-]{36})")


def folder_of(conversation: str, around: Iterable[Record], calls: Iterable[dict[str, Any]]) -> str | None:
    """The conversation's folder; ``around`` are the records of companion files, ``calls`` the arguments of its calls."""
    known = [*around]
    ways: tuple[Callable[[], Iterator[str | None]], ...] = (
        lambda: _from_history(conversation, known),
        lambda: _from_last(conversation, known),
        lambda: _from_logs(conversation, known),
        lambda: _from_calls([*calls]),
    )
    return next((place for way in ways for found in way() if (place := usable(found))), None)


def usable(path: object) -> str | None:
    """The path, if it is one and not the program's own."""
    if not isinstance(path, str) or not _ABSOLUTE.match(path) or "/.gemini/" in path.replace("\\", "/") + "/":
        return None
    return path.rstrip("/") or None


def _from_history(conversation: str, around: list[Record]) -> Iterator[str | None]:
    for record in around:
        if record.data.get("conversationId") == conversation:
            yield string(record.data.get("workspace"))


def _from_last(conversation: str, around: list[Record]) -> Iterator[str | None]:
    for record in around:
        if record.origin.endswith("last_conversations.json"):
            yield from (path for path, last in record.data.items() if last == conversation)


def _from_logs(conversation: str, around: list[Record]) -> Iterator[str | None]:
    """The project that the log named last before it named the conversation."""
    for record in around:
        text = record.data.get("text") if record.origin.endswith(".log") else None
        if not isinstance(text, str) or conversation not in text:
            continue
        before = text[: text.index(conversation)]
        yield from _USING.findall(before)[-1:]
        for number in _PROJECT_ID.findall(before)[-1:]:
            yield from (_project(other) for other in around if other.data.get("id") == number)


def _project(record: Record) -> str | None:
    resources = mapping(record.data.get("projectResources")).get("resources")
    for resource in sequence(resources):
        for kind in mapping(resource).values():
            uri = string(mapping(kind).get("folderUri"))
            if uri and uri.startswith("file://"):
                return unquote(uri.removeprefix("file://"))
    return string(record.data.get("name"))


def _from_calls(calls: list[dict[str, Any]]) -> Iterator[str | None]:
    yield from (call.get(name) for call in calls for name in FOLDER_ARGUMENTS)
    files = [place for call in calls for name in FILE_ARGUMENTS if (place := usable(call.get(name)))]
    folders = [path.rpartition("/")[0] for path in files if "/" in path]
    common = _common(folders)
    yield common if common.count("/") > 2 else None
    yield from folders
    yield from (call.get(name) for call in calls for name in SEARCH_ARGUMENTS)


def _common(folders: list[str]) -> str:
    """The longest folder that holds all of them."""
    if not folders:
        return ""
    low, high = min(folders).split("/"), max(folders).split("/")
    shared = 0
    while shared < min(len(low), len(high)) and low[shared] == high[shared]:
        shared += 1
    return "/".join(low[:shared])
