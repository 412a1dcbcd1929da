"""``POST /forget``: see what would be forgotten, then forget it for good."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import ALL_PROJECTS
from agent_raw_rag.runtime.reading import Reading
from agent_raw_rag.server.http.rest.operation import Call, Operation
from agent_raw_rag.server.http.rest.page_filters import Filters, Name

MOST_PREVIEW = 50


class ForgetAsked(Filters):
    """What is to be forgotten. A session goes with its sub-agents."""

    session: Name | None = Field(None, description="This session.")
    dry_run: bool = Field(True, description="Only say what would be forgotten.")
    reason: Annotated[str, Field(max_length=10_000)] | None = Field(None, description="Why; it stands in the journal.")


class Forgettable(TypedDict):
    """A session that the filters mean, or a part of it."""

    session: str
    title: str | None
    agent: str
    project: str | None
    started: str | None
    turns: int


class Forgot(TypedDict):
    """What was forgotten, or would be."""

    dry_run: bool
    sessions: int
    turns: int
    chunks: int
    shielded: int
    """Kept sessions that the filters mean too: they stay."""
    preview: list[Forgettable]
    """The sessions, at most 50."""


def forget(call: Call) -> Forgot:
    """Forget what the filters name, for good: text, vectors, index. Logs do not bring it back.

    Unless `dry_run` is false nothing is changed.
    """
    asked = call.asked(ForgetAsked)
    ask = asked.ask(session=asked.session)
    _check(ask)
    reading = Reading(call.runtime)
    if not reading.has_store:
        return {"dry_run": asked.dry_run, "sessions": 0, "turns": 0, "chunks": 0, "shielded": 0, "preview": []}
    scope = call.runtime.forget_scope(ask)
    chunks, sessions = reading.touched(scope, MOST_PREVIEW)
    done = call.runtime.forget(
        scope, dry_run=asked.dry_run, actor=call.actor, reason=asked.reason, target=ask.session or ask.project
    )
    preview: list[Forgettable] = [
        {"session": one.session, "title": one.title, "agent": one.agent, "project": one.project, "started": one.started,
         "turns": one.turns}
        for one in sessions
    ]  # fmt: skip
    return {
        "dry_run": asked.dry_run, "sessions": done.sessions, "turns": done.turns, "chunks": chunks, "shielded": done.shielded,
        "preview": preview,
    }  # fmt: skip


def _check(ask: Ask) -> None:
    """Raises BadArgumentError: nothing is named, and everything would be forgotten."""
    project = None if ask.project == ALL_PROJECTS else ask.project
    if not any((ask.session, ask.agent, project, ask.after, ask.before, ask.branch)):
        raise BadArgumentError("Forget what?", hint="Give a session, agent, project, after, before or branch.")


OPERATIONS = (Operation("POST", "/forget", "page", forget, Forgot, scope="admin", body=ForgetAsked, errors=(409,)),)
