"""Whatever of a conversation a client sends again, each of its turns is captured once."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.gateway.exchange import Exchange, captures
from agent_raw_rag.gateway.questions import Questions
from agent_raw_rag.gateway.shapes import Asked, Message, Said

WORDS = st.sampled_from(["go on", "yes", "go  on", "ok"])
TALK = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=4)), max_size=8)
"""What the user says, and what is answered to it: before the last answer each calls a tool, and the agent goes on by itself."""
RETRIES = st.lists(st.integers(0, 2), min_size=40, max_size=40)


@dataclass
class Store:
    """What is stored: a turn with a key that is known is not stored again."""

    turns: dict[tuple[object, ...], str] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)

    def ask(self, messages: list[Message], words: str) -> None:
        asked, said = Asked("m", False, tuple(messages)), Said(words)
        question = self.questions.id_of(("space", "s"), asked, words)
        for one in captures(Exchange(asked, said, "s", False, 1, 2, question)):
            self.turns.setdefault((one.role, one.host_turn_id), one.content)


def told(talk: list[tuple[str, list[str]]], window: int | None, retries: list[int]) -> tuple[list[str], list[str]]:
    """(what was said, what is stored); ``window``: the most messages that a request holds, its system's apart."""
    store, history, often = Store(), list[Message](), iter(retries)
    for asked, answers in talk:
        history.append(Message("user", asked))
        for words in answers:
            sent = history if window is None else history[-window:]
            for n in range(1 + next(often, 0)):
                store.ask([Message("system", f"It is {n} o'clock."), *sent], words)
            history.append(Message("assistant", words))
    return [one.text for one in history], list(store.turns.values())


@given(TALK, RETRIES)
def test_of_a_history_that_is_sent_whole_each_turn_is_stored_once(
    talk: list[tuple[str, list[str]]], retries: list[int]
) -> None:
    said, stored = told(talk, None, retries)
    assert stored == said


@given(TALK, RETRIES, st.integers(2, 9))
def test_of_a_window_that_slides_each_turn_is_stored_once_where_no_two_windows_are_the_same(
    talk: list[tuple[str, list[str]]], retries: list[int], window: int
) -> None:
    numbered = [
        (asked, [f"{words} {n}.{k}" for k, words in enumerate(answers)]) for n, (asked, answers) in enumerate(talk)
    ]
    window = max(window, 1 + max((len(answers) for _, answers in numbered), default=0))
    said, stored = told(numbered, window, retries)
    assert stored == said


@given(TALK, RETRIES, st.integers(1, 9))
def test_no_window_makes_more_turns_than_were_said(
    talk: list[tuple[str, list[str]]], retries: list[int], window: int
) -> None:
    window = max(window, 1 + max((len(answers) for _, answers in talk), default=0))
    said, stored = told(talk, window, retries)
    assert len(stored) <= len(said)


def test_the_same_words_a_second_and_a_third_time_are_turns_though_a_window_slides() -> None:
    talk = [("Begin.", ["One."]), ("go on", ["Two."]), ("go on", ["Three."]), ("go on", ["Four."])]
    for window in (2, 3, 4, 5, None):
        said, stored = told(talk, window, [])
        assert stored == said


def test_an_answer_that_is_begun_for_the_model_is_no_going_on_from_the_one_before() -> None:
    store = Store()
    store.ask([Message("user", "go on")], "One.")
    store.ask([Message("user", "go on"), Message("assistant", "One."), Message("user", "go on"), Message("assistant", "Begun")],
              "Two.")  # fmt: skip
    assert list(store.turns.values()) == ["go on", "One.", "go on", "Two."]


def test_without_what_is_remembered_an_agent_that_goes_on_with_its_whole_history_makes_no_second_turn() -> None:
    history, turns = [Message("user", "Look.")], dict[tuple[object, ...], str]()
    for words in ("[bash] ls", "[bash] ls", "Done."):
        for one in captures(Exchange(Asked("m", False, tuple(history)), Said(words), "s", False, 1, 2)):
            turns.setdefault((one.role, one.host_turn_id), one.content)
        history.append(Message("assistant", words))
    assert list(turns.values()) == [one.text for one in history]
