"""Words: text -> terms, and the derived full-text index over chunks. Knows nothing of the store."""
