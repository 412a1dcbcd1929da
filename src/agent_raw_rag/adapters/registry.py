"""All adapters, built in and third-party, by agent name. The one place that lists them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from agent_raw_rag.adapters.base import Adapter
from agent_raw_rag.errors import UsageError

BUILT_IN = ("claude", "codex", "opencode", "omp", "antigravity")
GROUP = "agent_raw_rag.adapters"


@cache
def adapters() -> dict[str, Adapter]:
    """Agent name -> row. Built-in rows cannot be replaced by third-party ones."""
    rows = {name: _row(import_module(f"agent_raw_rag.adapters.{name}").ADAPTER) for name in BUILT_IN}
    for point in entry_points(group=GROUP):
        row = _row(point.load())
        rows.setdefault(row.agent, row)
    return rows


def adapter(agent: str) -> Adapter:
    """The row of an agent.

    Raises:
        UsageError: no such agent.
    """
    rows = adapters()
    if agent not in rows:
        known = ", ".join(f"{name} ({row.title})" for name, row in rows.items())
        raise UsageError(f"Unknown agent {agent!r}.", hint=f"Known agents: {known}.")
    return rows[agent]


def _row(found: object) -> Adapter:
    if not isinstance(found, Adapter):
        raise TypeError(f"An entry point of {GROUP!r} must be an Adapter, not {type(found).__name__}.")
    return found
