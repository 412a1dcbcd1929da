"""The schema, as named migrations. Each runs in one transaction with the record that it ran.

Add a function at the end; never change one that was released. ``sqlite_utils`` takes 0.3 s to import, so it is
imported only when something is pending.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from agent_raw_rag.store.schema_sweep import SWEEP

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

SET = "agent_raw_rag"

SCHEMA_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  shape TEXT NOT NULL,
  preference TEXT NOT NULL DEFAULT '',
  device INTEGER, inode INTEGER, size INTEGER, mtime_ns INTEGER,
  tally TEXT NOT NULL DEFAULT '{}',
  error TEXT,
  gone INTEGER NOT NULL DEFAULT 0,
  read_at INTEGER
);

CREATE TABLE cursors (
  source_id INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
  part TEXT NOT NULL DEFAULT '',
  stamp TEXT NOT NULL DEFAULT '',
  position INTEGER NOT NULL DEFAULT 0,
  done TEXT NOT NULL DEFAULT '{}',
  state TEXT NOT NULL DEFAULT '{}',
  tally TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (source_id, part)
) WITHOUT ROWID;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  native TEXT NOT NULL,
  parent TEXT, parent_kind TEXT,
  cwd TEXT, project TEXT, remote TEXT, branch TEXT,
  title TEXT, version TEXT,
  started INTEGER, last INTEGER,
  turns INTEGER NOT NULL DEFAULT 0,
  exchange INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  branched INTEGER NOT NULL DEFAULT 0,
  forgotten INTEGER NOT NULL DEFAULT 0,
  source_id INTEGER REFERENCES sources(id),
  UNIQUE (agent, native)
);
CREATE INDEX sessions_project ON sessions (project);
CREATE INDEX sessions_last ON sessions (last);

CREATE TABLE turns (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  ordinal INTEGER NOT NULL,
  exchange INTEGER NOT NULL,
  role TEXT NOT NULL,
  time INTEGER,
  text TEXT NOT NULL,
  text_hash BLOB NOT NULL,
  key BLOB NOT NULL,
  status INTEGER NOT NULL DEFAULT 0,
  open INTEGER NOT NULL DEFAULT 0,
  abandoned INTEGER NOT NULL DEFAULT 0,
  branch_from INTEGER,
  start_token INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  source_id INTEGER REFERENCES sources(id),
  start INTEGER, end INTEGER,
  record_ids TEXT NOT NULL DEFAULT '[]',
  trail BLOB NOT NULL DEFAULT x'',
  redactions TEXT NOT NULL DEFAULT ''
);
CREATE INDEX turns_session ON turns (session_id, ordinal);
CREATE INDEX turns_key ON turns (key);
CREATE INDEX turns_time ON turns (time);
CREATE INDEX turns_source ON turns (source_id);

CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  place INTEGER NOT NULL,
  text TEXT NOT NULL,
  hash BLOB NOT NULL,
  start_token INTEGER NOT NULL, end_token INTEGER NOT NULL,
  first_turn INTEGER NOT NULL, last_turn INTEGER NOT NULL,
  stable INTEGER NOT NULL,
  started INTEGER, ended INTEGER,
  roles INTEGER NOT NULL,
  UNIQUE (session_id, place)
);
CREATE INDEX chunks_hash ON chunks (hash);

CREATE TABLE dropped_chunks (sequence INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id INTEGER NOT NULL);

CREATE TABLE vectors (
  space TEXT NOT NULL,
  hash BLOB NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (space, hash)
) WITHOUT ROWID;

CREATE TABLE quarantine (
  source_id INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
  start INTEGER NOT NULL, end INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (source_id, start)
) WITHOUT ROWID;
"""

SCHEMA_2 = """
CREATE TABLE vector_spaces (
  name TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  revision TEXT NOT NULL,
  dim INTEGER NOT NULL,
  instruction TEXT NOT NULL,
  kind TEXT NOT NULL,
  options TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID
"""

