"""OpenCode: one SQLite database for all sessions (1.2 and later), before that a tree of JSON files per session.

A message has no lasting id: a fork copies it under new ids, and the same session may lie in the JSON tree, in the old tables
and in the new ones. What all copies share is who spoke, the millisecond, and the prompt that led to it. So the key of a
prompt is made of its time and first paragraph, and the key of an answer's part of its time, the key of the prompt before
it, and its number among the texts, or its call id. Words that can still grow are no part of a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_raw_rag.adapters._opencode_arrange import arrange
from agent_raw_rag.adapters._opencode_items import Item, Said, new_items, new_prompt, old_items, old_prompt
from agent_raw_rag.adapters._opencode_speech import Speech
from agent_raw_rag.adapters._opencode_sql import FAMILIES
from agent_raw_rag.adapters._opencode_wiring import WIRING
from agent_raw_rag.adapters.base import Adapter, Root, State, mapping, millis, string
from agent_raw_rag.adapters.wiring import is_absolute
from agent_raw_rag.models import Event, Record, Role, Rollback, SessionInfo, Shape, Source, Text, Unknown

AGENT = "opencode"

DATABASES = "opencode*.db"
JSON_SESSIONS = (
    "storage/session/*/*.json",
    "project/*/storage/session/info/*.json",
    "global/storage/session/info/*.json",
)

IGNORED_ROWS = frozenset({"system", "skill", "agent-switched", "model-switched", "location-switched", "idle"})

_PLACEHOLDER = re.compile(r"(?:New|Child) session - \d{4}-")
_NATIVE_ID = re.compile(r"ses_[0-9A-Za-z]+")


# ---------------------------------------------------------------- where


def roots(environment: Mapping[str, str], home: str) -> tuple[Root, ...]:
    """The data folder, and the folder of a database that the environment points to."""
    share = environment.get("XDG_DATA_HOME") or f"{home}/.local/share"
    named = environment.get("OPENCODE_DB", "")
    if is_absolute(named):
        parent, _, name = (named if named.startswith("/") else named.replace("\\", "/")).rpartition("/")
        return *folder(f"{share}/opencode"), Root(parent or "/", (name,))
    more = (named,) if named and named != ":memory:" else ()
    return folder(f"{share}/opencode", more)


def folder(path: str, databases: tuple[str, ...] = ()) -> tuple[Root, ...]:
    """A data folder, wherever it lies, with the databases whose names do not tell what they are."""
    return (Root(path, (DATABASES, *databases, *JSON_SESSIONS)),)


def classify(root: Root, path: str) -> Source | None:
    """A database, or the JSON file that holds a session's facts."""
    parts = path.split("/")
    if path in root.patterns or (len(parts) == 1 and path.startswith("opencode") and path.endswith(".db")):
        return Source(AGENT, f"{root.path}/{path}", root.path, Shape.DATABASE, order="0")
    name = parts[-1].removesuffix(".json")
    if name == parts[-1]:
        return None
    members = _members(parts, name)
    if members is None:
        return None
    return Source(AGENT, f"{root.path}/{path}", root.path, Shape.DOCUMENT, session=name, members=members, order="1")


def _members(parts: list[str], session: str) -> tuple[str, ...] | None:
    if parts[:2] == ["storage", "session"] and len(parts) == 4:
        if _NATIVE_ID.fullmatch(session):
            return f"storage/message/{session}/*.json", "storage/part/{stem}/*.json"
        # Not written by OpenCode itself: file names need not be ids, so all parts are looked at.
        bare = session.removeprefix("ses_")
        folders = dict.fromkeys((session, bare))
        return (*(f"storage/message/{name}/*.json" for name in folders), "storage/part/*/*.json", "storage/part/*.json")
    base = "/".join(parts[:-2])
    if base.endswith("storage/session") and parts[-2] == "info":
        return f"{base}/message/{session}/*.json", f"{base}/part/{session}/{{stem}}/*.json"
    return None


def start(source: Source) -> State:
    """Nothing was said yet."""
    return {
        "session": source.session,
        "version": None,
        "cwd": None,
        "task": False,  # the session is a sub-agent's: who asks is another agent
        "prompt": "",  # key of the last prompt
        "compaction": None,  # id and time of the last request to compact, and whether its summary was told
        "command": False,  # the next answer is a command that the human ran
    }


# ---------------------------------------------------------------- records


