"""``POST /login``, ``POST /logout``, ``GET /me``: how the page comes by its token, and what it may do with it."""

from __future__ import annotations

import time

from typing_extensions import TypedDict

from agent_raw_rag import __version__
from agent_raw_rag.errors import UnauthorizedError
from agent_raw_rag.memory.results import stamp
from agent_raw_rag.server.http.rest.operation import Call, Operation
from agent_raw_rag.server.http.scopes import CHAT
from agent_raw_rag.store.tokens import LOGIN


class LoggedIn(TypedDict):
    """A token, shown this once."""

    token: str
    label: str
    expires: str | None
    scopes: list[str]
    spaces: list[str]


class LoggedOut(TypedDict):
    """The token is taken no longer."""

    revoked: bool


class Me(TypedDict):
    """Whose token it is, and what it opens."""

    label: str
    scopes: list[str]
    spaces: list[str]
    """The enabled ones that it opens."""
    space: str | None
    """The one that is meant where a request names none."""
    expires: str | None
    version: str
    chat: bool
    """Whether a model is configured to talk to. Which, a token of the scope `chat` is told."""
    model: str | None
    models: list[str]


def login(call: Call) -> LoggedIn:
    """Exchange the one-time code of a link, which is sent as the token, for a token that lives for some hours."""
    if call.bearer.number is None:
        raise UnauthorizedError("This token is no one-time code.")
    made = call.ground.runtime.logins.exchange(call.bearer.number, actor=call.actor, now=_now())
    return {
        "token": made.secret, "label": made.token.label, "expires": made.token.expires,
        "scopes": list(made.token.scopes), "spaces": list(made.token.spaces),
    }  # fmt: skip


def logout(call: Call) -> LoggedOut:
    """End the token that is shown, if it is one that a link made."""
    call.ground.runtime.logins.end(call.bearer.number, actor=call.actor, now=_now())
    return {"revoked": True}


def me(call: Call) -> Me:
    """Whose token is shown, and what it opens."""
    bearer, llm, home = call.bearer, call.ground.runtime.settings.llm, call.ground.runtime
    spaces = [item.space for item in home.spaces_registry.items() if item.enabled and bearer.opens(item.space)]
    model = llm.model or None if CHAT in bearer.scopes else None
    return {
        "label": bearer.label, "scopes": list(bearer.scopes), "spaces": spaces,
        "space": call.space or None, "expires": stamp(bearer.expires), "version": __version__,
        "chat": llm.is_set_up, "model": model, "models": [model] if model else [],
    }  # fmt: skip


def _now() -> int:
    return time.time_ns() // 1_000_000


OPERATIONS = (
    Operation("POST", "/login", "page", login, LoggedIn, scope=LOGIN, needs_space=False),
    Operation("POST", "/logout", "page", logout, LoggedOut, scope=None, needs_space=False),
    Operation("GET", "/me", "page", me, Me, scope=None, needs_space=False),
)
