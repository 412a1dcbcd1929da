"""Oh My Pi and pi: one session format, three generations of it (the first without entry ids), two sets of folders.

Copies collapse by what an entry says and when: forks and clones keep ids and times, the migration of a first-generation
file keeps times only. A session folder set in pi's ``settings.json`` is not looked up: adapters read no files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent_raw_rag.adapters._omp_entries import ENTRIES, IGNORED
from agent_raw_rag.adapters._omp_session import stamped_id
from agent_raw_rag.adapters._omp_wiring import OMP, PI, resume
from agent_raw_rag.adapters.base import Adapter, Root, State, string
from agent_raw_rag.adapters.wiring import is_absolute
from agent_raw_rag.models import Event, Message, Record, Shape, Source, Trail, Unknown

SUBAGENT = "subagent"
_SESSIONS = ("sessions/**/*.jsonl",)
_ALL = ("**/*.jsonl",)
_BESIDE = re.compile(r"\.lock\b|\.bak\b|^history\.jsonl$")


def roots(env: Mapping[str, str], home: str) -> tuple[Root, ...]:
    """The agent folders of both programs, all profiles of the first, and its folder under ``$XDG_DATA_HOME``."""

    def moved(name: str) -> str:
        path = env.get(name, "").rstrip("/")
        return home + path[1:] if path == "~" or path.startswith("~/") else path

    agent, config, sessions = moved("PI_CODING_AGENT_DIR"), moved("PI_CONFIG_DIR"), moved("PI_CODING_AGENT_SESSION_DIR")
    dot = config if is_absolute(config) else f"{home}/{config or '.omp'}"
    profiles = ("agent/sessions/**/*.jsonl", "profiles/*/agent/sessions/**/*.jsonl")
    found = [
        Root(agent, _SESSIONS) if agent else Root(dot, profiles),
        Root(f"{moved('XDG_DATA_HOME') or f'{home}/.local/share'}/omp/sessions", _ALL),
        Root(sessions, _ALL) if sessions else Root(agent or f"{home}/.pi/agent", _SESSIONS),
    ]
    return tuple(dict.fromkeys(found))


def classify(root: Root, relative: str) -> Source | None:
    """A session file. One inside a folder that has a session file's stem as its name belongs to a sub-agent of that
    session."""
    *folders, name = relative.split("/")
    if not name.endswith(".jsonl") or _BESIDE.search(name):
        return None
    stem, path = name.removesuffix(".jsonl"), f"{root.path}/{relative}"
    for depth, folder in enumerate(folders):
        parent = stamped_id(folder)
        if parent is not None:
            order = "/".join([*folders[depth:], name])
            session = "/".join([parent, *folders[depth + 1 :], stem])
            return Source("omp", path, root.path, Shape.LINES, SUBAGENT, session, parent, order=order)
    return Source("omp", path, root.path, Shape.LINES, session=stamped_id(stem) or stem, order=name)


def start(source: Source) -> State:
    """Nothing is known but what the path tells."""
    return {
        "session": source.session or source.path,
        "parent": source.parent,
        "task": source.variant == SUBAGENT,
        "last": None,
        "jump": None,
    }


def parse(record: Record, state: State) -> list[Event]:
    """Events of one entry. An entry with an id that says nothing still leaves a trail: others may name it as parent."""
    data = record.data
    kind, entry = string(data.get("type")) or "", string(data.get("id"))
    handler = ENTRIES.get(kind)
    if handler is not None and kind in ("title", "session"):
        return handler(data, state)
    if entry is not None:
        _step(entry, string(data.get("parentId")), state)
    if handler is None:
        events: list[Event] = [] if kind in IGNORED else [Unknown(kind[:80] or "line without type")]
    else:
        events = handler(data, state)
    if entry is not None and not any(isinstance(event, Message) for event in events):
        events.append(Trail(entry))
    return events


def _step(entry: str, parent: str | None, state: State) -> None:
    """Follow the tree: an entry that does not continue the one before it begins a branch."""
    if parent is not None and state["last"] is not None and parent not in (state["last"], entry):
        state["jump"] = parent
    state["last"] = entry


ADAPTER = Adapter(
    agent="omp",
    title="Oh My Pi / pi",
    roots=roots,
    classify=classify,
    parse=parse,
    start=start,
    folder=lambda folder: (Root(folder.rstrip("/"), _SESSIONS),),
    environment=("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_CONFIG_DIR", "XDG_DATA_HOME"),
    formats=("pi 1 (no entry ids)", "pi 2 and 3 (tree of entries)", "omp 3 and later (title slot)"),
    resume=resume,
    wirings=(OMP, PI),
)
