"""How long the daemon bears with who connects: a client that hangs must not keep a file of this process open for ever.

Above: the door and its server. Below: uvicorn's protocol, one object a connection.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from agent_raw_rag.log import NAME

REQUEST_SECONDS = 30.0
"""For the head of a first request, and for its body. Clients are on this machine."""
COMPLAINT_SECONDS = 60.0
"""Of one complaint in the log to the next: the system's limit is met again by each connection that waits."""
WANTED_FILES = 4096
"""Files, sockets among them, that this process may have open. macOS gives 256 if nobody asks."""
NO_FILES_LEFT = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_log = logging.getLogger(NAME)


class Patient(H11Protocol):
    """A connection that is closed if it asks nothing."""

    seconds = REQUEST_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connected."""
        super().connection_made(transport)
        self.loop.call_later(self.seconds, self._close_if_unused)

    def _close_if_unused(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


def patient(seconds: float) -> type[Patient]:
    """Connections that wait so long."""
    return type("Patient", (Patient,), {"seconds": seconds})


class Complaints:
    """What asyncio could not do for anybody: said in the daemon's log, and the same thing not too often."""

    def __init__(self) -> None:
        self._not_before = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception handler of a loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in NO_FILES_LEFT:
            _log.error("the daemon's socket: %s", context.get("message"), exc_info=error)
        elif loop.time() >= self._not_before:
            self._not_before = loop.time() + COMPLAINT_SECONDS
            _log.warning("the daemon's socket: nobody more can connect for now: %s", error.strerror)


def want_files(wanted: int = WANTED_FILES) -> None:
    """Let this process open so many files, as far as the system lets it."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError) as error:
            _log.info("the limit of open files stays at %d: %s", soft, error)
