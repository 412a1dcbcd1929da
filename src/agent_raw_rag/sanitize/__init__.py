"""Arrow 4: turns -> clean turns. The only maker of ``CleanText``."""

from agent_raw_rag.sanitize.clean import clean
from agent_raw_rag.sanitize.options import Options
from agent_raw_rag.sanitize.redact import clean_label, clean_name, cleaned, redact
from agent_raw_rag.sanitize.rule import Guard, Rule, plant
from agent_raw_rag.sanitize.rules import RULES

__all__ = ["RULES", "Guard", "Options", "Rule", "clean", "clean_label", "clean_name", "cleaned", "plant", "redact"]
