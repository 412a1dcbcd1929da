"""The dense stage: the query's vector against the cache of its space. Absent, it says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_raw_rag.derived import cache_file
from agent_raw_rag.encode.base import Encoder, Vectors
from agent_raw_rag.errors import ModelError
from agent_raw_rag.search.ranking import Pairs, merged, share_of
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.vectors import Vectors as StoredVectors
from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.scan import VectorFilter

_NO_ENGLISH = "the embedded model reads English only and the query is in another script"


@dataclass(frozen=True, slots=True)
class Near:
    """What the dense stage found."""

    hits: Pairs
    """(chunk id, cosine), best first."""
    why: str
    """Why there is none, if so."""
    encoder: Encoder | None = None
    """That encodes the queries; None: there is none, or it cannot be had."""


class Dense:
    """The vector cache of one store folder, opened at first use and followed as it grows."""

    def __init__(self, home: str, encoder: Callable[[], Encoder | None]) -> None:
        self._home = home
        self._encoder = encoder
        self._cache: VectorCache | None = None
        self._bound = ""

    def search(
        self,
        query: str,
        scope: Scope,
        reader: Reader,
        limit: int,
        also: Sequence[Scope] = (),
        *,
        has_words: bool = True,
    ) -> Near:
        """The nearest chunks.

        Args:
            query: In the user's words.
            scope: Where to look.
            reader: The store.
            limit: Hits at most.
            also: Parts of the scope that get a quarter of the limit for themselves, so that none of them goes without.
            has_words: Whether the query is mostly in words of an alphabet.
        """
        try:
            encoder = self._encoder()
            if encoder is None:
                return Near([], "no encoder is configured")
            if encoder.english_only and not has_words:
                return Near([], _NO_ENGLISH, encoder)
            cache = self._opened(encoder, reader)
            if not len(cache):
                return Near([], _none_in_cache(reader, encoder.space.name), encoder)
            vector = encoder.encode_query(query)
            hits = _nearest(cache, vector, limit, _filter(scope, reader))
            for part in also:
                hits = merged(hits, _nearest(cache, vector, share_of(limit), _filter(part, reader)))
        except ModelError as error:
            return Near([], str(error))
        return Near(hits, "nothing passes the filters", encoder)

    def _opened(self, encoder: Encoder, reader: Reader) -> VectorCache:
        space, generation = encoder.space, reader.generation
        bound = f"{space.name} {generation}"
        if self._cache is None or bound != self._bound:
            self._cache = VectorCache.open(cache_file(self._home, space.name), space.name, space.dim, generation)
            self._bound = bound
        else:
            self._cache.refresh()
        return self._cache


def _nearest(cache: VectorCache, vector: Vectors, limit: int, where: VectorFilter | None) -> Pairs:
    ids, cosines = cache.search(vector, limit, where)
    return list(zip(ids.tolist(), cosines.tolist(), strict=True))


def _filter(scope: Scope, reader: Reader) -> VectorFilter | None:
    sessions = reader.session_ids(scope)
    if sessions is None and scope.after is None and scope.before is None and not scope.roles:
        return None
    return VectorFilter(sessions, scope.after, scope.before, scope.role_mask)


def _none_in_cache(reader: Reader, space: str) -> str:
    """Why an empty cache is empty."""
    if not StoredVectors(reader.connection, space).count()[0]:
        return "no vectors have been made yet"
    return "the vectors are stored, and their cache is missing: `raw-rag doctor --fix` makes it"
