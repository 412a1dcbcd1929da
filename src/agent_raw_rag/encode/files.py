"""The model files that the package carries, and the proof that they are what was shipped."""

from __future__ import annotations

import hashlib
from pathlib import Path

from agent_raw_rag.errors import ModelError

DATA = Path(__file__).parent.parent / "data"
REINSTALL = "Install agent-raw-rag-mcp again: its data files are not as shipped."


def checked_path(name: str, sha256: str) -> Path:
    """Where a data file is, read through once for its checksum (about 25 ms for 34 MB).

    Raises:
        ModelError: it is missing, or its checksum differs.
    """
    path = DATA / name
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"The model file {name} cannot be read: {error.strerror}.", hint=REINSTALL) from error
    if found != sha256:
        raise ModelError(f"The model file {name} is damaged: its checksum differs.", hint=REINSTALL)
    return path
