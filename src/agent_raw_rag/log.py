"""Logging: to stderr only, since stdout is the MCP wire; the daemon's to a file too. Set up by hosts, never by libraries."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NAME = "agent_raw_rag"
FORMAT = "%(asctime)s %(levelname)s %(message)s"
FILE_BYTES = 1_000_000
FILES = 3


def set_up() -> logging.Logger:
    """The product's logger, writing to stderr. ``RAW_RAG_LOG`` sets the level; else it is WARNING, and INFO with a file."""
    logger = logging.getLogger(NAME)
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(FORMAT))
        logger.addHandler(handler)
        logger.propagate = False
    _set_level(logger)
    return logger


def _set_level(logger: logging.Logger) -> None:
    default = "WARNING" if len(logger.handlers) < 2 else "INFO"
    level = os.environ.get("RAW_RAG_LOG", default).upper()
    logger.setLevel(level if level in logging.getLevelNamesMapping() else default)


@contextmanager
def keep_in(folder: str, name: str = "daemon.log") -> Iterator[str]:
    """Log to a file in this folder as well, from INFO on, until the block ends; three files of 1 MB at most. Gives its path."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, name)
    logger, handler = logging.getLogger(NAME), _file_handler(path)
    logger.addHandler(handler)
    _set_level(logger)
    try:
        yield path
    finally:
        logger.removeHandler(handler)
        handler.close()
        _set_level(logger)


def _file_handler(path: str) -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class Handler(RotatingFileHandler):
        is_told = False

        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name there
            """What cannot be written stands on stderr, where all of it stands; that is said once, and without a traceback."""
            if not self.is_told:
                self.is_told = True
                print(f"{path} cannot be written: {sys.exception()}", file=sys.stderr)  # noqa: T201 - the log itself fails

    handler = Handler(path, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(FORMAT))
    return handler
