"""Whoever asked is gone: nobody needs the rest of an answer."""

from __future__ import annotations

import anyio

from agent_raw_rag.server.http.guard import Receive


async def until_left(receive: Receive, scope: anyio.CancelScope) -> None:
    """Wait until a request's connection is closed by its other side, and cancel the scope. The request's body was read before."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
