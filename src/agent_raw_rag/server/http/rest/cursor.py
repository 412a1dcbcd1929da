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

from pydantic import BaseModel

from agent_raw_rag.errors import BadArgumentError

LONGEST = 2_000
"""Characters of a cursor."""
_BIGGEST = 2**63
_SUM = 6
_FORM = re.compile(r"[A-Za-z0-9_-]+\Z")


def encode(values: Sequence[str | int], asked: BaseModel | None = None) -> str:
    """The cursor of some values. The texts among them are short: a page would else end in a word that is refused.

    ``asked``: what the list was asked for with; a cursor is taken with the same filters only, whatever the size of a page.
    """
    content = json.dumps(list(values), separators=(",", ":")).encode()
    return urlsafe_b64encode(_sum(content, asked) + content).decode().rstrip("=")


def decode(
    cursor: str, kinds: Sequence[type[str] | type[int]], asked: BaseModel | None = None
) -> tuple[str | int, ...]:
    """The values of a cursor, each of its kind; whole numbers fit the store's. ``asked``: as for ``encode``.

    Raises:
        BadArgumentError: It is no cursor of such a list.
    """
    values = _values(cursor, asked)
    if values is None or len(values) != len(kinds):
        raise _not_one()
    for value, kind in zip(values, kinds, strict=True):
        if type(value) is not kind or (isinstance(value, int) and not -_BIGGEST <= value < _BIGGEST):
            raise _not_one()
    return tuple(values)


def _values(cursor: str, asked: BaseModel | None) -> list[str | int] | None:
    if len(cursor) > LONGEST or _FORM.match(cursor) is None:
        return None
    try:
        whole = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        if whole[:_SUM] != _sum(whole[_SUM:], asked):
            return None
        said = json.loads(whole[_SUM:])
    except (binascii.Error, ValueError, RecursionError):
        return None
    return said if isinstance(said, list) else None


def _sum(content: bytes, asked: BaseModel | None) -> bytes:
    said = hashlib.blake2b(content, digest_size=_SUM)
    if asked is not None:
        filters = asked.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True)
        said.update(f"\0{type(asked).__name__}\0{json.dumps(filters, sort_keys=True)}".encode())
    return said.digest()


def _not_one() -> BadArgumentError:
    return BadArgumentError(
        "The cursor is none of this list with these filters.",
        hint="Pass `next` of the page before, with the same filters.",
    )
