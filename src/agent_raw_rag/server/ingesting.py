"""Reading what is new when a client asks for it: all text, and vectors for a few seconds, since clients do not wait for long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_raw_rag.runtime import heartbeat

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import IngestReport, Note
    from agent_raw_rag.runtime import Runtime

VECTORS_SECONDS = 8.0
LATER = "have no vector yet: words find them. The daemon, a server's next start or `raw-rag-ingest` makes them."


class Enough(Exception):  # noqa: N818 - not an error
    """The client has waited long enough. What is stored stays."""


def read_now(runtime: Runtime, agents: list[str] | None, on_note: Callable[[Note], None]) -> IngestReport:
    """Read what is new. The report says how many chunks still lack a vector.

    Raises:
        UsageError: an unknown or disabled agent.
        StoreBusyError: another process writes; the message says who.
    """
    report = runtime.ingest(agents, embed=False, on_note=on_note)
    if report.backlog > 0 and not heartbeat.is_current(runtime.home):
        _embed_for_a_while(runtime, report, on_note)
    if report.backlog > 0:
        report.notes.append(f"{report.backlog} chunks {LATER}")
    return report


def _embed_for_a_while(runtime: Runtime, report: IngestReport, on_note: Callable[[Note], None]) -> None:
    missing, end = report.backlog, time.monotonic() + VECTORS_SECONDS

    def noted(note: Note) -> None:
        on_note(note)
        if time.monotonic() >= end:
            raise Enough

    try:
        runtime.spaces.embed(report, noted)
    except Enough:
        report.backlog = runtime.spaces.backlog()
        report.embedded = missing - report.backlog