SCHEMA_3 = (
    """
CREATE TABLE captured (
  turn_id INTEGER PRIMARY KEY REFERENCES turns(id),
  source TEXT NOT NULL,
  author TEXT,
  partial INTEGER NOT NULL DEFAULT 0
)""",
    "CREATE INDEX captured_source ON captured (source)",
    """
CREATE TABLE notes (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  statement TEXT NOT NULL,
  statement_hash BLOB NOT NULL,
  topic TEXT,
  source TEXT NOT NULL,
  author TEXT,
  importance TEXT NOT NULL DEFAULT 'medium',
  confidence REAL NOT NULL DEFAULT 1.0,
  evidence TEXT NOT NULL DEFAULT '[]',
  candidate TEXT,
  status TEXT NOT NULL DEFAULT 'active',
  supersedes TEXT, superseded_by TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  reason TEXT,
  created INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  expires INTEGER
)""",
    "CREATE UNIQUE INDEX notes_active ON notes (statement_hash) WHERE status = 'active'",
    "CREATE INDEX notes_status ON notes (status)",
    "CREATE TABLE note_changes (sequence INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT NOT NULL)",
    *(
        f"CREATE TRIGGER notes_{name} AFTER {act} ON notes BEGIN INSERT INTO note_changes (note) VALUES ({row}.id); END"
        for name, act, row in (("made", "INSERT", "new"), ("changed", "UPDATE", "new"), ("gone", "DELETE", "old"))
    ),
    """
CREATE TABLE candidates (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  statement TEXT NOT NULL,
  statement_hash BLOB NOT NULL,
  quote TEXT NOT NULL,
  evidence TEXT NOT NULL DEFAULT '[]',
  source TEXT NOT NULL,
  importance TEXT NOT NULL DEFAULT 'medium',
  confidence REAL NOT NULL DEFAULT 0.5,
  rule TEXT,
  proposer TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  reason TEXT,
  note TEXT,
  created INTEGER NOT NULL,
  decided INTEGER
)""",
    "CREATE INDEX candidates_status ON candidates (status, created)",
    """
CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor TEXT NOT NULL,
  token TEXT,
  transport TEXT NOT NULL,
  source TEXT,
  target TEXT,
  before BLOB, after BLOB,
  detail TEXT NOT NULL DEFAULT '{}',
  chain BLOB NOT NULL
)""",
    """
CREATE TABLE spaces (
  slug TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  enabled INTEGER NOT NULL DEFAULT 1,
  created INTEGER NOT NULL
) WITHOUT ROWID""",
    """
CREATE TABLE tokens (
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE,
  spaces TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  used INTEGER,
  revoked INTEGER
)""",
    "CREATE UNIQUE INDEX tokens_live ON tokens (label) WHERE revoked IS NULL",
)


_REWRITING = "EXISTS (SELECT 1 FROM meta WHERE key = 'rewriting')"
"""Whether the writer takes a log's word for what a settled turn says: ``Writer`` sets this row, and removes it, inside the
transaction that does."""

APPEND_ONLY = (
    # An id that is taken: INSERT OR REPLACE would delete the row, past every other trigger on some connections.
    """
CREATE TRIGGER turns_no_replace BEFORE INSERT ON turns WHEN EXISTS (SELECT 1 FROM turns WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'append-only: a turn cannot be replaced'); END""",
    """
CREATE TRIGGER turns_same_turn BEFORE UPDATE OF id, session_id, key ON turns
WHEN NEW.id IS NOT OLD.id OR NEW.session_id IS NOT OLD.session_id OR NEW.key IS NOT OLD.key
BEGIN SELECT RAISE(ABORT, 'append-only: a turn keeps its identity'); END""",
    """
CREATE TRIGGER turns_stay_forgotten BEFORE UPDATE OF status, text ON turns
WHEN OLD.status = 2 AND (NEW.status <> 2 OR NEW.text <> '')
BEGIN SELECT RAISE(ABORT, 'append-only: what was forgotten does not come back'); END""",
    # A settled turn may be forgotten, and loses its text. Anything else is the writer's to say: a log's new word, or that
    # another session has the same turn. A copy without an original would be lost words.
    f"""
CREATE TRIGGER turns_no_update BEFORE UPDATE OF role, time, text, text_hash, status, open ON turns
WHEN OLD.open = 0
 AND (NEW.text IS NOT OLD.text OR NEW.text_hash IS NOT OLD.text_hash OR NEW.role IS NOT OLD.role
      OR NEW.time IS NOT OLD.time OR NEW.status IS NOT OLD.status OR NEW.open IS NOT OLD.open)
 AND NOT (NEW.status = 2 AND NEW.text = '' AND NEW.role IS OLD.role AND NEW.time IS OLD.time AND NEW.open = 0)
 AND NOT {_REWRITING}
BEGIN SELECT RAISE(ABORT, 'append-only: what was said cannot be changed'); END""",
    f"""
CREATE TRIGGER turns_no_delete BEFORE DELETE ON turns WHEN OLD.status = 2 OR NOT {_REWRITING}
BEGIN SELECT RAISE(ABORT, 'append-only: a turn cannot be deleted, only forgotten'); END""",
    """
CREATE TRIGGER captured_no_replace BEFORE INSERT ON captured
WHEN EXISTS (SELECT 1 FROM captured WHERE turn_id = NEW.turn_id)
BEGIN SELECT RAISE(ABORT, 'append-only: where a turn came from cannot be changed'); END""",
    # An author may only be forgotten.
    """
CREATE TRIGGER captured_no_update BEFORE UPDATE ON captured
WHEN NEW.turn_id IS NOT OLD.turn_id OR NEW.source IS NOT OLD.source OR NEW.partial IS NOT OLD.partial
  OR NEW.author IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'append-only: where a turn came from cannot be changed'); END""",
    """
CREATE TRIGGER captured_no_delete BEFORE DELETE ON captured
BEGIN SELECT RAISE(ABORT, 'append-only: where a turn came from cannot be deleted'); END""",
    """
CREATE TRIGGER journal_no_replace BEFORE INSERT ON journal WHEN EXISTS (SELECT 1 FROM journal WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'append-only: the journal cannot be changed'); END""",
    """
CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'append-only: the journal cannot be changed'); END""",
    """
CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'append-only: the journal cannot be changed'); END""",
)


