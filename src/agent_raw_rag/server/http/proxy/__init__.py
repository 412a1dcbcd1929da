"""The capture proxy: ``/v1/*``, handed on to a server of models as it came, and what was said on both sides captured."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from agent_raw_rag.errors import NotConfiguredError
from agent_raw_rag.gateway.handing import Connections
from agent_raw_rag.runtime.upstreams import upstreams_of
from agent_raw_rag.server.http.doors import Door
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.proxy.captor import Captor
from agent_raw_rag.server.http.proxy.relay import Relay
from agent_raw_rag.server.http.routes import Ground, Part, Route

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LAST_SECONDS = 1.0
"""Whatever is cut off at the end has so long to hand in what it heard."""


async def _nobody(scope: Scope, receive: Receive, send: Send) -> None:
    raise NotConfiguredError(
        "No server of models is set up, so nothing is handed on.",
        hint="Name one in the configuration: a section [proxy.upstreams.NAME] with its url, such as http://127.0.0.1:1234/v1.",
    )


def proxy_part(ground: Ground) -> Part:
    """The part of the application that is the proxy. Raises ConfigError: an upstream's address is none."""
    settings = ground.runtime.settings
    door = Door(
        "/v1/*", METHODS, own_space=True, scope="proxy", body="any", body_limit=settings.proxy.body_limit, api_key=True
    )
    connections = {one.name: Connections(one, ground.runtime.environment) for one in upstreams_of(settings.proxy)}
    if not connections:
        return Part([Route(door, _nobody)])
    captor = Captor(ground)
    relay = Relay(ground, connections, captor)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.move_on_after(LAST_SECONDS):
                await relay.idle()
            await anyio.to_thread.run_sync(captor.close)
            for one in connections.values():
                one.close()

    return Part([Route(door, relay)], running)
