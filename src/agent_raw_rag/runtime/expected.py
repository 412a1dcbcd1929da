"""Which exceptions are expected: what stands in the error tree, and what the system says of a store that cannot be used."""

from __future__ import annotations

from agent_raw_rag.errors import RawRagError, StoreError


def expected(error: BaseException) -> RawRagError | None:
    """The expected error that an exception is, or stands for: a store that is damaged, locked or without room.
    None: it is a bug, and is to look like one."""
    if isinstance(error, RawRagError):
        return error
    if type(error).__module__ == "sqlite3":
        return StoreError(f"The store cannot be used: {error}.", hint="`raw-rag doctor` tells more.")
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        where = f"{error.filename}: " if error.filename else ""
        return StoreError(f"{where}{error.strerror or error}.", hint="Check permissions and disk space.")
    return None
