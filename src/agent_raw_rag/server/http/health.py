"""``GET /health``: whether it serves, to anybody; how much it holds, to whoever may read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.responses import Response

from agent_raw_rag import __version__
from agent_raw_rag.server.http.guard import App, Receive, Scope, Send
from agent_raw_rag.server.http.refusals import rendered
from agent_raw_rag.server.http.routes import Ground
from agent_raw_rag.server.http.scopes import READ
from agent_raw_rag.server.http.visit import visit_of

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

TABLES = ("sessions", "turns", "notes", "candidates")
MOST_SPACES = 20
"""That are counted for one question."""


def health(ground: Ground) -> App:
    """The endpoint."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        visit = visit_of(scope)
        body: dict[str, Any] = {"status": "ok", "version": __version__}
        if visit.bearer is not None and READ in visit.bearer.scopes:
            spaces = [visit.space] if visit.space else ground.admission.spaces_of(visit.bearer)
            body["spaces"] = await anyio.to_thread.run_sync(_counts, ground.runtime, spaces[:MOST_SPACES])
        await Response(rendered(body), media_type="application/json")(scope, receive, send)

    return answer


def _counts(runtime: Runtime, spaces: list[str]) -> dict[str, dict[str, int]]:
    return {space: counted(runtime.in_space(space)) for space in spaces}


def counted(runtime: Runtime) -> dict[str, int]:
    """How much a space holds."""
    if not runtime.memory.store.exists():
        return dict.fromkeys(TABLES, 0)
    connection = runtime.reader.connection
    return {name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in TABLES}
