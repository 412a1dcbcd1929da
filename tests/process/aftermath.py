"""What a store holds after unrest, compared with one that is made of the same logs in one go."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent_raw_rag.derived import cache_file, lexical_folder
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.spaces import Spaces
from agent_raw_rag.store.vectors import Vectors
from agent_raw_rag.vectors.cache import VectorCache
from tests.dump import differences, dump

LASTING = {
    "raw_rag.db", "raw_rag.db-wal", "raw_rag.db-shm", "config.toml", "lexical", "vectors", "log", "daemon.json",
    "writer.lock", "embedder.lock", "daemon.lock", "daemon.sock.lock",
}  # fmt: skip
"""What may stand in a home folder while nobody runs."""


@dataclass(frozen=True)
class Aftermath:
    """A store, looked at from all sides."""

    integrity_check: str
    differences: list[str]
    """Rows that only it has, or only the one made in one go."""
    lost: list[str]
    """Marks that were said and stand in no turn."""
    doubled: list[str]
    """Marks that stand in more than one turn."""
    turns: int
    chunks: int
    with_vector: int
    without_vector: int
    orphans: int
    """Vectors of texts that no chunk has."""
    cache_is_whole: bool
    """The vector cache holds exactly the chunks."""
    index_is_whole: bool
    """The lexical index holds exactly the chunks."""
    left_over: list[str]
    """Files that nobody needs any more."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        wrong = [*self.differences, *self.lost, *self.doubled, *self.left_over]
        whole = self.cache_is_whole and self.index_is_whole and self.chunks == self.with_vector
        return whole and self.integrity_check == "ok" and not wrong and not self.orphans and not self.without_vector


def aftermath(variables: dict[str, str], marks: list[str], once: Path) -> Aftermath:
    """After a last catch-up. ``marks``: words that were each said once. ``once``: a new folder, for the store to compare with."""
    store = Path(variables["RAW_RAG_HOME"])
    Runtime.load(None, variables).ingest()
    once.mkdir(mode=0o700)
    (once / "config.toml").write_bytes((store / "config.toml").read_bytes())
    (once / "config.toml").chmod(0o600)
    Runtime.load(None, {**variables, "RAW_RAG_HOME": str(once)}).ingest(embed=False)
    with closing(connect(str(store / "raw_rag.db"), write=False)) as found:
        with closing(connect(str(once / "raw_rag.db"), write=False)) as undisturbed:
            unlike = differences(dump(undisturbed), dump(found))
        return _looked_at(store, found, unlike, marks)


def _looked_at(store: Path, found: sqlite3.Connection, unlike: list[str], marks: list[str]) -> Aftermath:
    reader, space = Reader(found), Spaces(found).active()
    assert space is not None
    ids = [row[0] for row in found.execute("SELECT id FROM chunks ORDER BY id")]
    ready, missing = Vectors(found, space.name).count()
    texts = [row[0] for row in found.execute("SELECT text FROM turns")]
    times = {mark: sum(f"{mark} " in text for text in texts if mark in text) for mark in marks}
    feed_lexical(reader, str(store))  # a search scores the last few chunks by hand, so that they may wait
    cache = VectorCache.open(cache_file(str(store), space.name), space.name, space.dim, reader.generation)
    index = LexicalIndex.open(lexical_folder(str(store)), reader.generation)
    return Aftermath(
        integrity_check=found.execute("PRAGMA integrity_check").fetchone()[0],
        differences=unlike,
        lost=[mark for mark, count in times.items() if not count],
        doubled=[mark for mark, count in times.items() if count > 1],
        turns=len(texts), chunks=len(ids), with_vector=ready, without_vector=missing,
        orphans=found.execute("SELECT count(*) FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks)").fetchone()[0],
        cache_is_whole=cache.chunk_ids().tolist() == ids,
        index_is_whole=index.chunk_ids() == ids,
        left_over=sorted(one.name for one in store.iterdir() if one.name not in LASTING),
    )  # fmt: skip
