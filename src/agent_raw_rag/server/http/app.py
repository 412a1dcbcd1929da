"""The application: log, guard, routes. MCP has two servers behind one path: the plain one, and the one for curators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from agent_raw_rag.memory.admission import Admission
from agent_raw_rag.server.http.access import Logged, Tell
from agent_raw_rag.server.http.doors import HEALTH_PATH, MCP_PATH
from agent_raw_rag.server.http.guard import App, Guard, Receive, Scope, Send, Witness
from agent_raw_rag.server.http.health import health
from agent_raw_rag.server.http.names import Names
from agent_raw_rag.server.http.scopes import CURATE
from agent_raw_rag.server.http.visit import visit_of

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

MakeServer = Callable[[bool], MCPServer]
"""Whether for curators -> the MCP server."""


def build(
    runtime: Runtime, server: MakeServer, *, hosts: Iterable[str], admission: Admission, witness: Witness, tell: Tell
) -> App:
    """The application over a home.

    Args:
        runtime: Of the default space; the others are reached through it.
        server: Makes the MCP servers.
        hosts: The names that are answered to.
        admission: Who may come in.
        witness: Who is told of denials and uses.
        tell: The access log.
    """
    settings, answered = runtime.settings, tuple(hosts)
    security = _second_line(answered, settings.http.allowed_origins)
    limit = settings.http.body_limit
    # The memory tools tell no progress, so that their answers need no stream of events: a third less work for each. Reading
    # logs does.
    as_json = not settings.mcp.raw_tools
    plain = _manager(server(False), security, limit, as_json)
    curating = _manager(server(True), security, limit, as_json) if settings.mcp.curation else plain

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as running:
            for manager in {id(one): one for one in (plain, curating)}.values():
                await running.enter_async_context(manager.run())
            yield

    mcp = _Mcp(plain, curating)
    inner = Starlette(
        routes=[
            Route(HEALTH_PATH, health(runtime, admission)),
            Route(f"{HEALTH_PATH}/", health(runtime, admission)),
            Route(MCP_PATH, mcp),
            Route(f"{MCP_PATH}/", mcp),
        ],
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    names = Names(answered, settings.http.allowed_origins)
    guard = Guard(inner, names=names, admission=admission, witness=witness, body_limit=limit)
    return Logged(guard, tell)


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