SCHEMA_4 = (
    "ALTER TABLE sessions ADD COLUMN kept INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN passing INTEGER NOT NULL DEFAULT 0",
    # When the store heard of a passing session last: what it is told of times may be anything.
    "ALTER TABLE sessions ADD COLUMN heard INTEGER NOT NULL DEFAULT 0",
    # How often it ended: the same words said after an end are no retry of those before it.
    "ALTER TABLE sessions ADD COLUMN endings INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX sessions_passing ON sessions (heard) WHERE passing = 1",
)


# With all that a count by day and session needs, so that no turn's text is passed over for it.
SCHEMA_5 = ("CREATE INDEX turns_days ON turns (session_id, status, time, tokens)",)


def pending(connection: sqlite3.Connection) -> bool:
    """Whether the store lacks a migration. Read-only and cheap."""
    return not applied(connection) >= set(NAMES)


def newer(connection: sqlite3.Connection) -> bool:
    """Whether the store has a migration that this program does not know."""
    return not applied(connection) <= set(NAMES)


def applied(connection: sqlite3.Connection) -> set[str]:
    """Names of the migrations that a store has had."""
    try:
        rows = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ?", (SET,)).fetchall()
    except sqlite3.OperationalError:
        return set()
    return {name for (name,) in rows}


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the store to the newest schema."""
    from sqlite_utils import Database

    _migrations().apply(Database(connection))


def _migrations() -> Migrations:
    from sqlite_utils import Migrations

    migrations = Migrations(SET)
    for step in (m001_initial, m002_vector_spaces, m003_memory, m004_keeping, m005_days, m006_note_metadata):
        migrations()(step)
    return migrations


def m001_initial(db: Database) -> None:
    """Everything of the first release."""
    for statement in SCHEMA_1.split(";\n"):
        if statement.strip():
            db.execute(statement)
    db.execute("INSERT INTO meta (key, value) VALUES ('generation', lower(hex(randomblob(16))))")


def m002_vector_spaces(db: Database) -> None:
    """What made each vector space. The space of vectors that are there already is registered by the next ingest."""
    db.execute(SCHEMA_2)


def m003_memory(db: Database) -> None:
    """What agents and people write themselves: captured turns, notes, candidates, the journal, spaces and tokens.
    From here on the database itself refuses to change what was said."""
    for statement in (*SCHEMA_3, *SWEEP, *APPEND_ONLY):
        db.execute(statement)


def m004_keeping(db: Database) -> None:
    """How a session is kept: shielded from forgetting by filters, or only until it ends."""
    for statement in SCHEMA_4:
        db.execute(statement)


def m005_days(db: Database) -> None:
    """Counting what was said on which day."""
    for statement in SCHEMA_5:
        db.execute(statement)


def m006_note_metadata(db: Database) -> None:
    """What else a note's writer said of it."""
    db.execute("ALTER TABLE notes ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'")


NAMES = ("m001_initial", "m002_vector_spaces", "m003_memory", "m004_keeping", "m005_days", "m006_note_metadata")
