"""The tree in a Claude Code log: which record follows which, where the human went back, which rows are a sub-agent's.

Rows name their parent by ``uuid``. A rewind leaves the abandoned rows in the file and goes on from an older parent; since
parallel tool calls do the same, only a human prompt that does so is a rewind. Up to 1.0.x sub-agents stand inline, as
chains of ``isSidechain`` rows of their own, often several at a time.

State: ``leaf`` last row of the main chain, ``spoke`` last one that gave a message, ``cut`` last one before a compaction,
``quiet`` true while the leaf is on no turn's trail; ``chains`` the recent inline sub-agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_raw_rag.adapters.base import State, digest, millis, string
from agent_raw_rag.models import Event, SessionInfo, Trail

MAX_CHAINS = 8
"""Inline sub-agents that are remembered at a time; Claude Code runs at most ten, and nearly always fewer, at once."""
MAX_TIPS = 4
"""Rows of one inline sub-agent that are remembered: parallel calls are answered with an older parent than the last."""


def pass_over(data: Mapping[str, Any], state: State) -> None:
    """Note a row that is not conversation. It is put on a trail only if a message names it as parent: there are many."""
    uuid = data.get("uuid")
    if isinstance(uuid, str) and not data.get("isSidechain"):
        state["leaf"] = uuid
        state["quiet"] = True


def trail_of_parent(data: Mapping[str, Any], state: State) -> tuple[Event, ...]:
    """The trail event that is owed for this row's parent."""
    parent = data.get("parentUuid")
    return (Trail(parent),) if state.get("quiet") and isinstance(parent, str) and parent == state["leaf"] else ()


def go_on(uuid: str | None, state: State, *, spoke: bool) -> None:
    """Make a row the leaf of the main chain."""
    if uuid is None:
        return
    state["leaf"] = uuid
    state["quiet"] = False
    if spoke:
        state["spoke"] = uuid


def branch_from(data: Mapping[str, Any], state: State) -> str | None:
    """The parent of a human prompt, if it is not the place where the conversation stood: a rewind."""
    parent = string(data.get("parentUuid"))
    here = (state.get("leaf"), state.get("spoke"), state.get("cut"))
    return parent if parent is not None and here[0] is not None and parent not in here else None


def inline_session(data: Mapping[str, Any], state: State, *, warmup: bool) -> tuple[str, tuple[Event, ...]]:
    """The session of an inline sub-agent's row, "" for one that only warms up the cache; and what to tell about it."""
    uuid, parent = string(data.get("uuid")), string(data.get("parentUuid"))
    chains = tuple(state.get("chains", ()))
    known = next((chain for chain in reversed(chains) if parent is not None and parent in chain[1]), None)
    name, tips = known if known else ("" if warmup else uuid or digest(data.get("timestamp")), ())
    chain = (name, (*tips, uuid)[-MAX_TIPS:])
    state["chains"] = (*(other for other in chains if other is not known), chain)[-MAX_CHAINS:]
    session = f"{state['session']}/sidechain-{name}" if name else ""
    return session, () if known or not name else (_about(session, data, state),)


def _about(session: str, data: Mapping[str, Any], state: State) -> SessionInfo:
    return SessionInfo(
        session,
        cwd=string(data.get("cwd")),
        branch=string(data.get("gitBranch")),
        version=string(data.get("version")),
        started=millis(data.get("timestamp")),
        parent=state["session"],
        parent_kind="subagent",
    )
