"""Asking every question of a dataset in every configuration. A conversation's store is made and encoded once for all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_raw_rag.chunker import Windows
from agent_raw_rag.config import Settings
from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.evals.apart import side_by_side
from agent_raw_rag.evals.asking import Asked, Asker, RememberingEncoder, moment_of, remembering
from agent_raw_rag.evals.configurations import FULL, Configuration
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.evals.dataset import CorpusTurn, Dataset, Question, role_and_text
from agent_raw_rag.evals.names import CorpusNames, Names, TextNames
from agent_raw_rag.evals.shown import Manner
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.reader import Reader

Answers = dict[str, list[Asked]]
"""Configuration -> what came of each question, in the dataset's order."""
OnProgress = Callable[[int, int], None]
"""Questions asked so far, and to be asked in all, each as often as there are configurations."""


@dataclass(frozen=True, slots=True)
class Part:
    """The turns of one store and the questions that are asked of it."""

    turns: list[CorpusTurn]
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked, apart from the questions."""

    configurations: list[Configuration]
    manners: tuple[Manner, ...] = ()
    """Ways of showing an answer, measured in the configuration ``full``."""


def parts(dataset: Dataset, *, in_one_store: bool = False) -> list[Part]:
    """A store for each conversation that is asked about, or one for all."""
    if in_one_store:
        return [Part(dataset.turns, dataset.questions)]
    found = [dataset.only([name]) for name in dataset.conversations()]
    return [Part(one.turns, one.questions) for one in found if one.questions]


def run(
    runtime: Runtime, work: Sequence[Part], plan: Plan, *, jobs: int = 1,
    on_progress: OnProgress = lambda done, total: None,
) -> Answers:  # fmt: skip
    """Ask everything, in ``jobs`` processes. The answers do not depend on their number; the times do.

    Raises:
        ModelError: the encoder is missing or damaged.
        RawRagError: a process of several died.
    """
    total = len(plan.configurations) * sum(len(part.questions) for part in work)
    with tempfile.TemporaryDirectory(prefix="raw-rag-eval-") as folder:
        told = _Counter(total, on_progress)
        if jobs == 1 or len(work) == 1:
            model = remembering(corpus_encoder(runtime))
            answers = [_ask_part(runtime, model, part, plan, folder, told) for part in work]
        else:
            given = (runtime.settings, dict(runtime.environment), plan, folder)
            answers = side_by_side(work, _ask_apart, _start, given, min(jobs, len(work)), lambda one: told(_size(one)))
    return {one.name: [row for part in answers for row in part[one.name]] for one in plan.configurations}


def corpus_encoder(runtime: Runtime) -> Encoder | None:
    """The encoder that the settings mean for an empty store; None: lexical search only. Raises ModelError."""
    choice = runtime.models.encoder_choice(None)
    return runtime.models.encoder(choice) if choice is not None else None


def run_own(
    runtime: Runtime, questions: Sequence[Question], plan: Plan, on_progress: OnProgress = lambda done, total: None
) -> Answers:
    """Ask the user's own store, which is only read.

    Raises:
        StoreError: there is none.
    """
    model = remembering(runtime.spaces.encoder())
    told = _Counter(len(plan.configurations) * len(questions), on_progress)
    return _ask(runtime, runtime.home, runtime.reader, TextNames(runtime.reader), model, questions, plan, told)


def _size(answers: Answers) -> int:
    return sum(map(len, answers.values()))


class _Counter:
    """Counts questions as they are asked."""

    def __init__(self, total: int, on_progress: OnProgress) -> None:
        self.done, self.total, self._tell = 0, total, on_progress
        self._tell(0, total)

    def __call__(self, more: int = 1) -> None:
        self.done += more
        self._tell(self.done, self.total)


_here: list[tuple[Runtime, RememberingEncoder | None, Plan, str]] = []
"""In a worker process: its own runtime, with the model that it loads once."""


def _start(settings: Settings, environment: dict[str, str], plan: Plan, folder: str) -> None:
    runtime = Runtime(settings, environment)
    _here.append((runtime, remembering(corpus_encoder(runtime)), plan, folder))


def _ask_apart(part: Part) -> Answers:
    runtime, model, plan, folder = _here[0]
    return _ask_part(runtime, model, part, plan, folder, lambda more: None)


def _ask_part(
    runtime: Runtime, model: RememberingEncoder | None, part: Part, plan: Plan, folder: str,
    told: Callable[[int], None],
) -> Answers:  # fmt: skip
    """One part in all configurations: a store for each size of window."""
    answers: Answers = {}
    for windows in dict.fromkeys(one.windows for one in plan.configurations):
        same = Plan([one for one in plan.configurations if one.windows == windows], plan.manners)
        with tempfile.TemporaryDirectory(dir=folder) as home, _stored(Path(home), part, windows) as store:
            store.index(lambda: model)
            names = CorpusNames(store.reader, {turn.id: len(turn.text) for turn in part.turns})
            latest = moment_of(max((turn.time for turn in part.turns if turn.time is not None), default=None))
            answers |= _ask(runtime, store.home, store.reader, names, model, part.questions, same, told, latest)
    return answers


@contextmanager
def _stored(folder: Path, part: Part, windows: Windows) -> Iterator[Stored]:
    """A part's turns in a store, session by session."""
    store = Stored(folder, windows)
    first: dict[str, str] = {}
    sessions: dict[tuple[str, str], list[CorpusTurn]] = {}
    for turn in part.turns:
        first.setdefault(turn.conversation, turn.speaker)
        sessions.setdefault((turn.conversation, turn.session), []).append(turn)
    try:
        for (name, session), turns in sessions.items():
            said = [(*role_and_text(turn, first[name]), turn.time) for turn in turns]
            store.add_session(f"{name}/{session}", said, f"/bench/{name}", [turn.id for turn in turns])
        yield store
    finally:
        store.close()


def _ask(
    runtime: Runtime, home: str, reader: Reader, names: Names, model: RememberingEncoder | None,
    questions: Sequence[Question], plan: Plan, told: Callable[[int], None], latest: datetime | None = None,
) -> Answers:  # fmt: skip
    answers: Answers = {}
    for one in plan.configurations:
        funnel = runtime.funnel_over(home, lambda: reader, one.search, lambda: model)
        asker = Asker(funnel, reader, names, model, plan.manners if one.name == FULL else (), latest)
        answers[one.name] = [_asked(asker, question, told) for question in questions]
    return answers


def _asked(asker: Asker, question: Question, told: Callable[[int], None]) -> Asked:
    asked = asker.ask(question)
    told(1)
    return asked
