"""The daemon from the terminal: running it here, handing it to the system, and saying how it is."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import ServiceError
from agent_raw_rag.runtime import heartbeat
from agent_raw_rag.runtime.daemon_words import told

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.runtime.heartbeat import DaemonState
    from agent_raw_rag.service.job import Job


def watch(config: str | None, interval: float) -> None:
    """Run the daemon here."""
    from agent_raw_rag.daemon.run import watch as run

    run(lambda: options.load(config), interval)


def install(config: str | None, interval: float, *, only_print: bool) -> None:
    """Hand the daemon to the system, or show what would be."""
    runtime = options.load(config)
    job = _job(runtime, config, interval)
    if hand_over(job, only_print=only_print):
        tell_of_keys(runtime)


def hand_over(job: Job, *, only_print: bool) -> bool:
    """Have the system run a job, or show its description; whether it was installed."""
    from agent_raw_rag.service.choice import service_of

    service = service_of(sys.platform, os.environ)
    if only_print:
        render.line(service.render(job).rstrip("\n"))
        return False
    for remark in service.install(job):
        render.aside(remark)
    render.line(f"Installed and started: {render.short_path(service.file)}")
    return True


def tell_of_keys(runtime: Runtime) -> None:
    """Say which keys the service does not get."""
    for variable in key_variables(runtime):
        render.aside(f"{variable} is not handed on, as it is a secret: the service must get it in another way.")


def moving_variables() -> list[str]:
    """Variables that say where the agents' logs are."""
    from agent_raw_rag.adapters.registry import adapters

    return [name for row in adapters().values() for name in row.environment]


def _job(runtime: Runtime, config: str | None, interval: float) -> Job:
    from agent_raw_rag.service.job import installed_program, job

    program = installed_program(sys.argv, sys.executable, os.environ)
    warn_of_cache(program)
    return job(program, config, interval, os.environ, moving_variables(), key_variables(runtime))


def warn_of_cache(program: str) -> None:
    """Say it if a service would run a program that its tool may remove."""
    from agent_raw_rag.service.job import LASTING, is_ephemeral

    if is_ephemeral(os.path.realpath(program), os.environ):
        render.aside(
            f"Warning: {program} lies in a cache, and the service breaks when that is emptied. Run `{LASTING}` and install"
            " the service again."
        )


def key_variables(runtime: Runtime) -> list[str]:
    """Variables that hold keys of servers: they are not handed on."""
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


def show_state(state: DaemonState, agent: str | None = None) -> None:
    """A daemon for people: a line, and one for each thing that is not as it should be. ``agent``: whose sources' lag is told."""
    said = told(state, render.short_path, agent)
    render.line(f"Daemon   {said.state}")
    for note in said.notes:
        render.line(f"         {note}", "dim")
    for problem in said.problems:
        render.finding("warn", problem, "")
