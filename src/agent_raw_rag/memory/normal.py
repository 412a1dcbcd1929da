"""The form in which statements and quotes are compared: what differs only in case, width, blanks and end marks is the same.

Pure.
"""

from __future__ import annotations

import re
import unicodedata

_BLANKS = re.compile(r"\s+")
_ENDS = " .!。！;；,，:："


def normal_form(text: str) -> str:
    """NFKC, case folded, blanks squeezed, end marks off."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip(_ENDS)


def contains(text: str, quote: str) -> bool:
    """Whether a text holds a quote, compared in their normal forms."""
    wanted = normal_form(quote)
    return bool(wanted) and wanted in normal_form(text)
