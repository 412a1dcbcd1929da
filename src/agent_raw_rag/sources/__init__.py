"""Arrow 1: bytes after a cursor -> records. The only readers of the agents' files; they write nothing there."""
