"""What the description says of ``GET /status`` is what a status holds."""

from __future__ import annotations

from dataclasses import fields

from agent_raw_rag.search.status import StatusReport
from agent_raw_rag.server.http.rest.page_glance import Status


def test_every_field_of_a_status_is_described() -> None:
    assert set(Status.__annotations__) == {one.name for one in fields(StatusReport)} | {"daemon", "disk"}
