"""The REST API: every operation there is, its routes, and its description as an OpenAPI document."""

from __future__ import annotations

from agent_raw_rag.server.http.rest import (
    chat,
    counts,
    journal,
    logins,
    memories,
    page_forget,
    page_glance,
    page_memory,
    page_passages,
    page_sessions,
    searching,
    turns,
)
from agent_raw_rag.server.http.rest.answering import route_of
from agent_raw_rag.server.http.rest.openapi import openapi_route
from agent_raw_rag.server.http.rest.operation import Operation
from agent_raw_rag.server.http.routes import Ground, Part

OPERATIONS: tuple[Operation, ...] = (
    *counts.OPERATIONS, *memories.OPERATIONS, *searching.OPERATIONS, *turns.OPERATIONS, *journal.OPERATIONS,
    *logins.OPERATIONS, *page_passages.OPERATIONS, *page_sessions.OPERATIONS, *page_glance.OPERATIONS,
    *page_memory.OPERATIONS, *page_forget.OPERATIONS, *chat.OPERATIONS,
)  # fmt: skip


def rest_part(ground: Ground) -> Part:
    """The part of the application that speaks REST."""
    return Part([*(route_of(one, ground) for one in OPERATIONS), openapi_route(OPERATIONS)])
