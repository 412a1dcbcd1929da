"""Vector spaces side by side: the searched one stays until the new one is complete, and nothing is embedded twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent_raw_rag.derived import cache_file
from agent_raw_rag.encode.base import Encoder, Space, Vectors
from agent_raw_rag.encode.choice import Choice
from agent_raw_rag.encode.registry import encoder
from agent_raw_rag.errors import ModelError, NotFoundError, TextRefusedError, UsageError
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.ingest import embed
from agent_raw_rag.ingest.embed import embed_backlog
from agent_raw_rag.ingest.spaces import Embedding, drop_space
from agent_raw_rag.models import Role
from agent_raw_rag.search.spaces import space_items
from agent_raw_rag.store.spaces import Spaces
from agent_raw_rag.store.vectors import Vectors as Stock
from agent_raw_rag.vectors.cache import VectorCache

SMALL, WIDE = Choice("hashing", {"dim": 32}), Choice("hashing", {"dim": 64})


def made(choice: Choice) -> Encoder:
    return encoder(choice, {})


def space(choice: Choice) -> str:
    return made(choice).space.name


def add(store: Stored, number: int) -> None:
    said = [(Role.USER, f"question {number} {place} about topic{place}", None) for place in range(40)]
    store.add_session(f"session-{number}", said)


def run(store: Stored, choice: Choice, **options: Any) -> Embedding:
    done = Embedding(store.connection, store.home, options.pop("made", made), embed.nullcontext, **options)
    done.result = done.run(choice)  # type: ignore[attr-defined]
    return done


def state(store: Stored) -> dict[str, tuple[bool, int, int]]:
    return {item.space: (item.active, item.embedded, item.backlog) for item in space_items(store.reader)}


@pytest.fixture
def store(tmp_path: Path) -> Stored:
    stored = Stored(tmp_path)
    add(stored, 1)
    return stored


class Failing:
    """An encoder that stops after so many texts, or makes something else than vectors."""

    english_only = False
    unrelated_cosine = None

    def __init__(self, inner: Encoder, texts: int) -> None:
        self._inner = inner
        self.left = texts

    @property
    def space(self) -> Space:
        return self._inner.space

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.left -= len(texts)
        if self.left < 0:
            raise ModelError("The server is gone.")
        return self._inner.encode_passages(texts)

    def encode_query(self, text: str) -> Vectors:
        return self._inner.encode_query(text)


def test_the_first_space_is_searched_at_once(store: Stored) -> None:
    run(store, SMALL)
    assert state(store) == {space(SMALL): (True, store.chunks(), 0)}


def test_another_model_fills_a_space_of_its_own_and_takes_over_when_it_is_complete(store: Stored) -> None:
    run(store, SMALL)
    done = run(store, WIDE)
    assert state(store) == {space(WIDE): (True, store.chunks(), 0), space(SMALL): (False, store.chunks(), 0)}
    assert done.notes[0].startswith(f"{space(WIDE)} is complete")


def test_until_then_the_old_space_is_searched_and_gets_new_chunks_too(store: Stored) -> None:
    run(store, SMALL, slice_chunks=1)
    add(store, 2)
    failing = Failing(made(WIDE), texts=1)
    done = run(store, WIDE, slice_chunks=1, made=lambda choice: failing if choice == WIDE else made(choice))
    assert done.result[:3] == (store.chunks() // 2 + 1, store.chunks() - 1, "The server is gone.")  # type: ignore[attr-defined]
    assert state(store) == {
        space(SMALL): (True, store.chunks(), 0),
        space(WIDE): (False, 1, store.chunks() - 1),
    }
    run(store, WIDE, slice_chunks=1)
    assert Spaces(store.connection).active_name() == space(WIDE)


def test_what_was_filled_is_not_filled_again(store: Stored) -> None:
    run(store, SMALL, slice_chunks=1)
    first = Failing(made(WIDE), texts=2)
    run(store, WIDE, slice_chunks=1, made=lambda choice: first if choice == WIDE else made(choice))
    second = Failing(made(WIDE), texts=10_000)
    run(store, WIDE, slice_chunks=1, made=lambda choice: second if choice == WIDE else made(choice))
    assert 10_000 - second.left == store.chunks() - 2


def test_going_back_embeds_only_what_came_since(store: Stored) -> None:
    run(store, SMALL)
    run(store, WIDE)
    add(store, 2)
    run(store, WIDE)
    counting = Failing(made(SMALL), texts=10_000)
    run(store, SMALL, made=lambda choice: counting if choice == SMALL else made(choice))
    assert Spaces(store.connection).active_name() == space(SMALL)
    assert 10_000 - counting.left == store.chunks() // 2


def test_the_searched_space_falls_behind_aloud_if_its_model_is_gone(store: Stored) -> None:
    run(store, SMALL)
    add(store, 2)

    def without_the_old(choice: Choice) -> Encoder:
        if choice == SMALL:
            raise ModelError("The weights are gone.")
        return made(choice)

    done = run(store, WIDE, made=without_the_old)
    assert f"New chunks get no vector in {space(SMALL)}" in done.notes[0]
    assert Spaces(store.connection).active_name() == space(WIDE)


def test_a_model_that_cannot_be_made_leaves_the_index_as_it_is(store: Stored) -> None:
    run(store, SMALL)
    add(store, 2)

    def without_the_new(choice: Choice) -> Encoder:
        if choice == WIDE:
            raise ModelError("There is no such folder.")
        return made(choice)

    done = run(store, WIDE, made=without_the_new)
    assert done.result.problem == "There is no such folder."  # type: ignore[attr-defined]
    assert state(store) == {space(SMALL): (True, store.chunks(), 0)}


def test_an_encoder_that_never_worked_leaves_no_space(store: Stored) -> None:
    run(store, SMALL)
    dead = Failing(made(WIDE), texts=0)
    done = run(store, WIDE, made=lambda choice: dead if choice == WIDE else made(choice))
    assert done.result.problem == "The server is gone."  # type: ignore[attr-defined]
    assert set(state(store)) == {space(SMALL)}


def test_filling_rests_for_its_share_of_the_time(store: Stored) -> None:
    rests: list[float] = []
    run(store, SMALL, refill_share=0.25, pause=rests.append)
    assert rests == []
    run(store, WIDE, refill_share=0.25, pause=rests.append)
    assert rests and all(rest > 0 for rest in rests)


class Choosy(Failing):
    """An encoder that refuses some texts for good."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if any(" 3 about" in text for text in texts):
            raise TextRefusedError(f"A text of {len(texts[0])} characters is too long.")
        return self._inner.encode_passages(texts)


