"""Logging: to stderr only, since stdout is the MCP wire; the daemon's to a file too. Set up by hosts, never by libraries."""

from __future__ import annotations

import logging
import os
import sys

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


def keep_in(folder: str, name: str = "daemon.log") -> str:
    """Log to a file in this folder as well, from INFO on; three files of 1 MB at most. Returns its path."""
    from logging.handlers import RotatingFileHandler

    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, name)
    logger = logging.getLogger(NAME)
    handler = RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(FORMAT))
    logger.addHandler(handler)
    _set_level(logger)
    return path
