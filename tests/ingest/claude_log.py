"""A small log as one agent writes it, line by line."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from tests.store_support import Ingest

AGENT = "claude"


def line(number: int, session: str = "s1", text: str | None = None, **more: Any) -> str:
    """One record: the user says the even ones, the assistant the odd ones."""
    role = "assistant" if number % 2 else "user"
    said = text or f"{session} says {number}"
    record = {
        "type": role, "uuid": name(session, number), "parentUuid": name(session, number - 1) if number else None,
        "sessionId": session, "timestamp": f"2026-10-05T10:00:{number:02}Z", "cwd": "/w/proj", "version": "2.1.0",
        "message": {"role": role, "content": [{"type": "text", "text": said}]},
    }  # fmt: skip
    return json.dumps({**record, **more}) + "\n"


def lines(count: int, session: str = "s1") -> list[str]:
    return [line(number, session) for number in range(count)]


def name(session: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session} {number}"))


def folder(home: Path, project: str = "-w-proj") -> Path:
    found = home / ".claude/projects" / project
    found.mkdir(parents=True, exist_ok=True)
    return found


def said(ingest: Ingest, session: str = "s1") -> list[tuple[int, str]]:
    """(number, last word) of a session's turns."""
    rows = ingest.connection.execute(
        """SELECT t.ordinal, t.text FROM turns t JOIN sessions s ON s.id = t.session_id
           WHERE s.native = ? AND t.status = 0 ORDER BY t.ordinal""",
        (session,),
    )
    return [(ordinal, text.split()[-1]) for ordinal, text in rows]


def in_order(count: int) -> list[tuple[int, str]]:
    return [(number + 1, str(number)) for number in range(count)]
