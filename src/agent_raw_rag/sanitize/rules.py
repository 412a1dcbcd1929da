"""The redaction rules, all of them. Of two that match the same place, the one that stands first names the mask."""

from __future__ import annotations

from agent_raw_rag.sanitize.contexts import CONTEXTS
from agent_raw_rag.sanitize.rule import Rule
from agent_raw_rag.sanitize.tokens import TOKENS

RULES: tuple[Rule, ...] = TOKENS + CONTEXTS
