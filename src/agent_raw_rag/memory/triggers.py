"""A turn -> the sentences that are worth proposing as notes. Deterministic, no model, no clock.

Above: ``sweep`` and ``raw-rag triggers``. Below: ``sentences``, and ``rules`` with the shipped data in ``triggers.toml``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from unicodedata import east_asian_width

from agent_raw_rag.errors import ConfigError
from agent_raw_rag.memory.rules import Rule, RuleFile, laid_over, read_rules
from agent_raw_rag.memory.sentences import sentences

OWN_FILE = "triggers.toml"
"""In the home folder: the user's own rules."""
SHORTEST, LONGEST = 10, 500
"""Characters of a sentence that may be proposed. For the least, a wide one (Han, Kana, Hangul) counts as two: it says as much."""
FEWEST = 6
"""Characters that are needed however wide they are."""
PER_TURN = 3
"""Sentences of one turn, at most: whoever pastes a whole page wants none of it remembered."""
_QUESTION = re.compile(r"[?？][\s\"')」』”’]*$")


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence that a rule found."""

    text: str
    rule: Rule


class Triggers:
    """The rules in force."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)

    @classmethod
    def load(cls, home: str) -> Triggers:
        """The shipped rules with the user's own file laid over them.

        Raises:
            ConfigError: the user's file cannot be read, or is wrong; the message says where and why.
        """
        return cls(_with_own(os.path.join(home, OWN_FILE)))

    def hits(self, text: str) -> list[Hit]:
        """What a turn holds, in its order, each sentence once; at most ``PER_TURN``."""
        return list(islice(self._hits(text), PER_TURN))

    def _hits(self, text: str) -> Iterator[Hit]:
        seen = set()
        for sentence in sentences(text):
            if sentence.text in seen or not _fits(sentence.text):
                continue
            seen.add(sentence.text)
            rule = self.rule_for(sentence.bare)
            if rule is not None:
                yield Hit(sentence.text, rule)

    def rule_for(self, bare: str) -> Rule | None:
        """The first rule that a sentence, without what it quotes, meets."""
        if _QUESTION.search(bare):
            return None
        return next((rule for rule in self.rules if rule.matches(bare)), None)


def _fits(text: str) -> bool:
    if not FEWEST <= len(text) <= LONGEST:
        return False
    return len(text) >= SHORTEST or sum(1 + (east_asian_width(one) in "WF") for one in text) >= SHORTEST


def _with_own(path: str) -> Sequence[Rule]:
    if not os.path.exists(path):
        return shipped()
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The trigger rules {path} cannot be read: {error}.") from error
    rules = laid_over(_shipped_file(), read_rules(text, path))
    for rule in rules:
        if rule.own:
            _check_examples(rule, path)
    return rules


def _check_examples(rule: Rule, file: str) -> None:
    failed = failing(rule)
    if failed:
        raise ConfigError(f"{file}: rule {rule.name!r}: {failed[0]}.", hint="Mend the pattern, or the example.")


def failing(rule: Rule) -> list[str]:
    """What of a rule's own examples and counter-examples is not as they say, in words."""
    alone = Triggers([rule])
    missed = [f"its example {text!r} is not met" for text in rule.examples if not alone.hits(text)]
    met = [f"its counter-example {text!r} is met" for text in rule.counter_examples if alone.hits(text)]
    return missed + met


@cache
def shipped() -> tuple[Rule, ...]:
    """The rules of the package."""
    return laid_over(_shipped_file(), None)


@cache
def _shipped_file() -> RuleFile:
    text = files("agent_raw_rag.memory").joinpath(OWN_FILE).read_text(encoding="utf-8")
    return read_rules(text, OWN_FILE)
