"""Error texts in a query: what a person pastes out of a terminal, and expects to find again to the letter. Pure."""

from __future__ import annotations

import re

_PATTERNS = (
    # TypeError: …, java.io.IOException: …
    r"(?<![\w.:$])[\w.:$]{0,120}(?:Error|Exception|Fault|Panic|Warning)(?:\[\w+\]|\(\w+\))?: .+",
    # error[E0382]: …, error TS2304: …
    r"^[ \t]*(?:\S+: )?(?:error|fatal|panic|failed|failure)(?:\[?[ \t]?\w+\]?)?: .+",
    r"\b(?:E[A-Z]{4,}|SIG[A-Z]{3,})\b: .+",  # ENOENT: no such file …
    r"^E {3,}\S.+",  # pytest
    r"thread '[^'\n]*' panicked at .+",
    r"(?:segmentation fault|command not found|no such file or directory|permission denied)\b.*",
)
_ERROR = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.MULTILINE).finditer
_EVERYWHERE = re.compile(r"^E {3,}")


def error_spans(text: str) -> list[tuple[int, int]]:
    """Where error texts begin and end, in order, none overlapping; each ends with its line."""
    return [found.span() for found in _ERROR(text)]


def error_texts(text: str) -> list[str]:
    """The error texts themselves, without what a tool put before them."""
    return [_EVERYWHERE.sub("", text[start:end]).strip() for start, end in error_spans(text)]
