"""A runtime over a throw-away home, and captures into it."""

from __future__ import annotations

from pathlib import Path

from agent_raw_rag.models import Actor
from agent_raw_rag.runtime import Runtime

OWNER = Actor("owner", "cli")


def runtime(home: Path, **variables: str) -> Runtime:
    return Runtime.load(environment={"HOME": str(home), "RAW_RAG_HOME": str(home / "store"), **variables})
