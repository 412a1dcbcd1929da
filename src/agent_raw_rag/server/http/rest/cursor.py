"""A cursor: where the next page of a list begins, as an opaque word.

It holds nothing but the values that the list is ordered by, and what comes back is checked like any other input: its form,
a checksum that a cut or edited word fails, and the kind of each value. It grants nothing: the token is asked each time.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from agent_raw_rag.errors import BadArgumentError

LONGEST = 2_000
"""Characters of a cursor."""
_BIGGEST = 2**63
_SUM = 6
_FORM = re.compile(r"[A-Za-z0-9_-]+\Z")


def encode(values: Sequence[str | int]) -> str:
    """The cursor of some values. The texts among them are short: a page would else end in a word that is refused."""
    content = json.dumps(list(values), separators=(",", ":")).encode()
    return urlsafe_b64encode(_sum(content) + content).decode().rstrip("=")


def decode(cursor: str, kinds: Sequence[type[str] | type[int]]) -> tuple[str | int, ...]:
    """The values of a cursor, each of its kind; whole numbers fit the store's.

    Raises:
        BadArgumentError: It is no cursor of such a list.
    """
    values = _values(cursor)
    if values is None or len(values) != len(kinds):
        raise _not_one()
    for value, kind in zip(values, kinds, strict=True):
        if type(value) is not kind or (isinstance(value, int) and not -_BIGGEST <= value < _BIGGEST):
            raise _not_one()
    return tuple(values)


def _values(cursor: str) -> list[str | int] | None:
    if len(cursor) > LONGEST or _FORM.match(cursor) is None:
        return None
    try:
        whole = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        if whole[:_SUM] != _sum(whole[_SUM:]):
            return None
        said = json.loads(whole[_SUM:])
    except (binascii.Error, ValueError, RecursionError):
        return None
    return said if isinstance(said, list) else None


def _sum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SUM).digest()


def _not_one() -> BadArgumentError:
    return BadArgumentError(
        "The cursor is none of this list.", hint="Pass `next` of the page before, with the same filters."
    )
