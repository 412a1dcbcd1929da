"""The learned score and late interaction as stages of the funnel, with the toy encoder and a clock that the test moves."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.encode.late import Late, LateReader, TokenStates
from agent_raw_rag.errors import ModelError
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.reread import MOST
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.rows import ChunkRow

SESSIONS = 60


class Ticking(HashingEncoder):
    """Takes so many milliseconds a text, by its own clock."""

    def __init__(self, text_ms: float = 0.0, fails: bool = False) -> None:
        super().__init__(64)
        self.text_ms, self.fails, self.seconds = text_ms, fails, 0.0
        self.read: list[str] = []

    def clock(self) -> float:
        return self.seconds

    def token_states(self, text: str) -> TokenStates:
        if self.fails:
            raise ModelError("The model file is damaged.")
        self.seconds += self.text_ms / 1000
        self.read.append(text)
        return super().token_states(text)


class Waiting(HashingEncoder):
    """Does not come back from a text that says this, until it is told to."""

    def __init__(self, stuck_in: str = "stuck") -> None:
        super().__init__(64)
        self._stuck_in = stuck_in
        self.go_on = threading.Event()

    def token_states(self, text: str) -> TokenStates:
        if self._stuck_in in text:
            self.go_on.wait(60)
        return super().token_states(text)


class Foreign:
    """An encoder that gives no token states: a server's, say."""

    english_only = False
    unrelated_cosine = None

    def __init__(self) -> None:
        self._inner = HashingEncoder(64)
        self.space = self._inner.space
        self.encode_passages, self.encode_query = self._inner.encode_passages, self._inner.encode_query


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    made = Stored(tmp_path_factory.mktemp("reread"))
    for number in range(SESSIONS):
        said = [
            (Role.USER, f"what is the limit of queue{number} and who set it?", 1000 * number),
            (
                Role.ASSISTANT,
                f"the limit of queue{number} is {number}, set by Ann in deploy{number}.toml",
                1000 * number + 1,
            ),
        ]
        made.add_session(f"session{number}", said)
    made.add_session("chinese", [(Role.USER, "佇列的上限是誰設定的？", 1), (Role.ASSISTANT, "佇列上限是小安設定的", 2)])
    made.index(lambda: HashingEncoder(64))
    return made


def funnel(
    store: Stored, encoder: Encoder, late: Ticking | None, budget_ms: int = 100_000, **switches: object
) -> Funnel:
    settings = Settings().search.model_copy(update={"rerank_budget_ms": budget_ms, **switches})
    wish = None if late is None else Late(lambda: late)
    clock = late.clock if late else (lambda: 0.0)
    return Funnel(store.home, lambda: store.reader, lambda: encoder, settings, lambda: wish, clock=clock)


def rank(ask: Funnel, query: str) -> Ranking:
    return ask.rank(query, Scope(), ask.reader())[0]


def rerank_stage(ranking: Ranking) -> str:
    return next(stage for stage in ranking.stages if stage.startswith("rerank"))


def test_the_best_windows_are_read_again_and_the_answer_says_how_many(store: Stored) -> None:
    encoder = Ticking()
    ranking = rank(funnel(store, encoder, encoder), "who set the limit of the queue?")
    assert f"reranked {MOST} of {len(ranking.order)} by late interaction" in rerank_stage(ranking)
    assert len(ranking.rerank) == MOST and "rerank" in [name for name, _ in ranking.trace]


@given(text_ms=st.integers(1, 400), budget_ms=st.integers(1, 5000))
def test_the_pool_shrinks_to_what_fits_into_the_budget(store: Stored, text_ms: int, budget_ms: int) -> None:
    encoder = Ticking(text_ms)
    ask = funnel(store, encoder, encoder, budget_ms)
    rank(ask, "who set the limit?")
    rank(ask, "who set the limit?")
    before = encoder.seconds
    ranking = rank(ask, "who set the limit?")
    longest = 5 * text_ms
    assert 1000 * (encoder.seconds - before) <= budget_ms + longest
    assert len(ranking.rerank) <= MOST
    assert {chunk_id for chunk_id, _ in ranking.order} >= set(ranking.rerank)


def test_where_the_coarse_stages_took_all_the_time_the_question_is_not_even_read_again(store: Stored) -> None:
    encoder = Ticking(10)
    ask = funnel(store, encoder, encoder, 1000)
    ranking, _ = ask.rank("who set the limit?", Scope(), ask.reader(), encoder.clock() - 0.5)
    assert rerank_stage(ranking) == "rerank: skipped, no time was left for it"
    assert ranking.order and not encoder.read


