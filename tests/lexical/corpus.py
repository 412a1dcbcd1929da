"""Chunks and filters at random, and an index over some chunks."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from agent_raw_rag.lexical.documents import LexicalDoc, LexicalFilter
from agent_raw_rag.lexical.index import LexicalIndex

WORDS = ("upload", "retry", "timeout", "資料庫", "src/a.py", "cache")
PROJECTS = ("/w/app", "/w/app/api", "/w/app-two", "/w", "host.example/me/app")
AGENTS = ("one", "two")
ROLES = ("user", "assistant", "task")

_times = st.one_of(st.none(), st.integers(0, 20))
_any_of = st.none() | st.lists(st.sampled_from(AGENTS), max_size=2)

DOCS = st.lists(
    st.builds(
        LexicalDoc,
        chunk_id=st.integers(1, 60),
        text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        session=st.integers(1, 4),
        agent=st.sampled_from(AGENTS),
        projects=st.lists(st.sampled_from(PROJECTS), max_size=2).map(tuple),
        branch=st.sampled_from((None, "main", "fix/x")),
        roles=st.lists(st.sampled_from(ROLES), max_size=2, unique=True).map(tuple),
        start=_times,
        end=_times,
    ),
    unique_by=lambda doc: doc.chunk_id,
    max_size=25,
)
FILTERS = st.builds(
    LexicalFilter,
    projects=st.none() | st.lists(st.sampled_from((*PROJECTS, "/w/app/", "/", "host.example")), max_size=2),
    agents=_any_of,
    sessions=st.none() | st.sets(st.integers(0, 5), max_size=3),
    branches=st.none() | st.lists(st.sampled_from(("main", "fix/x", "gone")), max_size=2),
    roles=st.none() | st.lists(st.sampled_from(ROLES), max_size=2),
    after=st.none() | st.integers(0, 20),
    before=st.none() | st.integers(0, 20),
)


def index_of(docs: Iterable[LexicalDoc]) -> LexicalIndex:
    index = LexicalIndex.in_memory()
    index.add(docs)
    index.commit(0)
    return index


def numbered(*texts: str) -> list[LexicalDoc]:
    return [LexicalDoc(number, text) for number, text in enumerate(texts, 1)]


def found(index: LexicalIndex, query: str, filters: LexicalFilter | None = None, limit: int = 128) -> list[int]:
    return [chunk_id for chunk_id, _ in index.search(query, filters or LexicalFilter(), limit)]
