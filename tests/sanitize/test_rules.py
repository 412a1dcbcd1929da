"""The table of redaction rules: each row does what its example and its counter-example say."""

from __future__ import annotations

import re

import pytest

from agent_raw_rag.sanitize import RULES, Rule, plant, redact
from agent_raw_rag.sanitize.tokens import TOKENS

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)


@each_rule
def test_masks_its_example_and_nothing_else(rule: Rule) -> None:
    text, secret = plant(rule.example)
    assert redact(text) == (text.replace(secret, f"[redacted:{rule.kind}]"), (rule.kind,))


@each_rule
def test_leaves_its_counter_example(rule: Rule) -> None:
    assert redact(rule.counter) == (rule.counter, ())


@each_rule
def test_has_an_example_that_names_the_secret_and_holds_a_keyword(rule: Rule) -> None:
    text, secret = plant(rule.example)
    assert len(secret) >= 12
    assert any(keyword in (text if rule in TOKENS else text.lower()) for keyword in rule.keywords)


@each_rule
def test_changes_nothing_in_what_it_masked(rule: Rule) -> None:
    masked, _ = redact(plant(rule.example)[0])
    assert redact(masked) == (masked, ())


def test_knows_sixty_kinds_and_more() -> None:
    assert len({rule.kind for rule in RULES}) >= 150


def test_kinds_can_stand_in_a_mask() -> None:
    assert [rule.kind for rule in RULES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.kind)] == []


def test_no_token_is_shorter_than_the_runs_that_are_looked_at() -> None:
    assert [rule.kind for rule in TOKENS if len(plant(rule.example)[1]) < 20] == []


def test_examples_are_made_up_the_same_way_every_time() -> None:
    assert plant("a «{a8}» b {d4}") == plant("a «{a8}» b {d4}")
    text, secret = plant("a «{h8}»-{u3}")
    assert re.fullmatch(r"a [0-9a-f]{8}-[A-Z0-9]{3}", text)
    assert secret == text[2:10]
