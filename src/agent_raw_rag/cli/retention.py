"""How long agents keep their own logs, read from their own settings (and never written)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

_RULES = {"claude": ("../settings.json", "cleanupPeriodDays", 30)}
"""Agent -> (settings file relative to its folder of logs, key, days without it)."""


@dataclass(frozen=True)
class Retention:
    """After how many days an agent deletes a log, and what says so."""

    days: int
    source: str


def retention(agent: str, folder: str) -> Retention | None:
    """The rule for an agent's folder of logs; None: it is not known to delete any."""
    if agent not in _RULES:
        return None
    relative, key, default = _RULES[agent]
    file = os.path.normpath(os.path.join(folder, relative))
    try:
        with open(file, encoding="utf-8") as stream:
            settings = json.load(stream)
    except (OSError, ValueError):
        settings = None
    days = settings.get(key) if isinstance(settings, dict) else None
    if isinstance(days, int) and not isinstance(days, bool):
        return Retention(days, f"{key} in {file}")
    return Retention(default, f"by default; {key} in {file} changes it")
