"""Claude Code: one append-only file of JSON lines per session, from 1.0.x to 2.1.3xx.

Above: ``adapters.base`` and ``models``. Below: the registry. The rules sit in private modules: ``_claude_text`` (what
of a ``user`` row is human), ``_claude_blocks`` (content blocks, how calls ended), ``_claude_tree`` (rewinds, inline
sub-agents), ``_claude_queue`` (prompts typed while the model works) and ``_claude_facts``; ``_claude_user`` puts the
first ones together.

Keys: a ``user`` row has its ``uuid``, which a fork keeps. An ``assistant`` row has its API message's id with kind and content
of its first block, since a 1.0.x resume writes new uuids but keeps that id. A refusal's words have the call's id.

State (plain JSON): ``session``, ``sub`` (the file is a sub-agent's), ``begun`` and ``warmup`` (of a sub-agent), and what the
private modules list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from agent_raw_rag.adapters._claude_blocks import assistant_parts, part_mark
from agent_raw_rag.adapters._claude_facts import facts, title
from agent_raw_rag.adapters._claude_queue import model_spoke, queue_operation, queued_command
from agent_raw_rag.adapters._claude_text import WARMUP
from agent_raw_rag.adapters._claude_tree import go_on, inline_session, pass_over, trail_of_parent
from agent_raw_rag.adapters._claude_types import TITLES, is_ignored, kind_name
from agent_raw_rag.adapters._claude_user import Row, first_text, user_messages
from agent_raw_rag.adapters._claude_wiring import WIRING
from agent_raw_rag.adapters.base import Adapter, Retention, Root, State, digest, mapping, string
from agent_raw_rag.models import Event, Message, Record, Role, Shape, Source, Trail, Unknown

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COPIES = frozenset({"journal.jsonl", "resume-head.jsonl"})
_SIDE_FOLDERS = frozenset({"before-cleanup", "tool-results", "memory"})


# ---------------------------------------------------------------- where


def roots(env: Mapping[str, str], home: str) -> tuple[Root, ...]:
    """The ``projects`` folders: of ``CLAUDE_CONFIG_DIR`` (may be a comma-separated list), else of both usual places."""
    named = [name.strip() for name in env.get("CLAUDE_CONFIG_DIR", "").split(",") if name.strip()]
    folders = [home + name[1:] if name == "~" or name.startswith("~/") else name for name in named]
    folders = folders or [f"{home}/.claude", f"{home}/.config/claude"]
    return tuple(Root(f"{folder.rstrip('/')}/projects", ("**/*.jsonl",)) for folder in folders)


def classify(root: Root, path: str) -> Source | None:
    """A session, a sub-agent's session (``agent-*``, or below ``subagents/``), or neither: copies and side files."""
    *folders, name = path.split("/")
    if not name.endswith(".jsonl") or name in _COPIES or not _SIDE_FOLDERS.isdisjoint(folders[1:]):
        return None
    stem = name.removesuffix(".jsonl")
    where = f"{root.path}/{path}"
    parent = _folder_before_subagents(folders)
    if parent is not None:
        return Source("claude", where, root.path, Shape.LINES, "subagent", f"{parent}/{stem}", parent=parent, order="1")
    if stem.startswith("agent-"):
        return Source("claude", where, root.path, Shape.LINES, "agent-beside", order="1")
    return Source("claude", where, root.path, Shape.LINES, "session", stem, order="0")


def start(source: Source) -> State:
    """The state before a source's first record."""
    if source.variant == "session":
        return {"session": source.session}
    stem = source.path.rpartition("/")[2].removesuffix(".jsonl")
    state = {"session": source.session or stem, "sub": True}
    return {**state, "parent": source.parent} if source.parent else state


def _folder_before_subagents(folders: list[str]) -> str | None:
    place = folders.index("subagents") if "subagents" in folders else 0
    return folders[place - 1] if place else None


# ---------------------------------------------------------------- rows


def parse(record: Record, state: State) -> Iterable[Event]:
    """Events of one row."""
    data = record.data
    kind = data.get("type")
    row = _ROWS.get(kind) if isinstance(kind, str) else None
    if row is None:
        pass_over(data, state)
        return () if is_ignored(kind) else (Unknown(kind_name(kind)),)
    if state.get("sub") and not _is_wanted(data, state):
        return ()
    events = list(facts(data, state))
    row(data, state, events)
    return events


def _user(data: dict[str, Any], state: State, events: list[Event]) -> None:
    row = _row(data, state, events)
    _add([] if row is None else user_messages(row, state, events), data, state, events)


