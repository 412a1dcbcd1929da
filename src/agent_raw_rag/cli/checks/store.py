"""SQLite and the store's own file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_raw_rag.cli.checks.finding import Finding, Subject, pasted
from agent_raw_rag.runtime import expected

if TYPE_CHECKING:
    from agent_raw_rag.search.status import StatusReport


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
        hint = known.hint if "raw-rag-ingest" in known.hint and "Move" not in known.hint else ""
        return [Finding("error", "store", known.message, hint or _anew(subject))], None


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


def _anew(subject: Subject) -> str:
    path = subject.runtime.settings.store_path()
    again = subject.command("raw-rag-ingest")
    return f"Move the file away ({_away(path)}) and run {again}: what the agents' logs still hold comes back."


def _away(path: str) -> str:
    return pasted("mv", path, f"{path}.aside")
