"""MCP behind the guard: several servers behind one path, each with the tools that a token's scopes open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import product
from typing import Protocol

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from agent_raw_rag.config import Settings
from agent_raw_rag.server.http.doors import MCP, MCP_PATH
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.routes import Part, Route
from agent_raw_rag.server.http.scopes import CHAT, CURATE
from agent_raw_rag.server.http.visit import visit_of


class MakeServer(Protocol):
    """Makes an MCP server: the plain one, one for curators, one that asks models too, one for both."""

    def __call__(self, *, curating: bool = False, chatting: bool = False) -> MCPServer:
        """The server."""
        ...


Managers = dict[tuple[bool, bool], StreamableHTTPSessionManager]
"""(for curators, for chats) -> the manager of that server."""


def mcp_part(server: MakeServer, settings: Settings, hosts: Iterable[str]) -> Part:
    """The part of the application that speaks MCP. ``hosts``: the names that are answered to."""
    security = _second_line(hosts, settings.http.allowed_origins)
    limit = settings.http.body_limit
    managers: Managers = {}
    for curating, chatting in product((False, True), repeat=2):
        if curating > settings.mcp.curation or chatting > settings.llm.is_set_up:
            continue
        # The memory tools tell no progress, so that their answers need no stream of events: a third less work for each.
        # Reading logs does, and so does a chat: who may chat gets streams.
        as_json = not settings.mcp.raw_tools and not chatting
        made = server(curating=curating, chatting=chatting)
        managers[curating, chatting] = _manager(made, security, limit, as_json)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with AsyncExitStack() as open_managers:
            for manager in managers.values():
                await open_managers.enter_async_context(manager.run())
            yield

    return Part([Route(MCP, _Mcp(managers))], running)


class _Mcp:
    """Sends each request to the server that its token sees."""

    def __init__(self, managers: Managers) -> None:
        self._managers = managers
        self._curation, self._chat = (any(one[place] for one in managers) for place in (0, 1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        bearer, _ = visit_of(scope).admitted()
        opened = self._curation and CURATE in bearer.scopes, self._chat and CHAT in bearer.scopes
        await self._managers[opened].handle_request(scope, receive, send)


def _manager(
    server: MCPServer, security: TransportSecuritySettings, limit: int, as_json: bool
) -> StreamableHTTPSessionManager:
    # Made through the server, which sets up its side; of the application it comes in only the manager is used.
    server.streamable_http_app(
        streamable_http_path=MCP_PATH, stateless_http=True, json_response=as_json, max_request_body_size=limit,
        transport_security=security,
    )  # fmt: skip
    return server.session_manager


def _second_line(hosts: Iterable[str], origins: Iterable[str]) -> TransportSecuritySettings:
    """The library's own check of names, behind ours."""
    bare = [host.lower().removesuffix(":*") for host in hosts]
    named = [*bare, *(f"{host}:*" for host in bare)]
    pages = [f"{scheme}://{host}" for host in named for scheme in ("http", "https")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=named, allowed_origins=[*pages, *origins]
    )
