"""What is derived from the store, and from what: the one place where the leaves ``store`` and ``lexical`` meet.

``ingest`` feeds with it, ``search`` reads with it. Everything named here can be deleted at any time.
"""

from __future__ import annotations

import glob
import os

from agent_raw_rag.lexical.documents import LexicalDoc, LexicalFilter
from agent_raw_rag.store.reader import ChunkFacts, Scope
from agent_raw_rag.store.rows import roles_of


def lexical_folder(home: str) -> str:
    """Where the lexical index of a store is."""
    return os.path.join(home, "lexical")


def cache_file(home: str, space: str) -> str:
    """Where the vector cache of a space is."""
    return os.path.join(home, "vectors", f"{space}.cache")


def cache_files(home: str, space: str | None = None) -> list[str]:
    """The vector caches there are, of one space or of all, and the drafts of caches that a killed writer left."""
    whole = cache_file(glob.escape(home), "*" if space is None else glob.escape(space))
    return sorted([*glob.glob(whole), *glob.glob(f"{whole}.new")])


def lexical_doc(facts: ChunkFacts) -> LexicalDoc:
    """A chunk as the index takes it. A session is found under its project and under the folder it ran in."""
    chunk = facts.chunk
    folders = dict.fromkeys(folder for folder in (facts.project, facts.cwd) if folder)
    return LexicalDoc(
        chunk_id=chunk.id, text=chunk.text, session=chunk.session_id, agent=facts.agent, projects=tuple(folders),
        branch=facts.branch, roles=tuple(role.value for role in roles_of(chunk.roles)), start=chunk.started,
        end=chunk.ended,
    )  # fmt: skip


def lexical_filter(scope: Scope) -> LexicalFilter:
    """A scope as the index takes it."""
    return LexicalFilter(
        projects=scope.projects or None,
        agents=scope.agents or None,
        sessions=scope.sessions or None,
        branches=(scope.branch,) if scope.branch is not None else None,
        roles=tuple(role.value for role in scope.roles) or None,
        after=scope.after,
        before=scope.before,
    )
