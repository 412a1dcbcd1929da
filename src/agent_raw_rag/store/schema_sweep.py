"""The part of the schema that remembers which turns were swept.

A sweep reads turns in the order of their row numbers and keeps how far it came in ``meta.swept``. What changes behind that
point (an open turn that settles, a copy that takes its original's place) is noted in ``unswept`` by the database itself, and
a row number that becomes free moves the point back: no writer can forget to tell.
"""

from __future__ import annotations

SWEEP = (
    "CREATE INDEX candidates_statement ON candidates (statement_hash)",
    "CREATE TABLE unswept (turn_id INTEGER PRIMARY KEY)",
    """
CREATE TRIGGER turns_unswept AFTER UPDATE OF text, status, open, abandoned ON turns
WHEN NEW.status = 0 AND NEW.open = 0 AND NEW.abandoned = 0 AND NEW.role IN ('user', 'event')
 AND (OLD.status <> 0 OR OLD.open <> 0 OR OLD.abandoned <> 0 OR OLD.text IS NOT NEW.text)
BEGIN INSERT INTO unswept SELECT NEW.id WHERE NOT EXISTS (SELECT 1 FROM unswept WHERE turn_id = NEW.id); END""",
    """
CREATE TRIGGER turns_swept_anew AFTER DELETE ON turns
BEGIN
  DELETE FROM unswept WHERE turn_id = OLD.id;
  UPDATE meta SET value = OLD.id - 1 WHERE key = 'swept' AND CAST(value AS INTEGER) >= OLD.id;
END""",
    # What was there before is history: nobody asked for its notes when it was said.
    "INSERT INTO meta (key, value) SELECT 'swept', coalesce(max(id), 0) FROM turns",
    "INSERT INTO meta (key, value) VALUES ('swept_since', CAST(strftime('%s', 'now') AS INTEGER) * 1000)",
)
