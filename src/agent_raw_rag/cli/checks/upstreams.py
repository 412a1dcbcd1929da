"""The servers of generation models that are configured: whether their keys are there, and whether anybody answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted

PATIENCE_SECONDS = 2.0


def servers(subject: Subject) -> Iterator[Finding]:
    """The chat's model and the proxy's upstreams, one by one. They are connected to, and asked nothing."""
    settings = subject.runtime.settings
    if settings.llm.url:
        yield from _server(subject, "llm", settings.llm.url, settings.llm.key_variable)
        if not settings.llm.model:
            yield Finding("warn", "llm", "no model is named: there is no chat", "Set llm.model in the configuration.")
    for name, one in settings.proxy.upstreams.items():
        yield from _server(subject, f"proxy.upstreams.{name}", one.url, one.key_variable)


def _server(subject: Subject, section: str, url: str, variable: str) -> Iterator[Finding]:
    if variable and not subject.runtime.environment.get(variable):
        remedy = f"{pasted('export', f'{variable}=KEY')} where raw-rag is started, or correct {section}.key_variable."
        yield Finding("warn", section, f"${variable}, which is to hold its key, is not set here", remedy)
    try:
        place = urlsplit(url)
        address = (place.hostname or "", place.port or (443 if place.scheme == "https" else 80))
        socket.create_connection(address, timeout=PATIENCE_SECONDS).close()
    except (OSError, ValueError) as error:
        text = f"{url} cannot be reached: {getattr(error, 'strerror', None) or error}"
        yield Finding("warn", section, text, f"Start it, or correct {section}.url in the configuration.")
    else:
        yield Finding("ok", section, f"{url} is there")
