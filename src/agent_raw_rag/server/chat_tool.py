"""The tool ``chat``: a question to the model of the settings, with this memory. It waits in the event loop: nobody else waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BeforeValidator, Field, WithJsonSchema
from typing_extensions import TypedDict

from agent_raw_rag.errors import RawRagError
from agent_raw_rag.models import Actor
from agent_raw_rag.server.making import answer, tool_of
from agent_raw_rag.server.tools import Words, absent

if TYPE_CHECKING:
    from agent_raw_rag.gateway.conversation import Answered
    from agent_raw_rag.runtime.chat import Chat

EVERY_SECONDS = 5.0
ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
Seconds = Annotated[float | None, BeforeValidator(absent), WithJsonSchema({"type": "number"})]


class Chatted(TypedDict):
    """partial: the end of text is missing."""

    text: str
    session_id: str
    model: str
    memories_used: list[str]
    captured: bool
    partial: bool


@dataclass(frozen=True)
class ChatTool:
    """The tool over the chats of whichever space a call works in."""

    chat_of: Callable[[Context], Chat]
    actor_of: Callable[[Context], Actor]
    every_seconds: float = EVERY_SECONDS
    """Between two notices of progress."""

    async def chat(
        self, message: Annotated[str, Field(description="What to ask, complete by itself")], context: Context,
        session_id: Annotated[Words, Field(description="Goes on with a chat; default: a new one")] = None,
        model: Annotated[Words, Field(description="Default: the configured one")] = None,
        timeout_s: Annotated[Seconds, Field(description="Seconds; then what came is given, as partial")] = None,
    ) -> Annotated[CallToolResult, Chatted]:  # fmt: skip
        """Ask another model, which knows this memory. Both sides are recorded. Gives the whole answer, or with partial: true what
        came in time; session_id goes on."""
        from agent_raw_rag.gateway.conversation import Question, Quiet

        actor = self.actor_of(context)
        question = Question(message, actor, session_id, model, timeout_s, author=actor.name)
        conversation, notices = self.chat_of(context).conversation, _Notices(context, self.every_seconds)
        given: Answered | RawRagError
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(notices.run)
            try:
                given = await conversation.ask(question, Quiet(notices.begun, notices.words))
            except RawRagError as error:  # raised below: the group would wrap it
                given = error
            tasks.cancel_scope.cancel()
        if isinstance(given, RawRagError):
            raise given
        return answer(_told(given), given.as_json())


class _Notices:
    """Tells a client that asked for it how far an answer is: once when it begins, then every few seconds."""

    def __init__(self, context: Context, every_seconds: float) -> None:
        self._context = context
        self._every = every_seconds
        self._chars = 0
        self._told = 0

    async def begun(self, session: str) -> None:
        await self._tell(f"session {session}")

    async def words(self, text: str) -> None:
        self._chars += len(text)

    async def run(self) -> None:
        while True:
            await anyio.sleep(self._every)
            await self._tell(f"{self._chars} characters so far")

    async def _tell(self, message: str) -> None:
        self._told += 1
        try:
            await self._context.report_progress(float(self._told), None, message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # nobody listens any more: the answer is stored all the same


def chat_tool(
    chat_of: Callable[[Context], Chat], actor_of: Callable[[Context], Actor], *, every_seconds: float = EVERY_SECONDS
) -> Tool:
    """The tool. It is offered only where a model is set up.

    Args:
        chat_of: The chats of the space that a call works in.
        actor_of: Who calls.
        every_seconds: Between two notices of progress.
    """
    return tool_of(ChatTool(chat_of, actor_of, every_seconds).chat, "Ask a model with this memory", ASKS)


def _told(given: Answered) -> str:
    cut = "No more came in time. " if given.partial else ""
    return f"{given.text}\n\n({cut}session_id: {given.session_id})".lstrip()
