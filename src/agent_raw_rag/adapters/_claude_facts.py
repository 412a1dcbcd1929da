"""What Claude Code rows tell about their session: where, which version, since when, whose child, what title.

State: ``cwd``, ``branch``, ``version``, ``started`` as they were told, ``parent`` and whether it is ``linked`` (told),
``title`` with its rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_raw_rag.adapters.base import State, digest, mapping, millis, string
from agent_raw_rag.models import Event, SessionInfo


def facts(data: Mapping[str, Any], state: State) -> tuple[Event, ...]:
    """What a row of conversation tells that is new. Nearly always nothing, so that is found out first."""
    version = data.get("version")
    known = "started" in state and "cwd" in state and ("linked" in state or "parent" not in state)
    if known and version in (None, state.get("version")) and ("branch" in state or not data.get("gitBranch")):
        return ()
    news = {**_firsts(data, state), **_parent(data, state)}
    if string(version) is not None and version != state.get("version"):
        state["version"] = news["version"] = version
    return (SessionInfo(**news),) if news else ()


def title(name: object, rank: int, state: State) -> tuple[Event, ...]:
    """A title, if it is new and of no lower rank than the one the session has."""
    text = string(name)
    known_rank, known = state.get("title", (0, None))
    if text is None or digest(text) == known or rank < known_rank:
        return ()
    state["title"] = (rank, digest(text))
    return (SessionInfo(title=text),)


def _firsts(data: Mapping[str, Any], state: State) -> dict[str, Any]:
    """Facts of which the first one counts. In a fork that is a copied row's, so it begins when its origin did."""
    found = {
        "cwd": string(data.get("cwd")),
        "branch": string(data.get("gitBranch")),
        "started": millis(data.get("timestamp")),
    }
    news = {name: value for name, value in found.items() if value is not None and name not in state}
    state.update(news)
    return news


def _parent(data: Mapping[str, Any], state: State) -> dict[str, Any]:
    origin = string(mapping(data.get("forkedFrom")).get("sessionId"))
    if "linked" in state or ("parent" not in state and origin is None):
        return {}
    state["linked"] = True
    if "parent" in state:
        return {"parent": state["parent"], "parent_kind": "subagent"}
    return {"parent": origin, "parent_kind": "fork"}
