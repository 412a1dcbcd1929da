"""Which model: a kind and the options it is made with. Pure; nothing is loaded.

A choice is data, so that a store can remember how the encoder of a space is made, and so that one model is loaded once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

AUTO = "auto"
TOY = "hashing"
"""Never chosen by itself, not even because it made the index."""
NONE = "none"


@dataclass(frozen=True)
class Choice:
    """A row of a registry, and what its model is made with."""

    kind: str
    options: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Equal for equal choices."""
        return f"{self.kind} {json.dumps(dict(self.options), sort_keys=True)}"

    @property
    def name(self) -> str:
        """A short one, equal for equal choices: what processes of this machine call a model among themselves."""
        return f"{self.kind}-{hashlib.blake2b(self.key.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def choose_encoder(
    kind: str, options: Mapping[str, Any], active: Choice | None, flagship: Choice | None
) -> Choice | None:
    """The encoder that the settings mean; None: lexical search only.

    ``auto`` keeps the model that made the index; with no index yet it takes the flagship where its weights are present
    (``flagship``), else the model in the package.
    """
    if kind == NONE:
        return None
    if kind != AUTO:
        return Choice(kind, options)
    kept = active if active is not None and active.kind != TOY else None
    return kept or flagship or Choice("embedded", {})
