"""``GET /sessions`` and what is below it: a session's turns, its family, and the whole of it as a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.runtime.reading import Reading
from agent_raw_rag.search.browse import SessionItem
from agent_raw_rag.server.http.rest.cursor import decode, encode
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation, Reply
from agent_raw_rag.server.http.rest.page_export import FORMS, file_name
from agent_raw_rag.server.http.rest.page_filters import Filters, Paged
from agent_raw_rag.store.overview import Place

NEVER = -(1 << 62)
"""In a cursor: the last session had no time."""


class SessionsAsked(Filters, Paged):
    """Which sessions."""


class TurnsAsked(Form):
    """Which turns."""

    first: Annotated[int, Field(ge=1, le=1 << 40, alias="from", description="The number of the first one.")] = 1
    limit: Annotated[int, Field(ge=1, le=500)] = Field(200, description="So many at most.")


class ExportAsked(Form):
    """As what."""

    form: Literal["md", "html", "json"] = Field("md", description="Markdown, a page that needs nothing else, or JSON.")


class Sessions(TypedDict):
    """Sessions, the one last spoken in first."""

    sessions: list[SessionItem]
    next: str | None


class Turn(TypedDict):
    """A turn: what was said, and the actions that followed it."""

    turn: int
    event_id: str
    exchange: int
    role: str
    time: str | None
    text: str
    actions: list[str]
    abandoned: bool
    partial: bool
    branch_from: int | None
    record_ids: list[str]


class Turns(TypedDict):
    """Some turns of a session, in their order."""

    session: SessionItem
    turns: list[Turn]
    next: int | None
    """The number of the turn that the next page begins with."""


class Node(TypedDict):
    """A session of a family."""

    session: str
    parent: str | None
    kind: str | None
    title: str | None
    agent: str
    started: str | None
    turns: int


class Branch(TypedDict):
    """Turns of a session that follow each other on one branch."""

    branch_from: int | None
    first_turn: int
    last_turn: int
    abandoned: bool


class Tree(TypedDict):
    """A family of sessions, each after its parent."""

    root: str
    nodes: list[Node]
    complete: bool
    branches: list[Branch]


def sessions(call: Call) -> dict[str, Any]:
    """List sessions, the one last spoken in first."""
    asked = call.asked(SessionsAsked)
    items, following = Reading(call.runtime).sessions(asked.ask(), asked.limit, _place(asked))
    return {"sessions": [asdict(item) for item in items], "next": _next(following, asked)}


def session_turns(call: Call) -> dict[str, Any]:
    """The turns of a session from a number on, what was done apart from what was said."""
    asked = call.asked(TurnsAsked)
    page = Reading(call.runtime).turns(call.path["session"], asked.first, asked.limit)
    return {"session": asdict(page.session), "turns": page.turns, "next": page.next}


def session_tree(call: Call) -> dict[str, Any]:
    """The whole family of a session: what it was started from, sub-agents, forks; and its own branches."""
    return Reading(call.runtime).tree(call.path["session"])


def session_export(call: Call) -> Reply:
    """A whole session as a file."""
    asked, reading, name = call.asked(ExportAsked), Reading(call.runtime), call.path["session"]
    item = reading.turns(name, 1, 1).session  # it is there, or this says so before anything is sent
    form = FORMS[asked.form]
    content = (piece.encode("utf-8", "replace") for piece in form.pieces(item, reading.all_turns(item.session)))
    headers = {"content-disposition": f'attachment; filename="{file_name(item.session)}.{asked.form}"'}
    return Reply(content, form.media_type, headers)


def _next(following: Place | None, asked: Paged) -> str | None:
    if following is None:
        return None
    return encode([NEVER if following.last is None else following.last, following.session], asked)


def _place(asked: Paged) -> Place | None:
    if not asked.cursor:
        return None
    last, session = decode(asked.cursor, (int, int), asked)
    return Place(None if last == NEVER else int(last), int(session))


OPERATIONS = (
    Operation("GET", "/sessions", "page", sessions, Sessions, query=SessionsAsked),
    Operation("GET", "/sessions/{session}", "page", session_turns, Turns, query=TurnsAsked),
    Operation("GET", "/sessions/{session}/tree", "page", session_tree, Tree),
    Operation(
        "GET", "/sessions/{session}/export", "page", session_export, Reply, query=ExportAsked,
        media=tuple(form.media_type for form in FORMS.values()),
    ),
)  # fmt: skip
