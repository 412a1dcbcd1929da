"""Models and indexes are loaded while a person is still typing: the first question is to be answered like any other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from agent_raw_rag.log import NAME
from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import ALL_PROJECTS, expected
from agent_raw_rag.server.http.quiet import frames

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

QUESTION = "warm up"
_log = logging.getLogger(NAME)


def load(runtime: Runtime) -> None:
    """Load what a search in a space needs. Raises whatever a search raises."""
    runtime.search(QUESTION, Ask(project=ALL_PROJECTS), top_k=1, max_tokens=200, again=False)


class Warmth:
    """Which spaces are ready. At most one is on its way, so that asking for many loads no more at once than asking for one."""

    def __init__(self, load: Callable[[Runtime], None] = load) -> None:
        self._load = load
        self._ready: WeakValueDictionary[str, Runtime] = WeakValueDictionary()
        self._busy = threading.Lock()

    def is_ready(self, runtime: Runtime) -> bool:
        """Whether this runtime has loaded what it needs; one that took its place has not."""
        return self._ready.get(runtime.space) is runtime

    def spread(self, runtime: Runtime) -> None:
        """Load what a search in this space needs, in a thread of its own. Never blocks: while another space is loading, or if
        this one fails, whoever asks again tries again."""
        if self.is_ready(runtime) or not runtime.memory.store.exists() or not self._busy.acquire(blocking=False):
            return
        try:
            threading.Thread(target=self._warm, args=(runtime,), name="warming", daemon=True).start()
        except BaseException:
            self._busy.release()
            raise

    def _warm(self, runtime: Runtime) -> None:
        try:
            self._load(runtime)
            self._ready[runtime.space] = runtime
        except Exception as error:
            _log.info("not warmed: %s", expected(error) or frames(error))
        finally:
            self._busy.release()
