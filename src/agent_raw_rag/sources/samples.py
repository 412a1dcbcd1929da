"""The packaged sample logs, laid out as a home folder. A database among them is kept as SQL, and made here."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

DUMP = ".sql"


def lay_out(samples: str, home: str) -> None:
    """Copy the sample logs to a folder that does not exist yet; ``x.db.sql`` becomes the database ``x.db``."""
    shutil.copytree(samples, home)
    for dump in sorted(Path(home).rglob(f"*.db{DUMP}")):
        with closing(sqlite3.connect(dump.with_suffix(""))) as database:
            database.executescript(dump.read_text(encoding="utf-8"))
        dump.unlink()
