"""The application: log, guard, and the parts behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette

from agent_raw_rag.server.http.access import Logged, Tell
from agent_raw_rag.server.http.doors import HEALTH, Doors
from agent_raw_rag.server.http.guard import App, Guard, Receive, Scope, Send
from agent_raw_rag.server.http.health import health
from agent_raw_rag.server.http.mcp_routes import MakeServer, mcp_part
from agent_raw_rag.server.http.names import Names
from agent_raw_rag.server.http.proxy import proxy_part
from agent_raw_rag.server.http.rest import rest_part
from agent_raw_rag.server.http.routes import Dispatch, Ground, Part, Route
from agent_raw_rag.server.http.web import web_part


def build(ground: Ground, server: MakeServer, *, hosts: Iterable[str], tell: Tell) -> App:
    """The application over a home.

    Args:
        ground: What its parts stand on.
        server: Makes the MCP servers.
        hosts: The names that are answered to.
        tell: The access log.
    """
    http, answered = ground.runtime.settings.http, tuple(hosts)
    parts = [
        Part([Route(HEALTH, health(ground))]),
        mcp_part(server, ground.runtime.settings, answered),
        rest_part(ground),
        proxy_part(ground),
        web_part(),
    ]
    routes = [route for part in parts for route in part.routes]
    guard = Guard(
        _with_lifespan(Dispatch(routes), parts), doors=Doors(route.door for route in routes),
        names=Names(answered, http.allowed_origins), admission=ground.admission, witness=ground.witness,
        body_limit=http.body_limit,
    )  # fmt: skip
    return Logged(guard, tell)


def _with_lifespan(dispatch: Dispatch, parts: Iterable[Part]) -> App:
    """What every part needs while the server runs is open from its start to its end."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as open_parts:
            for part in parts:
                await open_parts.enter_async_context(part.running())
            yield

    living = Starlette(lifespan=lifespan)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (living if scope["type"] == "lifespan" else dispatch)(scope, receive, send)

    return app
