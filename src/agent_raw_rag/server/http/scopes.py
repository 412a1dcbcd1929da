"""Which scope of a token each tool asks for. A tool that is not in the table is given to nobody over HTTP."""

from __future__ import annotations

TOOL_SCOPES = {
    "memory_recall": "read",
    "memory_search_raw": "read",
    "memory_save": "write",
    "memory_capture": "write",
    "memory_update": "write",
    "memory_candidates": "curate",
    "memory_history": "curate",
    "memory_journal": "curate",
    "memory_propose": "curate",
    "memory_promote": "curate",
    "memory_reject": "curate",
    "chat": "chat",
    "raw_rag_search": "read",
    "raw_rag_recent": "read",
    "raw_rag_context": "read",
    "raw_rag_status": "read",
    "raw_rag_ingest": "write",
}
READ = "read"
CURATE = "curate"
CHAT = "chat"
HOME_ONLY = frozenset({"raw_rag_ingest"})
"""Tools that work on the home itself: the agents' logs are read into the default space, and into no other."""
TELL_OF_HOME = frozenset({"raw_rag_status"})
"""Tools whose answer names the home's folders and what goes on in it: only for tokens that open the default space."""
KNOW_NO_STORE = frozenset(name for name in TOOL_SCOPES if name.startswith("memory_") or name == CHAT)
"""Tools that take a space without a store for one that holds nothing; the others expect the store of an ingest."""
QUICK_READS = frozenset({"memory_recall", "memory_search_raw"})
"""Reads of some milliseconds that wait for no lock and no model."""
