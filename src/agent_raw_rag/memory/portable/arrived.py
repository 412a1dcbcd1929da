"""What an import of an export did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from agent_raw_rag.memory.portable.form import TYPES


@dataclass
class Arrived:
    """The answer to ``raw-rag import`` of an export of ours."""

    added: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TYPES[1:], 0))
    """Type of record -> how many were added."""
    present: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TYPES[1:], 0))
    """Type of record -> how many were here already."""
    updated: int = 0
    """Notes and candidates that were undecided or active here, and are no longer."""
    forgotten: int = 0
    """Turns that were forgotten here, and stay so."""
    kept: int = 0
    """Turns that were forgotten there, and are kept here."""
    masked: int = 0
    """Texts in which a secret was masked that the file held."""
    journal_left_out: int = 0
    """Rows of a journal that is not this one's beginning."""
    chunks: int = 0

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        content = asdict(self)
        del content["chunks"]
        return content
