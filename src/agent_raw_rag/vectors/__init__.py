"""Nearest vectors, exactly: the derived, memory-mapped cache of one vector space. Knows nothing of the store."""
