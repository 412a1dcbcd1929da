"""Tokens: what is kept of them, when they are good, and what is written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotFoundError, UsageError
from agent_raw_rag.memory import token_terms as terms
from agent_raw_rag.memory.admission import Admission
from agent_raw_rag.memory.legacy import legacy_tokens
from agent_raw_rag.models import Actor
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.journal import Journal
from tests.samples import empty_runtime

OWNER = Actor("owner", "cli")
NOW = 1_796_000_000_000
MINUTE = 60_000


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return empty_runtime(tmp_path)


def make(runtime: Runtime, label: str = "laptop", now: int = NOW, **facts: object) -> str:
    chosen = {"spaces": ["default"], "scopes": ["read"], **facts}
    return runtime.tokens.create(label, actor=OWNER, now=now, **chosen).secret  # type: ignore[arg-type]


def admission(runtime: Runtime, legacy: tuple[str, ...] = ()) -> Admission:
    runtime.tokens.items(NOW)  # makes the store
    return runtime.admission(legacy)


def test_a_secret_has_256_random_bits_and_is_kept_as_a_hash_only(runtime: Runtime) -> None:
    secrets = {make(runtime, f"t{number}") for number in range(20)}
    assert len(secrets) == 20
    assert all(one.startswith("rrt_") and len(one) == len("rrt_") + 43 for one in secrets)
    stored = b"".join(path.read_bytes() for path in Path(runtime.home).iterdir() if path.is_file())
    assert not any(one[8:].encode() in stored for one in secrets)


def test_a_token_is_listed_without_secret_and_hash(runtime: Runtime) -> None:
    secret = make(runtime, spaces=["proj", "default"], scopes=["write,read"], expires_in=terms.lifetime("2d"))
    (item,) = runtime.tokens.items(NOW)
    assert item.as_json() == {
        "label": "laptop", "prefix": secret[:8], "spaces": ["default", "proj"], "scopes": ["read", "write"],
        "created": "2026-11-30T00:53:20.000Z", "expires": "2026-12-02T00:53:20.000Z", "last_used": None,
        "revoked": None, "live": True,
    }  # fmt: skip
    assert terms.digest(secret).hex() not in json.dumps(item.as_json())


def test_a_label_that_is_live_is_not_given_twice(runtime: Runtime) -> None:
    secret = make(runtime)
    with pytest.raises(ConflictError):
        make(runtime)
    assert admission(runtime).bearer(secret, NOW)


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_a_label_is_free_again_when_its_token_has_ended(runtime: Runtime, how: str) -> None:
    first = make(runtime, expires_in=MINUTE)
    if how == "revoked":
        runtime.tokens.revoke("laptop", actor=OWNER, now=NOW)
    second = make(runtime, now=NOW + MINUTE)
    found = admission(runtime)
    assert found.bearer(first, NOW + MINUTE) is None
    assert found.bearer(second, NOW + MINUTE)
    assert [item.live for item in runtime.tokens.items(NOW + MINUTE)] == [False, True]


@pytest.mark.parametrize("by", ["label", "prefix"])
def test_a_revoked_token_is_taken_no_more_and_stays_listed(runtime: Runtime, by: str) -> None:
    secret, found = make(runtime), admission(runtime)
    assert found.bearer(secret, NOW)
    runtime.tokens.revoke("laptop" if by == "label" else secret[:8], actor=OWNER, now=NOW + 1)
    assert found.bearer(secret, NOW + 1) is None
    (item,) = runtime.tokens.items(NOW + 1)
    assert item.revoked is not None
    with pytest.raises(NotFoundError):
        runtime.tokens.revoke("laptop", actor=OWNER, now=NOW + 2)


def test_a_pasted_secret_is_not_repeated_by_the_error(runtime: Runtime) -> None:
    secret = make(runtime)
    with pytest.raises(NotFoundError) as refused:
        runtime.tokens.revoke(secret, actor=OWNER, now=NOW)
    assert secret not in str(refused.value)
    with pytest.raises(BadArgumentError):
        make(runtime, secret)


def test_a_short_prefix_of_several_tokens_revokes_none(runtime: Runtime) -> None:
    for number in range(80):  # 64 signs: two begin alike
        make(runtime, f"t{number}")
    prefixes = [item.prefix for item in runtime.tokens.items(NOW)]
    shared = next(one[:5] for one in prefixes if sum(other.startswith(one[:5]) for other in prefixes) > 1)
    with pytest.raises(UsageError):
        runtime.tokens.revoke(shared, actor=OWNER, now=NOW)
    assert len(set(prefixes)) == 80


def test_rotation_replaces_the_secret_at_once(runtime: Runtime) -> None:
    old = make(runtime, spaces=["proj"], scopes=["read", "write"])
    new = runtime.tokens.rotate("laptop", actor=OWNER, now=NOW + 1)
    found = admission(runtime)
    assert found.bearer(old, NOW + 1) is None
    bearer = found.bearer(new.secret, NOW + 1)
    assert bearer is not None
    assert (bearer.label, bearer.spaces, bearer.scopes) == ("laptop", ("proj",), ("read", "write"))


def test_rotation_with_grace_takes_both_secrets_until_it_is_over(runtime: Runtime) -> None:
    old = make(runtime)
    new = runtime.tokens.rotate("laptop", grace=MINUTE, actor=OWNER, now=NOW).secret
    found = admission(runtime)
    assert [bool(found.bearer(one, NOW + MINUTE - 1)) for one in (old, new)] == [True, True]
    assert [bool(found.bearer(one, NOW + MINUTE)) for one in (old, new)] == [False, True]
    runtime.tokens.revoke("laptop", actor=OWNER, now=NOW + 1)
    assert [bool(found.bearer(one, NOW + 1)) for one in (old, new)] == [False, False]


def test_the_journal_tells_of_tokens_without_secret_and_hash(runtime: Runtime) -> None:
    secret = make(runtime)
    runtime.tokens.rotate("laptop", actor=OWNER, now=NOW + 1)
    runtime.tokens.revoke("laptop", actor=OWNER, now=NOW + 2)
    rows = [row.as_json() for row in Journal(runtime.reader.connection).rows()]
    assert [(row["action"], row["target"], row["actor"]) for row in rows] == [
        ("token_create", "laptop", "owner"), ("token_rotate", "laptop", "owner"), ("token_revoke", "laptop", "owner"),
    ]  # fmt: skip
    assert secret[8:] not in json.dumps(rows)
    assert terms.digest(secret).hex() not in json.dumps(rows)


def test_what_another_process_changes_counts_from_the_next_question_on(runtime: Runtime) -> None:
    found, other = admission(runtime), Runtime(runtime.settings, runtime.environment)
    secret = make(other, spaces=["*"])
    bearer = found.bearer(secret, NOW)
    assert bearer is not None
    assert not found.may_enter(bearer, "proj")
    other.spaces_registry.create("proj", actor=OWNER, now=NOW)
    assert found.may_enter(bearer, "proj")
    assert found.spaces_of(bearer) == ["default", "proj"]
    other.spaces_registry.enable("proj", False, actor=OWNER, now=NOW)
    assert not found.may_enter(bearer, "proj")


def test_a_store_put_in_the_place_of_another_is_noticed(runtime: Runtime, tmp_path: Path) -> None:
    secret, found = make(runtime), admission(runtime)
    assert found.bearer(secret, NOW)
    (tmp_path / "other").mkdir()
    other = empty_runtime(tmp_path / "other")
    second = make(other)
    other.tokens.items(NOW)
    Path(other.settings.store_path()).replace(runtime.settings.store_path())
    assert found.bearer(secret, NOW) is None
    assert found.bearer(second, NOW)


def test_a_use_is_noted_at_most_once_a_minute(runtime: Runtime) -> None:
    bearer = (found := admission(runtime)) and found.bearer(make(runtime), NOW)
    assert bearer is not None
    assert bearer.number is not None
    due = [found.is_use_due(bearer, NOW + at) for at in (0, 1, MINUTE - 1, MINUTE, MINUTE + 1)]
    assert due == [True, False, False, True, False]
    runtime.tokens.note_use(bearer.number, NOW)
    assert runtime.tokens.items(NOW)[0].last_used == "2026-11-30T00:53:20.000Z"


def test_a_token_of_the_environment_opens_all_and_a_blank_one_is_none(runtime: Runtime) -> None:
    environment = {"RAW_RAG_MCP_TOKEN": "  ", "OCTOP_MEMORY_MCP_TOKEN": " abc "}
    given = legacy_tokens(environment)
    assert given == {"OCTOP_MEMORY_MCP_TOKEN": "abc"}
    found = admission(runtime, tuple(given.values()))
    bearer = found.bearer("abc", NOW)
    assert bearer is not None
    assert (bearer.label, bearer.scopes, found.may_enter(bearer, "default")) == ("env", ("read", "write"), True)
    assert found.bearer("", NOW) is None


@given(said=st.text(max_size=20))
def test_a_time_to_live_is_understood_or_refused(said: str) -> None:
    try:
        assert 0 < terms.lifetime(said) <= terms.LONGEST
    except BadArgumentError:
        pass


@pytest.mark.parametrize(
    ("said", "milliseconds"), [("1s", 1000), ("2m", 120_000), ("3h", 10_800_000), ("1W", 604_800_000)]
)
def test_times_to_live(said: str, milliseconds: int) -> None:
    assert terms.lifetime(said) == milliseconds


@pytest.mark.parametrize("said", ["", "0s", "-1d", "1", "1 year", "99999d"])
def test_no_times_to_live(said: str) -> None:
    with pytest.raises(BadArgumentError):
        terms.lifetime(said)


@pytest.mark.parametrize(
    "facts", [{"scopes": ["root"]}, {"scopes": []}, {"spaces": []}, {"spaces": ["../x"]}, {"spaces": ["A"]}], ids=str
)
def test_what_cannot_be_a_token_is_not_made(runtime: Runtime, facts: dict[str, list[str]]) -> None:
    with pytest.raises(BadArgumentError):
        make(runtime, **facts)
    assert runtime.tokens.items(NOW) == []


@pytest.mark.parametrize("label", ["", " ", "a b", "-x", "x" * 65, "a\nb", "rrt_abc"])
def test_what_cannot_be_a_label_is_refused(runtime: Runtime, label: str) -> None:
    with pytest.raises(BadArgumentError):
        make(runtime, label)


@given(st.text(max_size=100))
def test_no_other_text_is_taken_for_a_secret(text: str) -> None:
    assert terms.digest(text) != terms.digest(terms.new_secret())
