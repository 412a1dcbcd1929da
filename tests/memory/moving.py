"""Stores that are exported and imported again, in process."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from agent_raw_rag.ingest.exported import Imported, import_export
from agent_raw_rag.memory.portable.arrive import arrive
from agent_raw_rag.memory.portable.arrived import Arrived
from agent_raw_rag.memory.portable.export import export_jsonl
from agent_raw_rag.models import Actor
from agent_raw_rag.store.portable import Part
from tests.store_support import Ingest

OWNER = Actor("owner", "cli")
NOW = 1_790_000_000_000
LOGS = Path(__file__).parents[1] / "logs" / "import"
CLAUDE_AI, CHATGPT = LOGS / "claude.ai-2026-08", LOGS / "chatgpt-2026-08"


def empty(folder: Path, name: str) -> Ingest:
    """A store of its own."""
    return Ingest(folder / "home", folder / name)


def exported(store: Ingest, part: Part | None = None) -> bytes:
    """The bytes of an export."""
    out = io.BytesIO()
    export_jsonl(store.connection, part or Part(), {}, out.write)
    return out.getvalue()


def imported(store: Ingest, data: bytes) -> Arrived:
    """Import an export, as a file of it."""
    file = store.home.parent / "given.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return arrive(store.committer(), str(file), actor=OWNER, now=NOW)


def chats(store: Ingest, path: Path) -> Imported:
    """Import an export of a chat service."""
    return import_export(store.committer(), str(path))


def records(data: bytes, kind: str) -> list[dict[str, Any]]:
    """The records of a type in an export."""
    return [one for line in data.splitlines() if (one := json.loads(line)).get("type") == kind]


def texts(store: Ingest, native: str | None = None) -> list[str]:
    """The words of a session's live turns, or of all."""
    rows = store.connection.execute(
        """SELECT t.text FROM turns t JOIN sessions s ON s.id = t.session_id
           WHERE t.status = 0 AND ? IN ('', s.native) ORDER BY s.agent, s.native, t.ordinal""",
        (native or "",),
    )
    return [row[0] for row in rows]


def count(store: Ingest, table: str) -> int:
    """Rows of a table."""
    return int(store.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
