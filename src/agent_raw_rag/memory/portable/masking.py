"""Texts of an export, before they are stored: secrets are masked again, by the rules of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_raw_rag.models import CleanText
from agent_raw_rag.sanitize import cleaned


def masked(turn: Mapping[str, Any], *, redacting: bool) -> tuple[CleanText, str]:
    """(text, kinds of all that was masked in it) of a turn."""
    text, kinds = cleaned(turn.get("text", ""), redacting=redacting)
    return text, " ".join([*turn.get("redactions", "").split(), *kinds])
