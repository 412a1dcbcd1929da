"""Nearest vectors: the derived file of one vector space, and the search over it. Knows nothing of the store."""