def _assistant(data: dict[str, Any], state: State, events: list[Event]) -> None:
    row = _row(data, state, events)
    message = mapping(data.get("message"))
    harness = data.get("isApiErrorMessage") or message.get("model") == "<synthetic>"
    parts = () if row is None or harness else assistant_parts(message.get("content"), events)
    model_spoke(state)
    if row is None or not parts:
        _add([], data, state, events)
        return
    group, mark = string(message.get("id")), part_mark(parts[0])
    key = f"{group}:{mark}" if group else row.unique_id or digest(row.uuid, state["session"], row.time, mark)
    _add([row.message(Role.ASSISTANT, key, parts, group=group)], data, state, events)


def _system(data: dict[str, Any], state: State, events: list[Event]) -> None:
    if data.get("subtype") == "compact_boundary":
        state["cut"] = string(data.get("logicalParentUuid"))
    _add([], data, state, events)


def _attachment(data: dict[str, Any], state: State, events: list[Event]) -> None:
    role = Role.TASK if state.get("sub") else Role.USER
    prompt = None if _is_inline(data, state) else queued_command(data, state, role, events)
    _add([] if prompt is None else [prompt], data, state, events, answers=False)


def _queue(data: dict[str, Any], state: State, events: list[Event]) -> None:
    events.extend(queue_operation(data, state))


def _title(data: dict[str, Any], state: State, events: list[Event]) -> None:
    field, rank = TITLES[data["type"]]
    events.extend(title(data.get(field), rank, state))


def _summary(data: dict[str, Any], state: State, events: list[Event]) -> None:
    leaf = string(data.get("leafUuid"))
    if leaf is not None and leaf in (state.get("leaf"), state.get("spoke")):  # else it is about another session
        events.extend(title(data.get("summary"), 0, state))


_ROWS: dict[str, Callable[[dict[str, Any], State, list[Event]], None]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
    "queue-operation": _queue,
    "summary": _summary,
    **dict.fromkeys(TITLES, _title),
}


# ---------------------------------------------------------------- around the rows


def _is_inline(data: Mapping[str, Any], state: State) -> bool:
    return bool(data.get("isSidechain")) and not state.get("sub")


def _row(data: dict[str, Any], state: State, events: list[Event]) -> Row | None:
    """The row with its session and speaker; None if it is of no interest."""
    if not _is_inline(data, state):
        return Row.of(data, None, Role.TASK if state.get("sub") else Role.USER)
    session, about = inline_session(data, state, warmup=_is_warmup(data))
    events.extend(about)
    return Row.of(data, session, Role.TASK) if session else None


def _is_warmup(data: dict[str, Any]) -> bool:
    return first_text(mapping(data.get("message")).get("content")) == WARMUP


def _add(
    messages: list[Message], data: dict[str, Any], state: State, events: list[Event], *, answers: bool = True
) -> None:
    """Add a row's messages, or, if it has none, its trail; the main chain goes on from it.

    ``answers``: the row is one that later prompts from the queue are anchored to, not such a prompt itself.
    """
    if _is_inline(data, state):
        events.extend(messages)
        return
    uuid = string(data.get("uuid"))
    if messages:
        events.extend((*trail_of_parent(data, state), *messages))
    elif uuid is not None:
        events.append(Trail(uuid))
    go_on(uuid, state, spoke=answers and bool(messages))


def _is_wanted(data: dict[str, Any], state: State) -> bool:
    """Whether a row of a sub-agent's file is; its first row of conversation tells, and whose sub-agent it is."""
    if "begun" in state:
        return "warmup" not in state
    if data["type"] not in ("user", "assistant"):
        return False
    state["begun"] = True
    parent, stem = string(data.get("sessionId")), state["session"]
    if "parent" not in state and parent is not None and parent != stem:
        state["session"], state["parent"] = f"{parent}/{stem}", parent
    if _is_warmup(data):
        state["warmup"] = True
    return "warmup" not in state


def _handed(source: Source, records: list[Record]) -> Source:
    """A session's file is called what the session is. One that a person renamed still says it, last in what it says itself:
    what was resumed stands before."""
    if source.variant != "session" or _UUID.fullmatch(source.session or ""):
        return source
    stated = [name for record in records if (name := string(record.data.get("sessionId")))]
    return replace(source, session=stated[-1]) if stated else source


def _resume(session: str, path: str | None) -> tuple[str, ...]:
    return ("claude", "--resume", session)


ADAPTER = Adapter(
    agent="claude",
    title="Claude Code",
    roots=roots,
    classify=classify,
    parse=parse,
    start=start,
    holds=("queue",),
    folder=lambda folder: roots({"CLAUDE_CONFIG_DIR": folder}, ""),
    environment=("CLAUDE_CONFIG_DIR",),
    formats=("1.0", "2.0", "2.1"),
    retention=Retention("../settings.json", "cleanupPeriodDays", 30),
    handed=_handed,
    resume=_resume,
    wirings=(WIRING,),
)
