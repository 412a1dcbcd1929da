"""Codex CLI: rollout files of all generations, from bare lines (0.29 and before) to paginated histories.

The words of the human come from events, those of the model from response items; ``_codex_twins`` keeps each from being
said twice. A file belongs to the first ``session_meta`` in it. Compressed copies (``.zst``) and archived ones have the
same session and the same keys as the plain file, so reading both changes nothing. Thread names that stand only in
``session_index.jsonl`` are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_raw_rag.adapters import _codex_twins as twins
from agent_raw_rag.adapters import _codex_voices as voices
from agent_raw_rag.adapters._codex_events import EVENTS
from agent_raw_rag.adapters._codex_items import response_item
from agent_raw_rag.adapters._codex_session import header, session_meta, turn_context
from agent_raw_rag.adapters._codex_wiring import WIRING
from agent_raw_rag.adapters.base import Adapter, Root, State, millis, string
from agent_raw_rag.models import Event, Millis, Record, Shape, Source, Unknown

_PATTERNS = (
    "sessions/**/rollout-*.jsonl",
    "sessions/**/rollout-*.jsonl.zst",
    "archived_sessions/rollout-*.jsonl",
    "archived_sessions/rollout-*.jsonl.zst",
)
_NAME = re.compile(r"rollout-(.+?)\.jsonl(?:\.zst)?")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_IGNORED = frozenset(
    (
        "world_state",
        "token_usage_record",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "realtime_item",
        "retained_context",
        "rollout_reference",
    )
)


def roots(env: Mapping[str, str], home: str) -> tuple[Root, ...]:
    """``$CODEX_HOME``, else ``~/.codex``."""
    moved = env.get("CODEX_HOME", "")
    path = home + moved[1:] if moved.startswith("~/") else moved
    return (Root(path.rstrip("/") or f"{home}/.codex", _PATTERNS),)


def classify(root: Root, relative: str) -> Source | None:
    """A rollout. Names begin with the start's time, so in their order parents come before forks and a plain file before
    its compressed copy."""
    name = relative.rsplit("/", 1)[-1]
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    stem = found[1]
    uuid = _UUID.search(stem)
    session = uuid[0] if uuid else f"rollout-{stem}"
    return Source("codex", f"{root.path}/{relative}", root.path, Shape.LINES, session=session, order=name)


def start(source: Source) -> State:
    """Nothing is known but the id in the file's name."""
    return voices.begin(source.session or source.path.rsplit("/", 1)[-1])


def resume(session: str, path: str | None) -> tuple[str, ...]:
    """The command that goes on with a session."""
    return ("codex", "resume", session)


def parse(record: Record, state: State) -> list[Event]:
    """Events of one line."""
    data = record.data
    if "payload" not in data:
        return _bare(data, state)
    kind, payload, time = string(data.get("type")) or "", data["payload"], millis(data.get("timestamp"))
    handler = _HANDLERS.get(kind)
    if handler is None:
        return [] if kind in _IGNORED else [Unknown(kind[:80] or "line without type")]
    if not isinstance(payload, dict):
        return [*twins.release(state), Unknown(f"{kind} without payload")]
    return handler(payload, state, time)


def _bare(data: dict[str, Any], state: State) -> list[Event]:
    """A line of 0.29 or before: no wrapper, no events, a header without a type."""
    if "record_type" in data:
        return []
    time = millis(data.get("timestamp") or data.get("created_at"))
    if "type" in data:
        return response_item(data, state, time, bare=True)
    if string(data.get("role")):
        message = {**data, "type": "message", "content": data.get("content") or data.get("message")}
        return response_item(message, state, time, bare=True)
    return header(data, state) if string(data.get("id")) else [Unknown("line without type")]


def _event(payload: dict[str, Any], state: State, time: Millis | None) -> list[Event]:
    kind = string(payload.get("type")) or ""
    handler = EVENTS.get(kind)
    return handler(payload, state, time) if handler else [Unknown(f"event_msg/{kind}"[:80])]


def _compacted(payload: dict[str, Any], state: State, time: Millis | None) -> list[Event]:
    return twins.compacted(state, string(payload.get("message")) or "", time)


def _between_agents(payload: dict[str, Any], state: State, time: Millis | None) -> list[Event]:
    said = string(payload.get("content")) or ""
    return [*twins.release(state), *voices.order(state, said, string(payload.get("author")), time, None)]


_HANDLERS: dict[str, Callable[[dict[str, Any], State, Millis | None], list[Event]]] = {
    "response_item": response_item,
    "event_msg": _event,
    "session_meta": session_meta,
    "turn_context": turn_context,
    "compacted": _compacted,
    "inter_agent_communication": _between_agents,
}

ADAPTER = Adapter(
    agent="codex",
    title="Codex CLI",
    roots=roots,
    classify=classify,
    parse=parse,
    start=start,
    holds=("held",),
    folder=lambda folder: roots({"CODEX_HOME": folder}, ""),
    environment=("CODEX_HOME",),
    formats=(
        "bare lines (0.29 and before)",
        "legacy rollouts (0.34 to 0.150)",
        "paginated rollouts (0.151 and later)",
        "compressed (.jsonl.zst) and archived rollouts",
    ),
    resume=resume,
    wirings=(WIRING,),
)
