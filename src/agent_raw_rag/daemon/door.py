"""The daemon's socket, kept open beside the loop: what goes wrong with it is said and tried again, and holds nothing up."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_raw_rag.daemon.schedule import NEVER, Backoff
from agent_raw_rag.daemon.serving import Serving
from agent_raw_rag.errors import RawRagError
from agent_raw_rag.log import NAME

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

PATIENCE = Backoff(first=5.0, longest=600.0)
_log = logging.getLogger(NAME)


class Door:
    """``Serving`` of the runtime in force. All from one thread, but for what ``Serving`` does by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._serving: Serving | None = None
        self._failures = 0
        self._not_before = -NEVER
        self.problem: str | None = None
        """Why nobody is served; each agent's server then loads a model of its own."""

    def keep_open(self, runtime: Runtime) -> None:
        """Serve this runtime, if it is not served yet. After a failure it is left alone for a while."""
        if self._serving is not None and self._serving.is_running():
            self._serving.take(runtime)
        elif self._clock() >= self._not_before:
            self.close()
            self._open(runtime)

    def close(self) -> None:
        """Serve no more."""
        if self._serving is not None:
            self._serving.stop()
            self._serving = None

    def _open(self, runtime: Runtime) -> None:
        serving = Serving(runtime)
        try:
            serving.start()
        except (RawRagError, OSError) as error:
            serving.stop()
            self._failures += 1
            self._not_before = self._clock() + PATIENCE.delay(self._failures)
            if self.problem != (why := f"the model is not shared: {error}"):
                _log.warning("%s", why)
            self.problem = why
        else:
            self._serving, self.problem, self._failures = serving, None, 0