def test_a_text_that_the_model_refuses_for_good_holds_up_nothing(store: Stored) -> None:
    choosy = Choosy(made(WIDE), 0)
    run(store, SMALL)
    done = run(store, WIDE, made=lambda choice: choosy if choice == WIDE else made(choice))
    assert Spaces(store.connection).active_name() == space(WIDE)
    assert any("found by words only" in note for note in done.notes)
    assert state(store)[space(WIDE)] == (True, store.chunks(), 0)
    cache = VectorCache.open(cache_file(store.home, space(WIDE)), space(WIDE), 64, store.reader.generation)
    assert len(cache) == store.chunks()


class Unfit(Failing):
    """An encoder that refuses every text."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        raise TextRefusedError("The inference server answered with status 400 (no such model).")


def test_a_model_that_refuses_every_text_fills_nothing(store: Stored) -> None:
    run(store, SMALL)
    done = run(store, WIDE, made=lambda choice: Unfit(made(choice), 0) if choice == WIDE else made(choice))
    assert "takes no text" in done.result.problem  # type: ignore[attr-defined]
    assert set(state(store)) == {space(SMALL)}
    assert Spaces(store.connection).active_name() == space(SMALL)


def test_vectors_of_a_model_that_took_the_others_place_do_not_count_as_the_searched_ones(store: Stored) -> None:
    rests: list[float] = []
    run(store, SMALL)
    add(store, 2)
    done = run(store, SMALL, made=lambda choice: made(WIDE), refill_share=0.25, pause=rests.append)
    assert f"New chunks get no vector in {space(SMALL)}" in done.notes[0]
    assert rests and Spaces(store.connection).active_name() == space(WIDE)


class Odd:
    """An encoder whose vectors are not what its space says."""

    english_only = False
    unrelated_cosine = None
    space = Space("odd", "1", 4)

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self.vectors

    def encode_query(self, text: str) -> Vectors:
        return self.vectors[0]


ODD: Mapping[str, Vectors] = {
    "another dimension": np.full((3, 8), 8**-0.5, np.float32),
    "fewer vectors than texts": np.full((1, 4), 0.5, np.float32),
    "not numbers": np.full((3, 4), np.nan, np.float32),
    "without length": np.zeros((3, 4), np.float32),
}


@pytest.mark.parametrize("name", ODD)
def test_vectors_that_are_none_are_refused_and_nothing_is_stored(name: str, store: Stored) -> None:
    done = embed_backlog(store.connection, store.home, lambda: Odd(ODD[name]), slice_chunks=3)
    assert done.encoded == 0
    assert done.problem is not None
    assert "othing was stored" in done.problem or "configure" in done.problem
    assert Stock(store.connection, Odd.space.name).count()[0] == 0


def test_a_text_forgotten_while_it_is_encoded_gets_no_vector(store: Stored) -> None:
    stock = Stock(store.connection, "any")
    stock.put([(b"no such text", b"\0\0")])
    assert store.connection.execute("SELECT count(*) FROM vectors").fetchone()[0] == 0


def test_dropping_takes_a_kept_space_and_never_the_searched_one(store: Stored) -> None:
    run(store, SMALL)
    run(store, WIDE)
    with pytest.raises(UsageError, match="is the space that is searched"):
        drop_space(store.connection, store.home, space(WIDE))
    with pytest.raises(NotFoundError, match=r"no vector space 'nope'"):
        drop_space(store.connection, store.home, "nope")
    drop_space(store.connection, store.home, space(SMALL))
    assert set(state(store)) == {space(WIDE)}
    assert store.connection.execute("SELECT count(DISTINCT space) FROM vectors").fetchone()[0] == 1


def test_a_dropped_spaces_cache_goes_before_its_first_vector(store: Stored) -> None:
    run(store, SMALL)
    run(store, WIDE)
    cache = Path(cache_file(store.home, space(SMALL)))
    assert cache.exists()
    there: list[bool] = []
    store.connection.set_trace_callback(lambda sql: there.append(cache.exists()) if "DELETE" in sql else None)
    drop_space(store.connection, store.home, space(SMALL))
    assert there and not any(there)
