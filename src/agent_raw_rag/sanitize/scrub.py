"""Makes a text storable without touching its words: no lone surrogates, no control characters, ``\\n`` line breaks."""

from __future__ import annotations

import re

_CONTROLS = bytes(range(9)) + bytes(range(11, 32))
"""The C0 set without tab and line feed."""

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_()#%*+][0-9A-Za-z]?)?"
)
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{201,}={0,2}")


def scrub(text: str) -> str:
    """The text with CRLF and CR as LF, other control characters removed, and lone surrogates replaced by U+FFFD."""
    data, changed = to_bytes(text)
    return data.decode() if changed else text


def to_bytes(text: str) -> tuple[bytes, bool]:
    """``scrub`` for who goes on in UTF-8, and whether it changed anything: decoding costs more than all of it."""
    try:
        data = text.encode()
        size = len(data)
    except UnicodeEncodeError:
        data = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
        size = -1
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        size = -1
    data = data.translate(None, _CONTROLS)
    return data, len(data) != size


def last_state(line: str) -> str:
    """A line of terminal output as it stood in the end: without what a carriage return overwrote, colours, binary."""
    shown = line.rstrip("\r").rpartition("\r")[2]
    return _BLOB.sub("[binary]", _ANSI.sub("", shown))
