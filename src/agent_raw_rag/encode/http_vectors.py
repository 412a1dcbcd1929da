"""An answer of ``/v1/embeddings`` -> vectors of length 1. Nothing that is not exactly one good vector a text gets through."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.encode.base import Vectors
from agent_raw_rag.errors import ModelError

HINT = "Nothing was stored. Check that the url and the model are those of an embedding model."
LEAST_LENGTH = 1e-12
"""A shorter vector points nowhere."""
_Row = NDArray[np.float64]


class _BadError(Exception):
    """What is wrong with an answer."""


def read_vectors(answer: Any, count: int, where: str) -> list[Vectors]:
    """``count`` vectors of one dimension, of length 1, in the order of the texts (the answer's ``index``).

    Raises:
        ModelError: another number of vectors, another form, or one that is not finite, zero, or of another dimension.
    """
    try:
        rows = [_row(value, place) for place, value in enumerate(_ordered(answer, count))]
        dims = sorted({len(row) for row in rows})
        if len(dims) > 1:
            raise _BadError(f"vectors of {dims[0]} to {dims[-1]} numbers for texts of one request")
        return [_unit(row, place) for place, row in enumerate(rows)]
    except _BadError as error:
        raise ModelError(f"The embedding server {where} answered with {error}.", hint=HINT) from error


def _ordered(answer: Any, count: int) -> list[Any]:
    """The ``embedding`` of each item, sorted by ``index``."""
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _BadError("something without a list of vectors (`data`)")
    if len(items) != count:
        raise _BadError(f"{len(items)} vectors for {count} texts")
    places = {item.get("index"): item.get("embedding") for item in items if type(item.get("index")) is int}
    if sorted(places) != list(range(count)):
        raise _BadError("vectors that are not numbered from 0, each once (`index`)")
    return [places[place] for place in range(count)]


def _row(value: Any, place: int) -> _Row:
    """A list of numbers, or base64 of little-endian float32, as numbers."""
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float64)
        if isinstance(value, list) and all(type(number) in (int, float) for number in value):
            return np.array(value, np.float64)
    except (ValueError, binascii.Error, OverflowError) as error:
        raise _BadError(f"a vector {place} that cannot be read: {error}") from error
    raise _BadError(f"a vector {place} that is no list of numbers")


def _unit(row: _Row, place: int) -> Vectors:
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.linalg.norm(row))
    if not np.isfinite(length):
        raise _BadError(f"a vector {place} whose length is not finite")
    if length < LEAST_LENGTH:
        raise _BadError(f"a vector {place} that is empty or zero")
    unit: Vectors = (row / length).astype(np.float32)
    return unit
