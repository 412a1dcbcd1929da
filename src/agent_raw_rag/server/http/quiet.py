"""What libraries log, without a word of what was sent: where it came from and what kind of error it was.

Their messages quote requests: host names, arguments, bodies that do not validate. None of that is for a log.
"""

from __future__ import annotations

import logging
import time
import traceback

from agent_raw_rag.log import NAME


class Quiet(logging.Handler):
    """Hands records of libraries to our logger, as places in their code."""

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on."""
        if record.name.partition(".")[0] == NAME:
            return
        error = record.exc_info[1] if record.exc_info else None
        said = f"{record.name}, line {record.lineno} ({record.funcName})"
        logging.getLogger(NAME).log(record.levelno, "%s%s", said, f": {frames(error)}" if error else "")


class OnceASecond(logging.Filter):
    """Lets a place of the code say something once a second: without descriptors asyncio says the same five hundred times."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        place, now = (record.pathname, record.lineno), time.monotonic()
        if now - self._said.get(place, -1.0) < 1.0:
            return False
        self._said[place] = now
        return True


def frames(error: BaseException) -> str:
    """An error's type and the places it went through; its message may quote what somebody sent."""
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    inner = getattr(error, "exceptions", ())
    within = "".join(f" [{frames(one)}]" for one in inner[:3] if isinstance(one, BaseException))
    return f"{type(error).__name__} in {' < '.join(reversed(places)) or 'no frame'}{within}"


def hush() -> None:
    """Take over what libraries log. Before the MCP library is set up: it would print on its own, else."""
    root = logging.getLogger()
    if not any(isinstance(handler, Quiet) for handler in root.handlers):
        root.handlers[:] = [Quiet(logging.WARNING)]
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    asyncio_log = logging.getLogger("asyncio")
    if not any(isinstance(one, OnceASecond) for one in asyncio_log.filters):
        asyncio_log.addFilter(OnceASecond())
