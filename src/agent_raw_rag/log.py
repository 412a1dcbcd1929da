"""Logging: to stderr only, since stdout is the MCP wire; set up by hosts, never by libraries."""

from __future__ import annotations

import logging
import os
import sys

NAME = "agent_raw_rag"


def set_up() -> logging.Logger:
    """The product's logger, writing to stderr. ``RAW_RAG_LOG`` sets the level (default WARNING)."""
    logger = logging.getLogger(NAME)
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    level = os.environ.get("RAW_RAG_LOG", "WARNING").upper()
    logger.setLevel(level if level in logging.getLevelNamesMapping() else "WARNING")
    return logger
