"""What ``raw_rag_status`` answers: the status of the store and of the daemon, kept short however much went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_raw_rag.runtime.counted import count
from agent_raw_rag.runtime.daemon_words import told
from agent_raw_rag.search.fence import one_line

if TYPE_CHECKING:
    from agent_raw_rag.runtime.heartbeat import DaemonState
    from agent_raw_rag.search.status import AgentStatus, StatusReport

MOST_PROBLEMS = 20
MOST_CURSORS = 40
MOST_PATHS = 5
"""Sources named of an agent, of those that could not be read."""
MOST_CHARACTERS = 300
"""Of a reason."""


def bounded(report: StatusReport) -> StatusReport:
    """The report with the rest of its long lists counted. ``raw-rag status`` has all."""
    agents = {name: replace(one, failed_sources=_few_paths(one.failed_sources)) for name, one in report.agents.items()}
    cursors = sorted(report.cursors, key=lambda one: one.read_at or "", reverse=True)[:MOST_CURSORS]
    problems = [_cut(problem) for problem in report.problems[:MOST_PROBLEMS]]
    if len(report.problems) > MOST_PROBLEMS:
        problems.append(f"{len(report.problems) - MOST_PROBLEMS} more; `raw-rag status` lists all.")
    if len(report.cursors) > MOST_CURSORS:
        problems.append(f"The {MOST_CURSORS} sources read last are listed, of {len(report.cursors)}.")
    return replace(report, agents=agents, problems=problems, cursors=cursors)


def status_content(report: StatusReport, daemon: DaemonState) -> dict[str, Any]:
    """The structured content, of a bounded report."""
    beat = daemon.as_json()
    for one in (beat["heartbeat"] or {}).get("agents", {}).values():
        one["failing"] = _few_paths(one["failing"])
        one["sources"] = dict(list(one["sources"].items())[-MOST_PATHS:])
    for name in ("error", "serving", "watching", "config_problem"):
        if beat["heartbeat"] and beat["heartbeat"][name]:
            beat["heartbeat"][name] = _cut(beat["heartbeat"][name])
    return {**report.as_json(), "daemon": beat}


def status_text(report: StatusReport, daemon: DaemonState) -> str:
    """The same for the model that asked."""
    vectors = f"{report.embedded} of {report.embedded + report.backlog} chunks have vectors ({report.encoder})"
    return "\n".join([
        f"raw-rag {report.version}, store {report.store} ({report.store_bytes / 1e6:.1f} MB)",
        f"{count(report.sessions, 'session')}, {count(report.turns, 'turn')}, {count(report.chunks, 'chunk')}",
        f"Ranking: words{'' if report.indexed else ' (the index lags, the rest is scanned)'}; "
        + (vectors if report.encoder else "no vectors, no encoder is set")
        + f"; {report.reranker or 'no reranker'}.",
        *(f"Not searched: {one.space}, {one.embedded} of {one.embedded + one.backlog} chunks." for one in report.filling),
        f"Memory: {count(sum(report.notes.values()), 'note')}, {report.candidates.get('pending', 0)} candidates pending.",
        *_daemon(daemon),
        *(_agent(name, one) for name, one in report.agents.items()),
        *_list("Problems:", report.problems),
        *(f"{one_line(one.source)} {one.part}: read up to {one.offset}, {one.read_at}" for one in report.cursors),
    ])  # fmt: skip


def _daemon(state: DaemonState) -> list[str]:
    said = told(state)
    lines = (f"- {_cut(one_line(line))}" for line in (*said.notes, *said.problems))
    return [f"Daemon: {said.state}.", *lines]


def _list(title: str, lines: Iterable[str]) -> list[str]:
    shown = [f"- {one_line(line)}" for line in lines]
    return [title, *shown] if shown else []


def _agent(name: str, one: AgentStatus) -> str:
    gone = f" ({one.gone_sources} gone)" if one.gone_sources else ""
    return (
        f"{name}: {count(one.sessions, 'session')}, {count(one.turns, 'turn')}, {count(one.chunks, 'chunk')} of "
        f"{count(one.sources, 'source')}{gone}; last turn {one.last_turn or 'without time'} in "
        f"{one_line(one.last_project or 'no project')}; last read {one.last_read or 'never'}"
    )


def _few_paths(failing: dict[str, str]) -> dict[str, str]:
    kept = {path: _cut(failing[path]) for path in sorted(failing)[:MOST_PATHS]}
    return kept if len(kept) == len(failing) else {**kept, "…": f"{len(failing) - len(kept)} more"}


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
