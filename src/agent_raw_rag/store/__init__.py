"""Our only database: one SQLite file that is the truth about text, cursors and vectors."""
