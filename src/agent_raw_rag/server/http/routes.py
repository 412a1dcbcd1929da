"""What stands behind each door: the parts of the application, each with its doors and what it needs while the server runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_raw_rag.memory.admission import Admission
from agent_raw_rag.server.http.doors import Door
from agent_raw_rag.server.http.guard import App, Receive, Scope, Send, Witness
from agent_raw_rag.server.http.visit import visit_of
from agent_raw_rag.server.http.warming import Warmth

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime


@dataclass(frozen=True)
class Ground:
    """What every part stands on."""

    runtime: Runtime
    """Of the default space; the others are reached through it."""
    admission: Admission
    witness: Witness
    wrote: Callable[[], None]
    """To be called after whatever may have written. Never blocks."""
    warmth: Warmth = field(default_factory=Warmth)


@dataclass(frozen=True)
class Route:
    """A door and what answers there: whoever comes was let in, and the visit says where and for whom."""

    door: Door
    app: App


@dataclass(frozen=True)
class Part:
    """Some routes, and what is open while the server runs."""

    routes: Sequence[Route]
    running: Callable[[], AbstractAsyncContextManager[object]] = nullcontext


class Dispatch:
    """Sends each request to what stands behind the door that the guard found."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._apps = {route.door: route.app for route in routes}
        assert len(self._apps) == len(routes)  # no door twice

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that was let in."""
        await self._apps[visit_of(scope).match.door](scope, receive, send)
