"""The daemon from the terminal: running it here, handing it to the system, and saying how it is."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import ServiceError
from agent_raw_rag.runtime import heartbeat

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.runtime.heartbeat import AgentBeat, DaemonState, Heartbeat
    from agent_raw_rag.service.job import Job

FEW = 3
"""Failing sources that are named; the rest is counted."""


def watch(config: str | None, interval: float) -> None:
    """Run the daemon here."""
    from agent_raw_rag.daemon.run import watch as run

    run(lambda: options.load(config), interval)


def install(config: str | None, interval: float, *, only_print: bool) -> None:
    """Hand the daemon to the system, or show what would be."""
    from agent_raw_rag.service.choice import service_of

    runtime = options.load(config)
    service, job = service_of(sys.platform, os.environ), _job(runtime, config, interval)
    if only_print:
        render.line(service.render(job).rstrip("\n"))
        return
    for remark in service.install(job):
        render.aside(remark)
    render.line(f"Installed and started: {render.short_path(service.file)}")
    for variable in _key_variables(runtime):
        render.aside(f"{variable} is not handed on, as it is a secret: the service must get it in another way.")


def _job(runtime: Runtime, config: str | None, interval: float) -> Job:
    from agent_raw_rag.adapters.registry import adapters
    from agent_raw_rag.service.job import LASTING, installed_program, is_ephemeral, job

    program = installed_program(sys.argv, sys.executable, os.environ)
    if is_ephemeral(os.path.realpath(program), os.environ):
        render.aside(
            f"Warning: {program} lies in a cache, and the service breaks when that is emptied. Run `{LASTING}` and install"
            " the service again."
        )
    moving = [name for row in adapters().values() for name in row.environment]
    return job(program, config, interval, os.environ, moving, _key_variables(runtime))


def _key_variables(runtime: Runtime) -> list[str]:
    return sorted({runtime.settings.encoder.key_variable, runtime.settings.reranker.key_variable} - {""})


def uninstall() -> None:
    """Take the daemon back from the system."""
    from agent_raw_rag.service.choice import service_of

    service = service_of(sys.platform, os.environ)
    gone = service.uninstall()
    render.line(f"Removed: {render.short_path(service.file)}" if gone else "No service is installed.")


def show(config: str | None, *, json: bool) -> None:
    """Say how the service and the daemon are."""
    from agent_raw_rag.service.choice import service_of

    state = heartbeat.state(options.load(config).home)
    try:
        service: dict[str, Any] = service_of(sys.platform, os.environ).state().as_json()
    except ServiceError as error:
        service = {"state": "unsupported", "file": None, "pid": None, "detail": str(error)}
    if json:
        render.as_json({"service": service, "daemon": state.as_json()})
        return
    pid = f", process {service['pid']}" if service["pid"] else ""
    detail = f" ({service['detail']})" if service["detail"] else ""
    render.line(f"Service  {service['state']}{pid}{detail}")
    if service["file"]:
        render.line(f"         {render.short_path(service['file'])}", "dim")
    show_state(state)


def show_state(state: DaemonState) -> None:
    """A daemon for people: a line, and one for each thing that is not as it should be."""
    beat = state.heartbeat
    render.line(f"Daemon   {_running(state)}")
    if beat is None:
        return
    if state.running:
        _show_progress(beat)
    if beat.error and beat.error_at:
        render.finding("warn", f"last error, {_clock(beat.error_at)}: {beat.error}", "")


def _show_progress(beat: Heartbeat) -> None:
    if not beat.caught_up:
        render.line("         reading what there was before it started", "dim")
    for name, one in sorted(beat.agents.items()):
        if said := _lag(one):
            render.line(f"         {name}: {said}", "dim")
    if beat.backlog:
        why = f", waiting: {beat.vectors_wait}" if beat.vectors_wait else ""
        render.line(f"         {render.count(beat.backlog, 'chunk')} without a vector{why}", "dim")
    for problem in filter(None, (beat.watching, beat.serving, beat.config_problem)):
        render.finding("warn", problem, "")


def _running(state: DaemonState) -> str:
    beat = state.heartbeat
    if state.running:
        return f"running, process {beat.pid}, since {_clock(beat.started)}" if beat else "running"
    if beat is None:
        return "not running"
    if beat.ended:
        return f"not running, ended {_clock(beat.ended)}"
    return f"not running; it died after {_clock(beat.beat)}"


def _lag(one: AgentBeat) -> str:
    parts = []
    if one.lag_seconds is not None and one.read_at:
        parts.append(f"last change read after {one.lag_seconds:.1f} s, at {_clock(one.read_at)}")
    if one.waiting and one.waiting_since:
        parts.append(f"{render.count(one.waiting, 'source')} waiting since {_clock(one.waiting_since)}")
    for path in sorted(one.failing)[:FEW]:
        parts.append(f"{render.short_path(path)} cannot be read: {one.failing[path]}")
    if len(one.failing) > FEW:
        parts.append(f"and {len(one.failing) - FEW} more")
    return "; ".join(parts)


def _clock(moment: float) -> str:
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
