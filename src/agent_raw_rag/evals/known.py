"""Known-item questions out of a store, made without a model: turns are picked by chance, and each is asked for in its own words.

Kinds of questions, in turn: ``rare`` (the rarest words of the turn), ``identifier`` (its rarest identifier, path or code),
``sentence`` (a sentence out of its middle with every third word dropped). The same seed over the same store gives the same
questions. They are easier than real ones, since the asker knows the words: good for comparing settings, not for boasting.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from agent_raw_rag.errors import StoreError
from agent_raw_rag.evals.dataset import Dataset, Question
from agent_raw_rag.evals.names import text_name
from agent_raw_rag.lexical.queries import STOPWORDS
from agent_raw_rag.lexical.terms import fold, is_dense, word_terms, words
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.rows import ShownTurn

Idf = Callable[[Iterable[str]], dict[str, float]]
"""Terms -> how much each tells in the store's index."""

LEAST_WORDS = 12
"""A shorter turn ("yes, go on") is nothing that one looks for."""
MOST_CHARS = 20_000
"""So much of a turn is looked at."""
RARE = 4
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？\n]+")


def known_items(reader: Reader, idf: Idf, count: int, seed: int) -> Dataset:
    """Up to ``count`` questions, each with every turn of the same text as its gold; no turn is asked for twice.

    Raises:
        StoreError: the store holds no turn that is long enough.
    """
    chance = random.Random(seed)  # noqa: S311
    makers = {"rare": _rare, "identifier": _identifier, "sentence": _sentence}
    order = list(makers)
    questions: dict[str, Question] = {}
    for turn in _by_chance(reader, chance):
        if len(questions) == count:
            break
        name = text_name(turn.text)
        if name in questions:
            continue
        wanted = len(questions) % len(order)
        for kind in (*order[wanted:], *order[:wanted]):
            text = makers[kind](turn.text[:MOST_CHARS], idf, chance)
            if text:
                number = f"q{len(questions) + 1:04d}"
                questions[name] = Question(number, "store", text, (kind,), (frozenset([name]),))
                break
    if not questions:
        raise StoreError(
            "The store holds no turn that could be asked for.", hint="`raw-rag-ingest` reads the agents' logs."
        )
    live = [facts.live_turns for facts in reader.sessions(Scope())]
    return Dataset("store", [], list(questions.values()), held=(len(live), sum(live)))


def _by_chance(reader: Reader, chance: random.Random) -> Iterator[ShownTurn]:
    """The live turns that are long enough, in an order of chance, without reading more of them than are asked for."""
    sessions = sorted((facts.row.id, facts.row.turns) for facts in reader.sessions(Scope()))
    ends = list(accumulate(turns for _, turns in sessions))
    for place in chance.sample(range(ends[-1] if ends else 0), ends[-1] if ends else 0):
        at = bisect_right(ends, place)
        session, ordinal = sessions[at][0], ends[at] - place
        for turn in reader.turns(session, ordinal, ordinal):
            if len(words(turn.text[:MOST_CHARS])) >= LEAST_WORDS:
                yield turn


def _rare(text: str, idf: Idf, chance: random.Random) -> str:
    plain = [word for word in _told(text) if not _is_code(word)]
    return " ".join(_rarest(plain, idf)[:RARE])


def _identifier(text: str, idf: Idf, chance: random.Random) -> str:
    return "".join(_rarest([word for word in _told(text) if _is_code(word)], idf)[:1])


def _sentence(text: str, idf: Idf, chance: random.Random) -> str:
    sentences = [part for part in _SENTENCE_END.split(text) if len(words(part)) >= LEAST_WORDS // 2]
    if not sentences:
        return ""
    middle = words(sentences[len(sentences) // 2])
    dropped = chance.randrange(3)
    return " ".join(word for place, word in enumerate(middle[: 2 * LEAST_WORDS]) if place % 3 != dropped)


def _told(text: str) -> list[str]:
    """The distinct words of a text that tell something, in order."""
    return [word for word in dict.fromkeys(words(text)) if len(word) > 2 and fold(word) not in STOPWORDS]


def _is_code(word: str) -> bool:
    """Whether a word looks like a name out of code, a path or an error."""
    inner = word.strip("-")
    mixed = any(sign in inner for sign in "_/.") or any(one.isdigit() for one in inner)
    return is_dense(word) is None and any(one.isalpha() for one in inner) and (mixed or not inner[1:].islower())


def _rarest(found: list[str], idf: Idf) -> list[str]:
    """Words, the one that tells most first; of equals in the order of the text."""
    whole = {word: (word_terms(word) or [""])[-1] for word in found}
    tells = idf(whole.values())
    return sorted(found, key=lambda word: -tells[whole[word]])
