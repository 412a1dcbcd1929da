"""MCP behind the guard: two servers behind one path, the plain one and the one for curators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from agent_raw_rag.config import Settings
from agent_raw_rag.server.http.doors import MCP, MCP_PATH
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.routes import Part, Route
from agent_raw_rag.server.http.scopes import CURATE
from agent_raw_rag.server.http.visit import visit_of

MakeServer = Callable[[bool], MCPServer]
"""Whether for curators -> the MCP server."""


def mcp_part(server: MakeServer, settings: Settings, hosts: Iterable[str]) -> Part:
    """The part of the application that speaks MCP. ``hosts``: the names that are answered to."""
    security = _second_line(hosts, settings.http.allowed_origins)
    limit = settings.http.body_limit
    # The memory tools tell no progress, so that their answers need no stream of events: a third less work for each. Reading
    # logs does.
    as_json = not settings.mcp.raw_tools
    plain = _manager(server(False), security, limit, as_json)
    curating = _manager(server(True), security, limit, as_json) if settings.mcp.curation else plain

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with AsyncExitStack() as managers:
            for manager in {id(one): one for one in (plain, curating)}.values():
                await managers.enter_async_context(manager.run())
            yield

    return Part([Route(MCP, _Mcp(plain, curating))], running)


class _Mcp:
    """Sends each request to the server that its token sees."""

    def __init__(self, plain: StreamableHTTPSessionManager, curating: StreamableHTTPSessionManager) -> None:
        self._plain = plain
        self._curating = curating

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        bearer, _ = visit_of(scope).admitted()
        manager = self._curating if CURATE in bearer.scopes else self._plain
        await manager.handle_request(scope, receive, send)


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
