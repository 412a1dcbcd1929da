"""SQLite and the store's own file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted
from agent_raw_rag.runtime import expected

if TYPE_CHECKING:
    from agent_raw_rag.errors import RawRagError
    from agent_raw_rag.search.status import StatusReport

_DAMAGED = re.compile("malformed|not a database")
"""What SQLite says of a file that it cannot make sense of."""


def features() -> Iterator[Finding]:
    """What this Python's SQLite can do."""
    from agent_raw_rag.store.features import VERSION, lacking

    missing = lacking()
    if missing:
        remedy = f"Use a newer Python: {pasted('uv', 'tool', 'install', '--python', '3.12', 'agent-raw-rag-mcp')}."
        yield Finding("error", "SQLite", f"version {VERSION} lacks {', '.join(missing)}", remedy)
    else:
        yield Finding("ok", "SQLite", f"version {VERSION} has all that is needed")


def opened(subject: Subject) -> tuple[list[Finding], StatusReport | None]:
    """The store's status; None, with what is wrong, if it cannot be read."""
    path = subject.runtime.settings.store_path()
    if os.path.isdir(path):
        remedy = f"{_away(path)}, or name another file as store.path in the configuration."
        return [Finding("error", "store", f"{path} is a folder", remedy)], None
    try:
        return [], subject.runtime.status()
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        return [Finding("error", "store", known.message, _way_out(subject, known))], None


def soundness(subject: Subject) -> Iterator[Finding]:
    """Whether the file is whole, and kept as it should be."""
    status = subject.status
    assert status is not None
    problems = subject.runtime.upkeep.damage()
    if problems:
        yield Finding("error", "store", f"{status.store} is damaged: {'; '.join(problems[:3])}", _anew(subject))
        return
    yield Finding("ok", "store", f"{status.store} is sound: {status.sessions} sessions, {status.turns} turns")
    mode = subject.runtime.upkeep.journal_mode()
    if mode != "wal":
        text = f"the store's journal mode is {mode} and not wal: readers wait for writers"
        remedy = f"{subject.command('raw-rag-ingest')} sets it; if it does not, the file system cannot do it."
        yield Finding("warn", "journal", text, remedy)


def _way_out(subject: Subject, error: RawRagError) -> str:
    """To move a store away may lose what no log holds any more: that is advised only where it cannot be read by anybody."""
    from agent_raw_rag.store.connection import MOVE_AWAY

    path = subject.runtime.settings.store_path()
    if error.hint == MOVE_AWAY or _DAMAGED.search(error.message):
        return _anew(subject)
    if "raw-rag-ingest" in error.hint:
        return f"{subject.command('raw-rag-ingest')} makes it, or brings it up."
    if "newer version" in error.message:
        return f"{pasted('uv', 'tool', 'upgrade', 'agent-raw-rag-mcp')}, or use the program that made it."
    return f"{pasted('ls', '-l', path)} shows whose it is; if it is yours, {pasted('chmod', 'u+rw', path)} opens it to you."


def _anew(subject: Subject) -> str:
    path = subject.runtime.settings.store_path()
    again = subject.command("raw-rag-ingest")
    return f"Move the file away ({_away(path)}) and run {again}: what the agents' logs still hold comes back."


def _away(path: str) -> str:
    return pasted("mv", path, f"{path}.aside")
