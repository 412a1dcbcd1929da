"""What a redaction rule is, and how its example becomes text.

A rule is data. Its pattern begins at one of its keywords, so that it runs only where one of them stands; what it masks
is its matched group, or all of the match where it has none. ``example`` and ``counter`` are its tests. No secret is
written out in them: ``{a36}`` stands for 36 letters and digits that ``plant`` makes up, and the part that must
disappear stands between « and ».
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import Flag, auto
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits


class Guard(Flag):
    """What a matched secret must look like, besides being no placeholder (``<token>``, ``${VAR}``, ``xxxx``)."""

    NONE = 0
    MIXED = auto()
    """Letters with digits or signs among them: no plain word."""
    RANDOM = auto()
    """Looks generated: a long stretch in which letters and digits alternate."""
    NAMELESS = auto()
    """Not the name of something: no path, no ``settings.token_2``, no ``sha256``."""
    VALUE = MIXED | NAMELESS
    KEY = RANDOM | NAMELESS


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret and how to know it."""

    kind: str
    keywords: tuple[str, ...]
    """Tokens: the letters it begins with, as they are. Contexts: lower-case words, found in any case."""
    pattern: str
    """Begins at the keyword. Quantifiers are bounded or run over one set of characters: time stays linear."""
    example: str
    counter: str
    """A text in which nothing may be masked."""
    entropy: float = 0.0
    """Least bits a character of the secret."""
    guard: Guard = Guard.NONE
    widen: bool = False
    """The secret reaches left of its keyword, over token characters."""


ALPHABETS = {
    "a": ascii_letters + digits,
    "b": ascii_letters + digits + "+/",
    "d": digits,
    "h": "0123456789abcdef",
    "l": ascii_lowercase + digits,
    "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "u": ascii_uppercase + digits,
    "w": ascii_letters + digits + "_-",
}
"""The letters that stand for a set of characters in an example."""

_SLOT = re.compile(r"\{([abdhlquw])(\d+)\}")


def plant(template: str) -> tuple[str, str]:
    """(text, secret) of an example: slots filled, marks gone. Always the same for the same template."""
    text = _SLOT.sub(lambda slot: _fill(f"{template}{slot.start()}", slot[1], int(slot[2])), template)
    secret = text.partition("«")[2].partition("»")[0]
    return text.replace("«", "").replace("»", ""), secret


def _fill(seed: str, letters: str, length: int) -> str:
    alphabet = ALPHABETS[letters]
    stream = b"".join(hashlib.blake2b(f"{seed}/{block}".encode()).digest() for block in range(length // 64 + 1))
    return "".join(alphabet[byte % len(alphabet)] for byte in stream[:length])
