"""Models and indexes are loaded while a person is still typing: the first question is to be answered like any other."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from agent_raw_rag.log import NAME
from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import ALL_PROJECTS, expected
from agent_raw_rag.server.http.quiet import frames

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

QUESTION = "warm up"
_log = logging.getLogger(NAME)


class Warmth:
    """Which spaces are ready, or on their way."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._telling = threading.Lock()

    def spread(self, runtime: Runtime) -> None:
        """Load what a search in this space needs, once, in a thread of its own. Never blocks."""
        with self._telling:
            if runtime.space in self._known or not runtime.memory.store.exists():
                return
            self._known.add(runtime.space)
        threading.Thread(target=_ask, args=(runtime,), name="warming", daemon=True).start()


def _ask(runtime: Runtime) -> None:
    try:
        runtime.search(QUESTION, Ask(project=ALL_PROJECTS), top_k=1, max_tokens=200, again=False)
    except Exception as error:
        _log.info("not warmed: %s", expected(error) or frames(error))
