"""``POST /chat``: a question to the model of the settings with this memory, and its answer as it comes. ``GET /models``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated, Any

import anyio
from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.errors import RawRagError
from agent_raw_rag.gateway.conversation import Question
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime.chat import not_set_up
from agent_raw_rag.server.http import refusals
from agent_raw_rag.server.http.guard import App, Receive, Scope, Send
from agent_raw_rag.server.http.leaving import until_left
from agent_raw_rag.server.http.rest.answering import body_of, query_of
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation, Reply
from agent_raw_rag.server.http.routes import Ground
from agent_raw_rag.server.http.visit import visit_of

STREAM_HEADERS = {"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}
_log = logging.getLogger(NAME)


class ChatForm(Form):
    """A question."""

    message: Annotated[str, Field(min_length=1)]
    session_id: str | None = None
    """Goes on with a chat; null: a new one."""
    model: str | None = None
    """null: the configured one."""
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds; then what came is all. null, or more than `llm.timeout_seconds`: that."""


class Models(TypedDict):
    """What can be asked."""

    models: list[str]
    model: str
    """The one that is asked where a question names none."""


def chat(call: Call) -> None:
    """Ask the configured model a question, with what is remembered about it. Both sides are stored.

    The answer is an event stream, each frame `data: ` and one JSON object: `{"token": "…"}` for each piece of the answer, then
    `{"done": true, "session_id", "model", "memories_used", "captured", "partial"}`; or `{"error": {"code", "message", "hint"}}`
    where the model's server broke off. The session stands in the header X-Session-Id, too, which comes as soon as the model's
    server takes the question. What fails before that has a status: 502 if the model's server refuses or is not there, 504 if it
    cannot be connected to, 503 if none is set."""
    raise AssertionError("it is answered in pieces")


def chat_models(call: Call) -> Models:
    """The models that the configured server offers."""
    room = call.runtime.chat
    return {"models": anyio.run(room.asking.models), "model": room.model}


def _app(ground: Ground) -> App:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        visit = visit_of(scope)
        bearer, space = visit.admitted()
        room = ground.runtime.in_space(space).chat
        if not room.is_set_up:
            raise refusals.of_error(not_set_up(ground.runtime.settings))
        query_of(None, scope["query_string"])
        asked = await body_of(ChatForm, receive)
        assert isinstance(asked, ChatForm)
        question = Question(
            asked.message, visit.actor, asked.session_id, asked.model, asked.timeout_s, author=bearer.label
        )  # fmt: skip
        telling = _Telling(send)
        failed: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until_left, receive, tasks.cancel_scope)
            try:
                given = await room.conversation.ask(question, telling)
                await telling.end({"done": True, **{k: v for k, v in given.as_json().items() if k != "text"}})
            except Exception as error:  # raised below: the group would wrap it
                failed = error
            tasks.cancel_scope.cancel()
        ground.wrote()
        if failed is not None:
            await telling.fail(failed)

    return answer


class _Telling:
    """The event stream. It begins when the model's server takes the question, maybe long before the first words: its headers name
    the session. What fails before that has a status that says so."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._session = ""
        self._open = False

    async def begun(self, session: str) -> None:
        self._session = session

    async def accepted(self) -> None:
        await self._begin()

    async def words(self, text: str) -> None:
        await self._frame({"token": text})

    async def end(self, told: Mapping[str, Any]) -> None:
        await self._frame(told)
        await self._send({"type": "http.response.body", "body": b""})

    async def fail(self, error: Exception) -> None:
        """Say that the rest does not come. Raises it, if nothing came yet."""
        if not self._open:
            if isinstance(error, RawRagError):
                told = refusals.of_error(error)
                told.headers.update(self._named())
                raise told
            raise error
        known = error if isinstance(error, RawRagError) else None
        if known is None:
            _log.error("a chat failed: %s", type(error).__name__)
        await self.end({"error": known.as_json() if known else refusals.of_bug(error).body})

    async def _begin(self) -> None:
        if self._open:
            return
        self._open = True
        headers = {**STREAM_HEADERS, **self._named()}
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": encoded})

    async def _frame(self, told: Mapping[str, Any]) -> None:
        await self._begin()
        frame = b"data: " + refusals.rendered(told) + b"\n\n"
        await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    def _named(self) -> dict[str, str]:
        """The session's header; none for a name that no header can hold."""
        return {"x-session-id": self._session} if self._session.isascii() and self._session else {}


OPERATIONS = (
    Operation(
        "POST",
        "/chat",
        "chat",
        chat,
        Reply,
        scope="chat",
        body=ChatForm,
        errors=(502, 504),
        media=("text/event-stream",),
        app=_app,
    ),
    Operation("GET", "/models", "chat", chat_models, Models, scope="chat", errors=(502, 504)),
)
