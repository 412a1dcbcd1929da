"""Facts about a Codex session: whose file it is, where it ran, who its parent is. Pure."""

from __future__ import annotations

from typing import Any

from agent_raw_rag.adapters import _codex_twins as twins
from agent_raw_rag.adapters import _codex_voices as voices
from agent_raw_rag.adapters.base import State, mapping, millis, string
from agent_raw_rag.models import Event, Millis, SessionInfo

Payload = dict[str, Any]


def header(data: Payload, state: State) -> list[Event]:
    """Line 1 of 0.29 and before."""
    return session_meta({**data, "cwd": None, "source": None}, state, None)


def session_meta(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    """The first one owns the file. Others that follow before a word is said belong to those whose history is copied here."""
    session = string(payload.get("id"))
    if state.get("owned"):
        return _copied(session, state)
    state["owned"] = True
    if session is not None:
        state["session"] = session
        voices.seed(state, session)
    parent, kind = _parent(payload, state["session"])
    cwd, version = string(payload.get("cwd")), string(payload.get("cli_version"))
    state.update(version=version, cwd=cwd, parent=parent)
    if kind == "subagent":
        state["task"] = True
    if payload.get("history_mode") == "paginated":
        state["paginated"] = True
    branch = string(mapping(payload.get("git")).get("branch"))
    started = millis(payload.get("timestamp"))
    return [SessionInfo(None, cwd, branch, None, version, started, parent, kind if parent else None)]


def turn_context(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    """Holds the working directory where nothing before did."""
    return found_cwd(string(payload.get("cwd")), state)


def found_cwd(cwd: str | None, state: State) -> list[Event]:
    """The first working directory that is named counts."""
    if cwd is None or state.get("cwd"):
        return []
    state["cwd"] = cwd
    return [SessionInfo(cwd=cwd)]


def _copied(session: str | None, state: State) -> list[Event]:
    said = twins.release(state)
    if session is None or session == state["session"] or not state["silent"]:
        return said
    voices.seed(state, session)
    if state.get("parent"):
        return said
    state["parent"] = session
    return [*said, SessionInfo(parent=session, parent_kind="fork")]


def _parent(payload: Payload, own: str) -> tuple[str | None, str | None]:
    source = mapping(payload.get("source"))
    if "subagent" in source or payload.get("thread_source") == "subagent":
        spawned = mapping(mapping(source.get("subagent")).get("thread_spawn"))
        given = (payload.get("parent_thread_id"), spawned.get("parent_thread_id"), payload.get("session_id"))
        known = (string(one) for one in (*given, payload.get("forked_from_id")))
        return next((one for one in known if one and one != own), None), "subagent"
    return string(payload.get("forked_from_id")), "fork"