def parse(record: Record, state: State) -> Iterable[Event]:
    """Events of one arranged record."""
    piece = record.data
    state["session"] = string(piece.get("session")) or state["session"]
    match piece.get("kind"):
        case "session":
            return _session(piece, state)
        case "message":
            return _old_message(Speech(piece, state))
        case "row":
            return _new_row(Speech(piece, state))
        case "revert":
            return (Rollback(from_record=string(piece.get("from"))),)
    return ()


def _session(piece: dict[str, Any], state: State) -> Iterator[Event]:
    parent, fork, title = string(piece.get("parent")), string(piece.get("fork")), string(piece.get("title"))
    cwd, version = string(piece.get("cwd")), string(piece.get("version"))
    state.update(version=version, task=parent is not None, cwd=cwd)
    yield SessionInfo(
        session=state["session"],
        cwd=cwd,
        title=None if title is None or _PLACEHOLDER.match(title) else title,
        version=version,
        started=millis(piece.get("started")),
        parent=parent or fork,
        parent_kind="subagent" if parent else "fork" if fork else None,
    )


def _old_message(speech: Speech) -> Iterator[Event]:
    if speech.kind == "user":
        return _old_user(speech)
    if speech.kind == "assistant":
        return _old_answer(speech)
    return iter((Unknown(f"message {speech.kind}"),))


def _old_user(speech: Speech) -> Iterator[Event]:
    parts = [mapping(part) for part in speech.parts]
    if any(part.get("type") == "compaction" for part in parts):
        speech.state["compaction"] = [speech.id, speech.time, False]
    speech.note_command("\n\n".join(str(part.get("text")) for part in parts if part.get("synthetic")))
    yield from speech.prompt(old_prompt(parts))
    for part in parts:
        words = string(part.get("prompt"))
        if part.get("type") == "subtask" and words:
            yield speech.message(Role.TASK, (Text(words),), "subtask", words)


def _old_answer(speech: Speech) -> Iterator[Event]:
    cwd = string(mapping(speech.info.get("path")).get("cwd"))
    if cwd and not speech.state["cwd"]:
        # Before 1.0 a session's facts do not tell its folder, but each answer does.
        speech.state["cwd"] = cwd
        yield SessionInfo(session=speech.state["session"], cwd=cwd)
    items = old_items(speech.parts, speech.id)
    yield from _old_summary(speech, items) if speech.info.get("summary") is True else speech.answer(items)


def _old_summary(speech: Speech, items: Iterable[Item]) -> Iterator[Event]:
    """The second half of a compaction. It stands for the moment when the compaction was asked for."""
    texts = [item.text for item in items if isinstance(item, Said) and not item.hidden]
    done = mapping(speech.info.get("time")).get("completed") is not None and not speech.info.get("error")
    request, at, told = speech.state["compaction"] or (None, None, False)
    if request != speech.info.get("parentID"):
        at, told = speech.time, False
    if texts and done and not told:
        yield speech.summary("\n\n".join(texts), at)


def _new_row(speech: Speech) -> Iterator[Event]:
    info = speech.info
    match speech.kind:
        case "user":
            yield from speech.prompt(new_prompt(info))
        case "assistant":
            yield from speech.answer(new_items(info.get("content"), speech.id, speech.unfinished))
        case "synthetic":
            speech.note_command(info.get("text"))
        case "shell":
            yield from speech.command(info.get("command"), info.get("exit"), info.get("status"))
        case "compaction":
            summary = string(info.get("summary")) if info.get("status") == "completed" else None
            speech.state["compaction"] = [speech.id, speech.time, summary is not None]
            if summary:
                yield speech.summary(summary, speech.time)
        case kind if kind not in IGNORED_ROWS:
            yield Unknown(f"row {kind}")


ADAPTER = Adapter(
    agent=AGENT,
    title="OpenCode",
    roots=roots,
    classify=classify,
    parse=parse,
    start=start,
    environment=("OPENCODE_DB", "XDG_DATA_HOME"),
    formats=(
        "SQLite, 2.x tables (session_v2, session_message)",
        "SQLite, 1.2 to 1.19 tables (session, message, part)",
        "JSON tree of 0.6 to 1.1",
        "JSON tree per project, up to 0.5",
    ),
    arrange=arrange,
    families=FAMILIES,
    folder=folder,
    resume=lambda session, path: ("opencode", "--session", session),
    wirings=(WIRING,),
)