def test_what_was_not_read_again_stands_behind_in_its_coarse_order(store: Stored) -> None:
    encoder = Ticking(30)
    ranking = rank(funnel(store, encoder, encoder, 1200, recency=False), "who set the limit of the queue?")
    places = [chunk_id in ranking.rerank for chunk_id, _ in ranking.order]
    assert 0 < sum(places) < len(places) and places == sorted(places, reverse=True)
    coarse = sorted(ranking.coarse, key=lambda chunk_id: -ranking.coarse[chunk_id])
    behind = [chunk_id for chunk_id, _ in ranking.order if chunk_id not in ranking.rerank]
    assert behind == [chunk_id for chunk_id in coarse if chunk_id not in ranking.rerank]


def test_a_model_that_fails_leaves_the_coarse_order_and_is_said(store: Stored) -> None:
    encoder = Ticking(fails=True)
    ranking = rank(funnel(store, encoder, encoder), "who set the limit of queue7?")
    assert "failed, the coarse order stays: The model file is damaged" in rerank_stage(ranking)
    assert ranking.order and not ranking.rerank


def test_with_an_encoder_of_another_kind_the_plain_fusion_stays(store: Stored) -> None:
    ranking = rank(funnel(store, Foreign(), Ticking()), "who set the limit of queue7?")
    assert "late interaction goes with the embedded model" in rerank_stage(ranking)
    assert "learned" not in [name for name, _ in ranking.trace] and ranking.order


def test_a_query_that_the_model_cannot_read_is_not_read_again(store: Stored) -> None:
    encoder = Ticking()
    ranking = rank(funnel(store, encoder, encoder), "佇列上限是誰設定的")
    assert "reads English only" in rerank_stage(ranking) and ranking.order


def test_a_passage_stands_around_the_turn_that_answers(store: Stored) -> None:
    encoder = Ticking()
    result = funnel(store, encoder, encoder).search(
        "Ann deploy7.toml", Scope(), top_k=1, max_tokens=6000, zone=SYSTEM_ZONE, resume=lambda _: None
    )
    assert [(one.session, one.turn) for one in result.passages] == [("bench:session7", 2)]


def test_turns_are_ranked_by_their_own_scores(store: Stored) -> None:
    encoder = Ticking()
    ask = funnel(store, encoder, encoder)
    turns = ask.rank_turns("Ann deploy7.toml", Scope(), store.reader, 5)
    sessions = store.reader.session_rows(session for session, _, _ in turns)
    assert next((sessions[session].native, turn) for session, turn, _ in turns) == ("session7", 2)
    assert [score for _, _, score in turns] == sorted((score for _, _, score in turns), reverse=True)


def test_a_text_is_read_once_for_a_question(store: Stored) -> None:
    encoder = Ticking(10)
    rank(funnel(store, encoder, encoder), "who set the limit of the queue?")
    read = encoder.read[1:]  # the question's own states come first
    assert len(read) > MOST and len(read) == len(set(read))


def test_what_is_not_read_in_time_is_left_out_and_holds_nothing_up() -> None:
    encoder = Waiting()
    found = LateReader(encoder).passages(["first", "stuck", "behind"], lambda states: len(states.vectors), 0.5)
    encoder.go_on.set()
    assert found.keys() >= {"first"} and "stuck" not in found


def test_a_model_that_is_stuck_leaves_the_coarse_order_when_the_budget_is_over(store: Stored) -> None:
    encoder = Waiting(stuck_in="")
    settings = Settings().search.model_copy(update={"rerank_budget_ms": 300})
    ask = Funnel(store.home, lambda: store.reader, lambda: encoder, settings, lambda: Late(lambda: encoder))
    ranking = rank(ask, "who set the limit of queue7?")
    encoder.go_on.set()
    assert rerank_stage(ranking) == "rerank: skipped, no time was left for it" and ranking.order


@given(
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=6), gains=st.lists(st.floats(0, 0.3), min_size=6, max_size=6)
)
def test_better_scores_keep_what_a_named_time_has_added(scores: list[float], gains: list[float]) -> None:
    ranking = Ranking(chunks={n: ChunkRow(n, n, 0, "", b"", 0, 9, 1, 1, None, None, 3) for n in range(len(scores))})
    ranking.reorder("fuse", [(n, 0.5) for n in range(len(scores))])
    ranking.lift("time", lambda n: gains[n], 0.3)
    ranking.rebase("learned", dict(enumerate(scores)))
    scale = 1.3 if any(gains[: len(scores)]) else 1.0
    wanted = {n: (scores[n] + (gains[n] if scale > 1 else 0.0)) / scale for n in range(len(scores))}
    assert dict(ranking.order) == pytest.approx(wanted)
    assert [score for _, score in ranking.order] == sorted((score for _, score in ranking.order), reverse=True)
