"""How long agents keep their own logs, read from their own settings (and never written), and what they are about to delete."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent_raw_rag.adapters.base import Retention as Rule
from agent_raw_rag.cli.checks.finding import Finding, Subject
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.adapters.base import Adapter
    from agent_raw_rag.ingest.waiting import Log, Waiting

DAY = 86_400
WARN_DAYS = 7
ERROR_DAYS = 2
FEW = 3


@dataclass(frozen=True)
class Retention:
    """After how many days an agent deletes a log, and what says so."""

    days: int
    source: str


def retention(rule: Rule, folder: str) -> Retention:
    """What the rule of an agent's row says for one of its folders of logs."""
    key = rule.key
    file = os.path.normpath(os.path.join(folder, rule.settings))
    try:
        with open(file, encoding="utf-8") as stream:
            settings = json.load(stream)
    except (OSError, ValueError, RecursionError):
        settings = None
    days = settings.get(key) if isinstance(settings, dict) else None
    if isinstance(days, int) and not isinstance(days, bool) and days >= 0:
        return Retention(days, f"{key} in {file}")
    return Retention(rule.days, f"by default; {key} in {file} changes it")


def kept(subject: Subject, adapter: Adapter, rule: Rule, folder: str, on_disk: Waiting) -> Finding:
    """Whether an agent is about to delete, from one folder, what is not stored yet."""
    found = retention(rule, folder)
    text = f"{adapter.title} deletes its logs after {found.days} days ({found.source})"
    soon = at_risk(on_disk.logs, os.path.realpath(folder), found.days, subject.now)
    if not soon:
        return Finding("ok", adapter.agent, f"{text}; all that is due within {WARN_DAYS} days is stored")
    first = soon[0].changed + found.days * DAY
    named = ", ".join(f"{log.path} ({_due(log.changed + found.days * DAY, subject.now)})" for log in soon[:FEW])
    more = f" and {len(soon) - FEW} more" if len(soon) > FEW else ""
    level = "error" if first < subject.now + ERROR_DAYS * DAY else "warn"
    text = f"{text}, and these hold what is not stored: {named}{more}"
    remedy = f"{subject.command('raw-rag-ingest', '--agent', adapter.agent)} stores it."
    return Finding(level, adapter.agent, text, remedy, lambda: _stored(subject, adapter.agent))


def at_risk(logs: tuple[Log, ...], folder: str, days: int, now: float) -> list[Log]:
    """The logs below a folder that are due within ``WARN_DAYS``, the first one first. Agents go by the last change."""
    inside = [log for log in logs if log.path.startswith(os.path.join(folder, ""))]
    due = [log for log in inside if log.changed + days * DAY < now + WARN_DAYS * DAY]
    return sorted(due, key=lambda log: (log.changed, log.path))


def _stored(subject: Subject, agent: str) -> str:
    report = subject.runtime.ingest([agent])
    new = report.agents[agent].new_turns
    failed = len(report.agents[agent].failed_sources)
    return f"stored {count(new, 'new turn')}" + (f"; {failed} logs could not be read" if failed else "")


def _due(moment: float, now: float) -> str:
    if moment < now:
        return "due since " + _day(moment)
    return "on " + _day(moment)


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).astimezone().strftime("%Y-%m-%d")
