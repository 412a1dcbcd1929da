"""What a token may be: its secret, label, scopes and lifetime. Pure, but for the chance a secret is made of."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.models import Millis
from agent_raw_rag.store.homes import checked_slug

SECRET_BYTES = 32
MARK = "rrt_"
PREFIX_CHARACTERS = 8
SCOPES = ("read", "write", "curate", "proxy", "chat", "admin")
ALL_SPACES = "*"
LONGEST = 3650 * 86_400_000
_LABEL = re.compile(r"[\w.@+-]{1,64}")
_LIFETIME = re.compile(r"(\d{1,9})\s*(s|m|h|d|w)", re.IGNORECASE)
_UNIT = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def new_secret() -> str:
    """``rrt_`` and 256 random bits. Nobody has to remember it, so that a plain hash of it is as good as a slow one."""
    return MARK + secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> bytes:
    """What is stored of a secret: SHA-256. A header may hold any byte; it is hashed as it came."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def prefix(secret: str) -> str:
    """What is shown of a secret."""
    return secret[:PREFIX_CHARACTERS]


def checked_label(label: str) -> str:
    """Raises BadArgumentError."""
    if _LABEL.fullmatch(label) is None or label.startswith((MARK, "-")):
        raise BadArgumentError(
            f"{label[:80]!r} cannot be a label.",
            hint=f"A label has 1 to 64 letters, digits and . @ + - _, and does not begin with - or {MARK}.",
        )
    return label


def checked_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """In their own order, each once. Raises BadArgumentError."""
    asked = set(_words(scopes))
    unknown = sorted(asked - set(SCOPES))
    if unknown or not asked:
        raise BadArgumentError(
            f"There is no scope {unknown[0][:40]!r}." if unknown else "A token needs a scope.",
            hint=f"Scopes: {', '.join(SCOPES)}.",
        )
    return tuple(scope for scope in SCOPES if scope in asked)


def checked_spaces(spaces: Iterable[str]) -> tuple[str, ...]:
    """Sorted, each once; ``*`` stands alone. Raises BadArgumentError."""
    asked = sorted(set(_words(spaces)))
    if not asked:
        raise BadArgumentError("A token needs a space.", hint="Name one, or * for all.")
    if ALL_SPACES in asked:
        return (ALL_SPACES,)
    return tuple(checked_slug(slug) for slug in asked)


def _words(given: Iterable[str]) -> list[str]:
    """Commas separate, too."""
    return [word.strip() for one in given for word in one.split(",") if word.strip()]


def lifetime(said: str) -> Millis:
    """``30d``, ``12h``, ``1s`` in milliseconds. Raises BadArgumentError."""
    found = _LIFETIME.fullmatch(said.strip())
    milliseconds = int(found[1]) * _UNIT[found[2].lower()] if found else 0
    if not 0 < milliseconds <= LONGEST:
        raise BadArgumentError(
            f"{said[:40]!r} is no time to live.", hint="Such as 90d, 12h, 30m or 45s; at most 3650d."
        )
    return milliseconds
