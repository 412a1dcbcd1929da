"""The bytes of an answer as they were packed -> as they were said. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

MOST = 64 * 1024 * 1024
"""Bytes of an answer that is unpacked."""
_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Encoding -> what zlib calls it."""


def unpacked(pieces: Sequence[bytes], encoding: str, most: int = MOST) -> tuple[Sequence[bytes], str]:
    """The answer, as far as it can be unpacked, and why its rest cannot; empty: there is no such rest. Never raises.

    Args:
        pieces: Its bytes, in order; they may break off.
        encoding: Its ``Content-Encoding``. Of gzip all members are read.
        most: Bytes that are unpacked.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return pieces, ""
    if encoding not in _WINDOW:
        return [], f"an answer is packed as {encoding[:40]!r}"
    found: list[bytes] = []
    try:
        is_long = _inflate(pieces, _WINDOW[encoding], most, found)
    except zlib.error:
        return found, f"an answer is no {encoding}"
    return found, f"an answer is longer than {most:,} bytes unpacked" if is_long else ""


def _inflate(pieces: Sequence[bytes], window: int, most: int, found: list[bytes]) -> bool:
    """Add what is unpacked; whether there is more than may be."""
    reader, room, between = zlib.decompressobj(window), most, False
    for piece in pieces:
        while piece := piece.lstrip(b"\0") if between else piece:  # another member may follow, or what fills a block
            if not room:
                return True
            plain = reader.decompress(piece, room)
            found.append(plain)
            room -= len(plain)
            piece, between = reader.unconsumed_tail, reader.eof
            if between:
                piece, reader = reader.unused_data, zlib.decompressobj(window)
    return not room
