"""All adapters, built in and third-party, by agent name. The one place that lists them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from agent_raw_rag.adapters.base import Adapter
from agent_raw_rag.errors import ConfigError, UsageError

BUILT_IN = ("claude", "codex", "opencode", "omp", "antigravity")
GROUP = "agent_raw_rag.adapters"


@cache
def adapters() -> dict[str, Adapter]:
    """Agent name -> row. Built-in rows cannot be replaced by third-party ones.

    Raises:
        ConfigError: a third-party row cannot be loaded.
    """
    rows: dict[str, Adapter] = {name: import_module(f"agent_raw_rag.adapters.{name}").ADAPTER for name in BUILT_IN}
    for point in entry_points(group=GROUP):
        row = _loaded(point)
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


def _loaded(point: EntryPoint) -> Adapter:
    """Somebody else's row. Whatever goes wrong in their code is told as theirs."""
    package = point.dist.name if point.dist else "a package"
    hint = f"Update or uninstall {package}."
    try:
        found = point.load()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(f"The adapter {point.name!r} of {package} cannot be loaded: {why}.", hint=hint) from error
    if not isinstance(found, Adapter):
        raise ConfigError(f"The adapter {point.name!r} of {package} is no Adapter.", hint=hint)
    return found
