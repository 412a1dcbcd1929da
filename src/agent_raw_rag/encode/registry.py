"""Encoders by name, as data: a row says where the class is, and nothing is imported before it is asked for."""

from __future__ import annotations

from importlib import import_module

from agent_raw_rag.encode.base import Encoder, Space
from agent_raw_rag.errors import ModelError

ROWS = {
    "embedded": "agent_raw_rag.encode.embedded:EmbeddedEncoder",
    "hashing": "agent_raw_rag.encode.hashing:HashingEncoder",
}
"""Name -> ``module:class``; the class is made without arguments and loads its model at first use."""


def encoder(name: str) -> Encoder:
    """A new encoder of a name.

    Raises:
        ModelError: there is none of this name.
    """
    row = ROWS.get(name)
    if row is None:
        raise ModelError(f"There is no encoder {name!r}.", hint=f"Known: {', '.join(sorted(ROWS))}.")
    module, _, attribute = row.partition(":")
    made: Encoder = getattr(import_module(module), attribute)()
    return made


def space(name: str) -> Space:
    """The space of an encoder, without loading its model. Raises as ``encoder``."""
    return encoder(name).space
