"""The model files that the package carries, and the proof that they are what was shipped."""

from __future__ import annotations

import hashlib
from pathlib import Path

from agent_raw_rag.errors import ModelError

DATA = Path(__file__).parent.parent / "data"
REINSTALL = "Install agent-raw-rag-mcp again: its data files are not as shipped."


def checked(path: Path, sha256: str) -> Path:
    """The same path, once its bytes were read through and found to be what was shipped (about 25 ms for 34 MB).

    Raises:
        ModelError: the file is missing, or its checksum differs.
    """
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"The model file {path.name} cannot be read: {error.strerror}.", hint=REINSTALL) from error
    if found != sha256:
        raise ModelError(f"The model file {path.name} is damaged: its checksum differs.", hint=REINSTALL)
    return path
