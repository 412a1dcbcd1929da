"""The daemon and the system's service that runs it. To have neither is no fault: then history is read when somebody asks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_raw_rag import __version__
from agent_raw_rag.cli.checks.clock import moment
from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted
from agent_raw_rag.errors import ServiceError
from agent_raw_rag.runtime import heartbeat

if TYPE_CHECKING:
    from agent_raw_rag.runtime.heartbeat import DaemonState, Heartbeat
    from agent_raw_rag.service.base import ServiceState

SILENT_SECONDS = 600.0
"""An idle daemon writes its heartbeat every minute; a busy one, between two batches."""
RECENT_SECONDS = 3600.0


def daemon(subject: Subject) -> Iterator[Finding]:
    """Whether a daemon runs, and how it is."""
    state = heartbeat.state(subject.runtime.home)
    if state.running:
        yield from _running(subject, state)
    else:
        yield from _not_running(subject, state)


def _running(subject: Subject, state: DaemonState) -> Iterator[Finding]:
    beat = state.heartbeat
    anew = f"{subject.command('raw-rag-ingest', '--install-daemon')} starts its service anew"
    if beat is None:
        yield Finding("warn", "daemon", "one runs, and has not said how it is", f"{_told(subject)}; {anew}.")
        return
    yield Finding("ok", "daemon", f"process {beat.pid} watches since {moment(beat.started)}")
    if subject.now - beat.beat > SILENT_SECONDS:
        yield Finding("warn", "daemon", f"it has said nothing since {moment(beat.beat)}", f"{_told(subject)}; {anew}.")
    if beat.version != __version__:
        text = f"it is version {beat.version}, and this is {__version__}: its models are not shared"
        yield Finding(
            "warn", "daemon", text, f"{anew}; one of your own is to be ended: {pasted('kill', str(beat.pid))}."
        )
    yield from _complaints(subject, beat)
    if not beat.serving and beat.version == __version__ and subject.runtime.models.sharing.daemon() is None:
        text = "its socket does not answer, so that each agent's server loads the models itself"
        yield Finding("warn", "daemon", text, f"{_told(subject)}; {anew}.")


def _complaints(subject: Subject, beat: Heartbeat) -> Iterator[Finding]:
    if beat.config_problem:
        remedy = f"Correct that, then {pasted('kill', '-HUP', str(beat.pid))}: it reads the configuration again."
        yield Finding("warn", "daemon", f"it keeps its old configuration: {beat.config_problem}", remedy)
    if beat.serving:
        yield Finding("warn", "daemon", f"it shares no models: {beat.serving}", f"{_told(subject)}.")
    if beat.watching:
        more = pasted("sudo", "sysctl", "fs.inotify.max_user_watches=524288")
        remedy = f"It looks every minute instead; on Linux {more} lets it watch more folders."
        yield Finding("warn", "daemon", beat.watching, remedy)
    for name, one in sorted(beat.agents.items()):
        if one.waiting and one.waiting_since and subject.now - one.waiting_since > SILENT_SECONDS:
            text = f"{one.waiting} logs of {name} wait since {moment(one.waiting_since)}"
            yield Finding("warn", "daemon", text, f"{_told(subject)}.")
    if beat.error and beat.error_at and subject.now - beat.error_at < RECENT_SECONDS:
        yield Finding("warn", "daemon", f"last error, {moment(beat.error_at)}: {beat.error}", f"{_told(subject)}.")


def _not_running(subject: Subject, state: DaemonState) -> Iterator[Finding]:
    beat, service = state.heartbeat, _service(subject)
    start = subject.command("raw-rag-ingest", *(["--install-daemon"] if service else ["--watch"]))
    if service is not None and service.state in ("running", "stopped"):
        detail = f" ({service.detail})" if service.detail else ""
        text = f"the service is {service.state}{detail}, and no daemon watches for {subject.runtime.home}"
        yield Finding("warn", "daemon", text, f"{start} starts it for this store.")
    elif beat is not None and beat.ended is None:
        text = f"it died after {moment(beat.beat)}: {beat.error or 'it left no word'}"
        yield Finding("warn", "daemon", text, f"{start} keeps one running.")
    else:
        text = (
            f"none runs: history is read when an agent starts, and by raw-rag-ingest. {start} keeps it current always"
        )
        yield Finding("ok", "daemon", text)


def service(subject: Subject) -> Iterator[Finding]:
    """What the system says of the service."""
    found = _service(subject)
    if found is None:
        yield Finding("ok", "service", "this system has none that is known here")
    elif found.state == "unknown":
        yield Finding("ok", "service", f"{found.file} is there, and the system cannot be asked: {found.detail}")
    else:
        pid = f", process {found.pid}" if found.pid else ""
        yield Finding("ok", "service", f"{found.state}{pid}")


def _service(subject: Subject) -> ServiceState | None:
    from agent_raw_rag.service.choice import service_of

    try:
        return service_of(sys.platform, subject.runtime.environment).state()
    except ServiceError:
        return None


def _told(subject: Subject) -> str:
    return (
        f"{subject.command('raw-rag-ingest', '--daemon-status')} and log/daemon.log in {subject.runtime.home} tell more"
    )
