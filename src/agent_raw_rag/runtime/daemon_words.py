"""The daemon's state in words, for every door: what it does, what to know, what is wrong. Local times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from agent_raw_rag.runtime.counted import count
from agent_raw_rag.runtime.heartbeat import AgentBeat, DaemonState, Heartbeat

FEW = 3
"""Failing sources that are named; the rest is counted."""
Shown = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Told:
    """A state, a line each."""

    state: str
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def told(state: DaemonState, shown: Shown = str, agent: str | None = None) -> Told:
    """A daemon for people. ``shown``: how a path is written; ``agent``: whose sources are told one by one."""
    beat = state.heartbeat
    if beat is None:
        return Told(_state(state))
    if not state.running:
        return Told(_state(state), problems=_last_error(beat))
    return Told(_state(state), _notes(beat, shown, agent), _problems(beat))


def _notes(beat: Heartbeat, shown: Shown, agent: str | None) -> list[str]:
    notes = [] if beat.caught_up else ["reading what there was before it started"]
    notes += [f"{name}: {said}" for name, one in sorted(beat.agents.items()) if (said := _lag(one, shown))]
    if agent in beat.agents:
        notes += [
            f"{shown(path)}: read {lag:.1f} s after it changed" for path, lag in beat.agents[agent].sources.items()
        ]
    if beat.backlog:
        why = f", waiting: {beat.vectors_wait}" if beat.vectors_wait else ""
        notes.append(f"{count(beat.backlog, 'chunk')} without a vector{why}")
    return notes


def _problems(beat: Heartbeat) -> list[str]:
    return [problem for problem in (beat.watching, beat.serving, beat.config_problem) if problem] + _last_error(beat)


def _last_error(beat: Heartbeat) -> list[str]:
    return [f"last error, {_clock(beat.error_at)}: {beat.error}"] if beat.error and beat.error_at else []


def _state(state: DaemonState) -> str:
    beat = state.heartbeat
    if state.running:
        return f"running, process {beat.pid}, since {_clock(beat.started)}" if beat else "running"
    if beat is None:
        return "not running"
    if beat.ended:
        return f"not running, ended {_clock(beat.ended)}"
    return f"not running; it died after {_clock(beat.beat)}"


def _lag(one: AgentBeat, shown: Shown) -> str:
    parts = []
    if one.lag_seconds is not None and one.read_at:
        parts.append(f"last change read after {one.lag_seconds:.1f} s, at {_clock(one.read_at)}")
    if one.waiting and one.waiting_since:
        parts.append(f"{count(one.waiting, 'source')} waiting since {_clock(one.waiting_since)}")
    for path in sorted(one.failing)[:FEW]:
        parts.append(f"{shown(path)} cannot be read: {one.failing[path]}")
    if len(one.failing) > FEW:
        parts.append(f"and {len(one.failing) - FEW} more")
    return "; ".join(parts)


def _clock(moment: float) -> str:
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
