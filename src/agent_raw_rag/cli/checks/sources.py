"""Each agent's logs: are they found, is what they hold stored, and what of it could not be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from agent_raw_rag.cli.checks import clock, retention
from agent_raw_rag.cli.checks.finding import Finding, Subject, guarded, pasted
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.adapters.base import Adapter, Root
    from agent_raw_rag.ingest.waiting import Waiting
    from agent_raw_rag.search.status import AgentStatus

LAG_SECONDS = 600.0
"""A log that has been at rest for so long should have been read."""
FEW = 3
"""Paths that are named; the rest is counted."""


def every(subject: Subject) -> list[Finding]:
    """All enabled agents."""
    return [
        finding
        for adapter, roots in subject.runtime.agents().values()
        for finding in guarded(adapter.agent, partial(_agent, subject, adapter, roots))
    ]


def _agent(subject: Subject, adapter: Adapter, roots: tuple[Root, ...]) -> Iterator[Finding]:
    on_disk = subject.runtime.upkeep.waiting(adapter, roots, has_store=subject.status is not None)
    stored = subject.status.agents.get(adapter.agent) if subject.status else None
    yield _found(subject, adapter, roots, on_disk, stored)
    for path, why in on_disk.closed.items():
        remedy = f"{pasted('ls', '-ld', path)} says whose it is."
        yield Finding("error", adapter.agent, f"{path} cannot be looked into: {why}", remedy)
    if stored is not None:
        yield from _lag(subject, adapter, on_disk)
        yield from _passed_over(subject, adapter.agent, stored)
    yield from _future(subject, adapter, on_disk)
    if adapter.retention is not None and not subject.is_blind:
        for folder in (root.path for root in roots if os.path.isdir(root.path)):
            yield retention.kept(subject, adapter, adapter.retention, folder, on_disk)


def _found(
    subject: Subject, adapter: Adapter, roots: tuple[Root, ...], on_disk: Waiting, stored: AgentStatus | None
) -> Finding:
    name, title = adapter.agent, adapter.title
    looked_in = ", ".join(root.path for root in roots)
    if subject.is_blind:
        text = f"{title}: {count(on_disk.sources, 'log')}; what of it is stored cannot be told"
        return Finding("ok", name, text)
    if stored is None and on_disk.sources:
        text = f"{title}: nothing is stored of its {count(on_disk.sources, 'log')}"
        return Finding("warn", name, text, f"{subject.command('raw-rag-ingest', '--agent', name)} reads them.")
    if stored is None:
        here = any(os.path.isdir(root.path) for root in roots)
        return Finding(
            "ok", name, f"{title} {'has no log here yet' if here else 'is not here'} (looked in {looked_in})"
        )
    gone = f", {stored.gone_sources} of them gone and kept in the store" if stored.gone_sources else ""
    newest = f"; last change on disk {clock.moment(on_disk.newest)}" if on_disk.newest else ""
    sessions, sources = count(stored.sessions, "session"), count(stored.sources, "source")
    return Finding("ok", name, f"{title}: {sessions} from {sources}{gone}{newest}")


def _lag(subject: Subject, adapter: Adapter, on_disk: Waiting) -> Iterator[Finding]:
    waiting = [log for log in on_disk.logs if not log.failed]
    late = [log for log in waiting if subject.now - log.changed > LAG_SECONDS]
    if late:
        text = f"{count(len(late), 'log')} changed, and nobody has read that: {_few([log.path for log in late])}"
        since = min(log.changed for log in late)
        remedy = f"{subject.command('raw-rag-ingest', '--agent', adapter.agent)} reads what is new."
        yield Finding("warn", adapter.agent, f"{text}; the longest since {clock.moment(since)}", remedy)
    elif waiting:
        yield Finding("ok", adapter.agent, f"{count(len(waiting), 'log')} changed just now; to be read next")


def _passed_over(subject: Subject, name: str, stored: AgentStatus) -> Iterator[Finding]:
    again = subject.command("raw-rag-ingest", "--agent", name)
    for path, why in sorted(stored.failed_sources.items())[:FEW]:
        remedy = f"{pasted('ls', '-l', path)} shows whose it is; {again} tries again."
        yield Finding("error", name, f"{path} could not be read: {why}", remedy)
    if len(stored.failed_sources) > FEW:
        text = f"{len(stored.failed_sources) - FEW} more logs could not be read"
        yield Finding("error", name, text, f"{subject.command('raw-rag', 'status', '--agent', name)} lists them.")
    if stored.unknown_records:
        kinds = ", ".join(
            f"{kind} ({count}, version {version})"
            for version, found in stored.unknown_by_version.items() for kind, count in found.items()
        )  # fmt: skip
        remedy = f"Update ({pasted('uv', 'tool', 'upgrade', 'agent-raw-rag-mcp')}), or report the types: nothing else is lost."
        yield Finding("warn", name, f"records of unknown types were passed over: {kinds}", remedy)
    if stored.skipped_records:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in stored.skipped_records.items())
        yield Finding("warn", name, f"stretches of logs that are no records were passed over: {kinds}",
                      "Nothing to do: the rest of those logs is stored.")  # fmt: skip


def _future(subject: Subject, adapter: Adapter, on_disk: Waiting) -> Iterator[Finding]:
    if on_disk.newest is not None and on_disk.newest > subject.now + clock.SLACK_SECONDS:
        text = f"a log of {adapter.title} was changed at {clock.moment(on_disk.newest)}, in the future"
        yield Finding("warn", "clock", text, clock.REMEDY)


def _few(paths: list[str]) -> str:
    more = f" and {len(paths) - FEW} more" if len(paths) > FEW else ""
    return ", ".join(paths[:FEW]) + more
