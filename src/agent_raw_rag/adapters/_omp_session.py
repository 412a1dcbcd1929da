"""Facts about an omp or pi session: header, title, and what file names tell. Pure."""

from __future__ import annotations

import re
from typing import Any

from agent_raw_rag.adapters.base import State, millis, string
from agent_raw_rag.models import Event, SessionInfo

Entry = dict[str, Any]

_STAMPED = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+Z?_(.+)")


def stamped_id(name: str) -> str | None:
    """The session id in a name of the shape ``<time>_<id>``; ids may be any text."""
    found = _STAMPED.fullmatch(name)
    return found[1] if found else None


def header(data: Entry, state: State) -> list[Event]:
    """The session's own line. The first one counts."""
    if state.get("opened"):
        return []
    session = string(data.get("id"))
    if session is not None and session != state["parent"]:
        state["session"] = session
    version = data.get("version")
    state.update(opened=True, version=f"v{version if isinstance(version, int) else 1}")
    parent, kind = _parent(data, state)
    title = string(data.get("title")) or state.pop("title", None)
    cwd, started = string(data.get("cwd")), millis(data.get("timestamp"))
    return [SessionInfo(None, cwd, None, title, state["version"], started, parent, kind)]


def title_slot(data: Entry, state: State) -> list[Event]:
    """The first line of omp files, rewritten in place. A sub-agent's stands before its session is known: kept for later."""
    title = string(data.get("title"))
    if title is None:
        return []
    if state["parent"] is not None and not state.get("opened"):
        state["title"] = title
        return []
    return [SessionInfo(title=title)]


def renamed(data: Entry, state: State) -> list[Event]:
    """A later title."""
    title = string(data.get("title")) or string(data.get("name"))
    return [SessionInfo(title=title)] if title else []


def _parent(data: Entry, state: State) -> tuple[str | None, str | None]:
    if state["parent"] is not None:
        return state["parent"], "subagent"
    named = string(data.get("parentSession"))
    if named is None:
        return None, None
    stem = named.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".jsonl")
    parent = stamped_id(stem) or stem
    return (parent, "fork") if parent and parent != state["session"] else (None, None)
