"""Sources and their cursors: what was read, up to where, and what the file looked like then."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_raw_rag.models import BadRecord, Millis, Source
from agent_raw_rag.store.rows import SourceRow


@dataclass(slots=True)
class CursorRow:
    """Where reading (a part of) a source goes on."""

    stamp: str = ""
    position: int = 0
    done: dict[str, tuple[int, int]] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    tally: dict[str, int] = field(default_factory=dict)


class Sources:
    """The sources of one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def known(self, agent: str) -> dict[str, SourceRow]:
        """Path -> source, of one agent."""
        rows = self.connection.execute(
            "SELECT id, agent, path, shape, device, inode, size, mtime_ns, error, gone FROM sources WHERE agent = ?",
            (agent,),
        )
        return {row["path"]: SourceRow(*row) for row in rows}

    def add(self, source: Source) -> int:
        """The row number of a source; made where it is new."""
        self.connection.execute(
            """INSERT INTO sources (agent, path, shape, preference) VALUES (?, ?, ?, ?)
               ON CONFLICT (path) DO UPDATE SET gone = 0, preference = excluded.preference""",
            (source.agent, source.path, source.shape.value, source.order),
        )
        row = self.connection.execute("SELECT id FROM sources WHERE path = ?", (source.path,)).fetchone()
        return int(row[0])

    def rename(self, source_id: int, path: str) -> None:
        """Say that a source's file was moved."""
        self.connection.execute("UPDATE sources SET path = ?, gone = 0 WHERE id = ?", (path, source_id))

    def saw(self, source_id: int, look: tuple[int, int, int, int], tally: dict[str, int], now: Millis) -> None:
        """Note the file's (device, inode, size, mtime_ns) as it was before it was read, and what was counted in it."""
        self.connection.execute(
            """UPDATE sources SET device = ?, inode = ?, size = ?, mtime_ns = ?, tally = ?, error = NULL, gone = 0,
                 read_at = ? WHERE id = ?""",
            (*look, json.dumps(tally, sort_keys=True), now, source_id),
        )

    def failed(self, source_id: int, error: str) -> None:
        """Note why a source could not be read. It is tried again at the next run."""
        self.connection.execute("UPDATE sources SET error = ?, mtime_ns = NULL WHERE id = ?", (error, source_id))

    def set_gone(self, source_ids: Iterable[int]) -> None:
        """Note that the files of these sources no longer exist. What they said stays."""
        self.connection.executemany("UPDATE sources SET gone = 1 WHERE id = ?", [(number,) for number in source_ids])

    def cursor(self, source_id: int, part: str = "") -> CursorRow | None:
        """The cursor of a source, or of one session of a foreign database."""
        row = self.connection.execute(
            "SELECT stamp, position, done, state, tally FROM cursors WHERE source_id = ? AND part = ?",
            (source_id, part),
        ).fetchone()
        if row is None:
            return None
        done = {session: (start, part) for session, (start, part) in json.loads(row[2]).items()}
        return CursorRow(row[0], row[1], done, json.loads(row[3]), json.loads(row[4]))

    def stamps(self, source_id: int) -> dict[str, str]:
        """Part -> stamp, of a foreign database."""
        return dict(
            self.connection.execute("SELECT part, stamp FROM cursors WHERE source_id = ?", (source_id,)).fetchall()
        )

    def save_cursor(self, source_id: int, cursor: CursorRow, part: str = "") -> None:
        """Store a cursor, in the transaction of what was read up to it."""
        self.connection.execute(
            """INSERT INTO cursors (source_id, part, stamp, position, done, state, tally) VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (source_id, part) DO UPDATE SET stamp = excluded.stamp, position = excluded.position,
                 done = excluded.done, state = excluded.state, tally = excluded.tally""",
            (
                source_id, part, cursor.stamp, cursor.position, json.dumps(cursor.done),
                json.dumps(cursor.state), json.dumps(cursor.tally, sort_keys=True),
            ),
        )  # fmt: skip

    def part_tallies(self, source_id: int) -> list[dict[str, int]]:
        """What was counted in each session of a foreign database."""
        rows = self.connection.execute("SELECT tally FROM cursors WHERE source_id = ?", (source_id,))
        return [json.loads(row[0]) for row in rows]

    def tally_of(self, path: str) -> dict[str, int]:
        """What was counted in a source; empty: it is not known."""
        row = self.connection.execute("SELECT tally FROM sources WHERE path = ?", (path,)).fetchone()
        return dict(json.loads(row[0])) if row else {}

    def reset(self, source_id: int) -> None:
        """Read a source from its beginning again; its turns are found by key, and their places are unknown until then."""
        self.connection.execute("DELETE FROM cursors WHERE source_id = ?", (source_id,))
        self.connection.execute("DELETE FROM quarantine WHERE source_id = ?", (source_id,))
        self.connection.execute("UPDATE turns SET start = NULL, end = NULL WHERE source_id = ?", (source_id,))

    def start_rereading(self, source_id: int, *, trusted: bool) -> None:
        """Have a source read from its beginning again. ``trusted``: it holds all that was read of it, so that what is not
        met again is not to be kept."""
        self.connection.execute("DELETE FROM cursors WHERE source_id = ?", (source_id,))
        self.connection.execute("DELETE FROM quarantine WHERE source_id = ?", (source_id,))
        # Killed before it is read, it must not look unchanged to the next run.
        self.connection.execute("UPDATE sources SET mtime_ns = NULL WHERE id = ?", (source_id,))
        self.connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            (f"reread {source_id}", "trusted" if trusted else ""),
        )

    def rereading(self, source_id: int) -> str | None:
        """Whether a source is being read again, across kills: ``trusted`` or empty; None if it is not."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (f"reread {source_id}",)).fetchone()
        return row[0] if row else None

    def end_rereading(self, source_id: int) -> None:
        """It was read to its end."""
        self.connection.execute("DELETE FROM meta WHERE key = ?", (f"reread {source_id}",))

    def quarantine(self, source_id: int, bad: Iterable[BadRecord]) -> None:
        """Remember stretches that are no records."""
        self.connection.executemany(
            "INSERT OR IGNORE INTO quarantine (source_id, start, end, reason) VALUES (?, ?, ?, ?)",
            [(source_id, record.start, record.end, record.reason) for record in bad],
        )
