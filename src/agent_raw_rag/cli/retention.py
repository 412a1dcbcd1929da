"""How long agents keep their own logs, read from their own settings (and never written)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from agent_raw_rag.adapters.base import Retention as Rule


@dataclass(frozen=True)
class Retention:
    """After how many days an agent deletes a log, and what says so."""

    days: int
    source: str


def retention(rule: Rule, folder: str) -> Retention:
    """What the rule of an agent's row says for one of its folders of logs."""
    key = rule.key
    file = os.path.normpath(os.path.join(folder, rule.settings))
    try:
        with open(file, encoding="utf-8") as stream:
            settings = json.load(stream)
    except (OSError, ValueError):
        settings = None
    days = settings.get(key) if isinstance(settings, dict) else None
    if isinstance(days, int) and not isinstance(days, bool):
        return Retention(days, f"{key} in {file}")
    return Retention(rule.days, f"by default; {key} in {file} changes it")
