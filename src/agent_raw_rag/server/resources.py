"""What a client can attach by address: a session, and a project's last turns. And what completes their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resources.templates import ResourceSecurity
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from agent_raw_rag.adapters.registry import BUILT_IN
from agent_raw_rag.models import DOORS, Ask
from agent_raw_rag.server.refusals import refused_as_protocol_error
from agent_raw_rag.server.text import turns_text
from agent_raw_rag.server.tools import Tools, place

SESSION_TURNS = 1000
SESSION_TOKENS = 24_000
"""Hosts cut longer texts; what is left out is said, and read on with raw_rag_context."""
MOST_COMPLETIONS = 100
"""What the protocol allows."""
ANY_PATH = ResourceSecurity(exempt_params={"path"})
"""A project's path is absolute, and only a filter: no file is opened by it."""


class Resources:
    """The resource templates over the tools' runtime."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def add_to(self, server: MCPServer[Any]) -> None:
        """Make a server offer them, and complete arguments."""
        server.resource(
            "session://{id}", name="session", title="A session", mime_type="text/plain",
            description="The turns of a session, the newest within the budget. id: as answers give it.",
        )(self.session)  # fmt: skip
        server.resource(
            "project://{+path}/recent", name="project-recent", title="A project's last turns", mime_type="text/plain",
            security=ANY_PATH, description="The last turns of a project, across all agents.",
        )(self.recent)  # fmt: skip
        server.completion()(self.complete)  # type: ignore[no-untyped-call]

    def session(self, id: str) -> str:  # noqa: A002 - the address's own word
        """The turns of a session."""
        with refused_as_protocol_error():
            result = self._tools.runtime().recent(
                Ask(project="*", session=id), limit=SESSION_TURNS, max_tokens=SESSION_TOKENS
            )
            result.notes += self._tools.lag()
            return turns_text(result, f"session {id}", self._tools.mark())

    def recent(self, path: str) -> str:
        """The last turns of a project."""
        with refused_as_protocol_error():
            folder = path if path.startswith(("/", "~", "\\")) or ":" in path[:3] else f"/{path}"
            result = self._tools.runtime().recent(Ask(project=folder))
            result.notes += self._tools.lag()
            return turns_text(result, place(folder), self._tools.mark())

    async def complete(
        self, ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:  # fmt: skip
        """Values for an argument that begin, or hold, what was typed."""
        known = self._known(argument.name)
        if known is None:
            return None
        return await to_thread.run_sync(lambda: _matching(known(), argument.value))

    def _known(self, name: str) -> Callable[[], Iterable[str]] | None:
        return {
            "project_path": lambda: self._tools.runtime().project_names(None),
            "path": lambda: self._tools.runtime().project_names(None),
            "agent": lambda: (*BUILT_IN, *DOORS),
            "session": lambda: self._tools.runtime().session_names(),
            "id": lambda: self._tools.runtime().session_names(),
        }.get(name)


def _matching(values: Iterable[str], typed: str) -> Completion:
    wanted = typed.casefold()
    found = [value for value in values if wanted in value.casefold()]
    found.sort(key=lambda value: not value.casefold().startswith(wanted))
    shown = found[:MOST_COMPLETIONS]
    return Completion(values=shown, total=len(found), has_more=len(found) > len(shown))
