"""``raw-rag status``: what is stored, what ranks, what lags and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_raw_rag.cli import options, render
from agent_raw_rag.cli.daemon import show_state
from agent_raw_rag.cli.spaces import filled
from agent_raw_rag.runtime import heartbeat
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.runtime.heartbeat import DaemonState
    from agent_raw_rag.search.status import StatusReport


def status(
    agent: options.Agent = None, space: options.Space = None, json: options.Json = False, config: options.Config = None
) -> None:
    """What is stored, what ranks, and what went wrong."""
    runtime = options.room(config, space)
    daemon = heartbeat.state(options.load(config).home)  # one for all spaces
    show_status_of(runtime.status(agent), daemon, agent, json=json)


def show_status_of(report: StatusReport, daemon: DaemonState, agent: str | None, *, json: bool) -> None:
    """A status as JSON or for people. ``agent``: the one that was asked for."""
    if json:
        render.as_json({**report.as_json(), "daemon": daemon.as_json()})
    else:
        _show(report, daemon, agent)


def _show(report: StatusReport, daemon: DaemonState, agent: str | None) -> None:
    render.line(f"raw-rag {report.version}", "bold")
    render.line(f"Store    {render.short_path(report.store)}, {render.size(report.store_bytes)}")
    counts = [(report.sessions, "session"), (report.turns, "turn"), (report.chunks, "chunk")]
    render.line(f"Holds    {', '.join(count(number, noun) for number, noun in counts)}")
    render.line(f"Words    {'all indexed' if report.indexed else 'the index lags; the rest is searched directly'}")
    render.line(f"Vectors  {_vectors(report)}")
    for item in report.filling:
        render.line(f"         {filled(item)} chunks, {item.space}, not searched", "dim")
    render.line(f"Rerank   {report.reranker or 'none: skipped'}")
    render.line(f"Memory   {_memory(report)}")
    show_state(daemon, agent)
    render.line()
    rows = [
        (name, one.sessions, one.turns, f"{one.sources}{f' ({one.gone_sources} gone)' if one.gone_sources else ''}",
         render.minute(one.last_turn), render.minute(one.last_read), render.short_path(one.last_project))
        for name, one in report.agents.items()
    ]  # fmt: skip
    if rows:
        render.table(["agent", "sessions", "turns", "sources", "last turn", "last read", "last project"], rows)
    else:
        render.line("Nothing is recorded yet.")
    for problem in report.problems:
        render.finding("warn", problem, "")
    if report.cursors:
        render.line()
        cursors = [(one.source, one.part, one.offset, render.minute(one.read_at)) for one in report.cursors]
        render.table(["source", "part", "read up to", "read at"], cursors)


def _memory(report: StatusReport) -> str:
    notes = ", ".join(f"{count} {kind}" for kind, count in sorted(report.notes.items()))
    waiting = report.candidates.get("pending", 0) + report.candidates.get("conflict", 0)
    kept = f"{count(sum(report.notes.values()), 'note')}{f' ({notes})' if notes else ''}"
    return f"{kept}, {count(waiting, 'candidate')} to decide, last sweep {render.minute(report.last_sweep) or 'never'}"


def _vectors(report: StatusReport) -> str:
    if report.encoder is None:
        return "none: no encoder is set"
    share = f"{report.embedded:,} of {report.embedded + report.backlog:,} chunks"
    return f"{share}, {report.encoder}"
