"""Which kind of service a platform has."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.base import Service
from agent_raw_rag.service.launchd import Launchd
from agent_raw_rag.service.systemd import Systemd


def service_of(platform: str, environment: Mapping[str, str]) -> Service:
    """The user's service.

    Args:
        platform: As ``sys.platform`` says.
        environment: Of the asking process.

    Raises:
        ServiceError: there is none that we know.
    """
    if platform == "darwin" and sys.platform != "win32":
        return Launchd(environment, os.getuid())
    if platform.startswith("linux"):
        return Systemd(environment)
    if platform == "win32":
        raise ServiceError(
            "Services are not supported on Windows.",
            hint="Let the Task Scheduler start the daemon: `schtasks /Create /SC ONLOGON /TN agent-raw-rag /TR"
            ' "raw-rag-ingest --watch"`.',
        )
    raise ServiceError(
        f"Services are not supported on {platform}.", hint="Have `raw-rag-ingest --watch` started when you log in."
    )
