"""MCP behind the guard: the memory tools of the space that a request names, as far as its token's scopes go.

Space and token are read from the request of each single call. What is kept between requests belongs to no space.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, InputRequiredResult

from agent_raw_rag import __version__
from agent_raw_rag.errors import ForbiddenError, RawRagError
from agent_raw_rag.models import Actor
from agent_raw_rag.server.app import HistoryServer
from agent_raw_rag.server.http.guard import Witness
from agent_raw_rag.server.http.scopes import HOME_ONLY, KNOW_NO_STORE, QUICK_READS, TELL_OF_HOME, TOOL_SCOPES
from agent_raw_rag.server.http.visit import Visit, visit_of
from agent_raw_rag.server.refusals import error_result
from agent_raw_rag.store.homes import DEFAULT_SPACE

if TYPE_CHECKING:
    from mcp.server.mcpserver.tools import Tool

    from agent_raw_rag.runtime import Runtime

READERS = 4
"""Quick reads at once. They compute and never wait, so that more of them would only be in each other's way."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where a call works, and for whom."""

    runtime: Runtime
    """Of the space."""
    actor: Actor


_here: ContextVar[Here] = ContextVar("here")


def here() -> Here:
    """Of the call that is being answered. Set at the beginning of each, and seen by its worker thread."""
    return _here.get()


class MemoryServer(HistoryServer):
    """An MCP server whose calls each say by their request who asks and in which space."""

    def __init__(
        self, runtime: Runtime, witness: Witness, tools: list[Tool], instructions: str, wrote: Callable[[], None]
    ) -> None:
        super().__init__(
            "raw-rag-memory", title="Raw RAG memory", version=__version__, instructions=instructions,
            log_level="WARNING", tools=tools, subscriptions=False,
        )  # fmt: skip
        # Nobody is told what is asked here, and each span that nobody sees would be paid for.
        self.middleware[:] = [one for one in self.middleware if type(one).__name__ != "OpenTelemetryMiddleware"]
        self._runtime = runtime
        self._witness = witness
        self._wrote = wrote
        self._reading = anyio.CapacityLimiter(READERS)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[dict[str, Any], Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, if the token allows it.

        Raises:
            ToolError: the call is refused; the message says why and what to do.
        """
        assert context is not None
        request = context.request_context.request
        assert request is not None  # no other transport leads here
        visit = visit_of(request.scope)
        refused = self._refusal(name, visit)
        if refused is not None:
            return error_result(refused)
        _, space = visit.admitted()
        runtime = self._runtime.in_space(space)
        if name not in KNOW_NO_STORE and not runtime.memory.store.exists():
            await anyio.to_thread.run_sync(_make_store, runtime)
        token = _here.set(Here(runtime, visit.actor))
        try:
            if name not in QUICK_READS:
                return await super().call_tool(name, arguments, context)
            async with self._reading:
                return await super().call_tool(name, arguments, context)
        finally:
            _here.reset(token)
            if TOOL_SCOPES.get(name) != "read":
                self._wrote()

    def _refusal(self, name: str, visit: Visit) -> RawRagError | None:
        """Why a call is not made; None: it is. A tool that is not offered is unknown, whatever the token."""
        if self._tool_input_schema(name) is None:
            return None
        visit.tool = name
        bearer, space = visit.admitted()
        scope = TOOL_SCOPES.get(name, "admin")
        if scope not in bearer.scopes:
            self._witness.denied(visit.actor, space, "scope", name, time.time_ns() // 1_000_000)
            return ForbiddenError(
                f"The token lacks the scope {scope!r}.", hint="`raw-rag token create --scope` gives it."
            )
        if name in HOME_ONLY and space != DEFAULT_SPACE:
            return ForbiddenError("The agents' logs are read into the space 'default' only.")
        if name in TELL_OF_HOME and not bearer.opens(DEFAULT_SPACE):
            return ForbiddenError(
                "The status tells of the whole home, and this token does not open the space 'default'."
            )
        return None


def _make_store(runtime: Runtime) -> None:
    """An empty one: to whoever asks over a network, a space without one is a space that holds nothing."""
    with runtime.memory.store.write():
        pass
