"""One-time codes: used once, for a while, and never again, whoever's clock says what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_raw_rag.errors import ForbiddenError, UnauthorizedError
from agent_raw_rag.memory.logins import SCOPES, Logins
from agent_raw_rag.models import Actor
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.tokens import CODE_MS
from tests.samples import sample_environment

NOW = 1_790_000_000_000
OWNER, PAGE = Actor("owner", "cli"), Actor("link", "http")
HOUR = 3_600_000


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime.load(None, sample_environment(tmp_path, logs=False))


@pytest.fixture
def logins(runtime: Runtime) -> Logins:
    return runtime.logins


@pytest.fixture
def code(runtime: Runtime) -> Callable[..., int]:
    """The number of a new code's row."""

    def make(lasting: int = HOUR) -> int:
        made = runtime.logins.code(lasting, actor=OWNER, now=NOW)
        bearer = runtime.admission().bearer(made.secret, NOW)
        assert bearer is not None
        assert bearer.number is not None
        return bearer.number

    return make


def test_a_code_becomes_a_token_that_lives_as_long_as_the_link_said(
    runtime: Runtime, logins: Logins, code: Callable[..., int]
) -> None:
    made = logins.exchange(code(), actor=PAGE, now=NOW + 1000)
    bearer = runtime.admission().bearer(made.secret, NOW + 1000 + HOUR - 1)
    assert bearer is not None
    assert (bearer.scopes, bearer.label) == (SCOPES, made.token.label)
    assert runtime.admission().bearer(made.secret, NOW + 1000 + HOUR) is None


def test_a_code_waits_until_it_is_used_or_too_old(runtime: Runtime, logins: Logins) -> None:
    made = logins.code(HOUR, actor=OWNER, now=NOW)
    assert logins.waits(made.secret, now=NOW + CODE_MS - 1)
    assert not logins.waits(made.secret, now=NOW + CODE_MS)
    assert not logins.waits("rrt_other", now=NOW)
    bearer = runtime.admission().bearer(made.secret, NOW)
    assert bearer is not None and bearer.number is not None
    logins.exchange(bearer.number, actor=PAGE, now=NOW)
    assert not logins.waits(made.secret, now=NOW)


@pytest.mark.parametrize("later", [1000, 0, -1000])
def test_a_code_is_used_once_even_by_who_looked_at_the_clock_before(
    logins: Logins, code: Callable[..., int], later: int
) -> None:
    number = code()
    logins.exchange(number, actor=PAGE, now=NOW + 5000)
    with pytest.raises(UnauthorizedError):
        logins.exchange(number, actor=PAGE, now=NOW + 5000 + later)


def test_a_code_is_good_for_ten_minutes(logins: Logins, code: Callable[..., int]) -> None:
    late, in_time = code(), code()
    assert logins.exchange(in_time, actor=PAGE, now=NOW + CODE_MS - 1).secret
    with pytest.raises(UnauthorizedError):
        logins.exchange(late, actor=PAGE, now=NOW + CODE_MS)


def test_a_token_is_not_exchanged_and_a_code_does_not_log_out(
    runtime: Runtime, logins: Logins, code: Callable[..., int]
) -> None:
    made = runtime.tokens.create("laptop", spaces=["*"], scopes=["read"], actor=OWNER, now=NOW)
    bearer = runtime.admission().bearer(made.secret, NOW)
    assert bearer is not None
    assert bearer.number is not None
    with pytest.raises(UnauthorizedError):
        logins.exchange(bearer.number, actor=PAGE, now=NOW)
    for number in (bearer.number, code(), None, 999):
        with pytest.raises(ForbiddenError):
            logins.end(number, actor=PAGE, now=NOW)


def test_a_code_is_no_token_to_serve_with_and_leaves_the_list_when_it_is_used(
    runtime: Runtime, logins: Logins, code: Callable[..., int]
) -> None:
    number = code()
    assert not runtime.tokens.any_live(NOW)
    assert [item.live for item in runtime.tokens.items(NOW)] == [True]
    made = logins.exchange(number, actor=PAGE, now=NOW)
    assert [item.label for item in runtime.tokens.items(NOW)] == [made.token.label]
    assert runtime.tokens.any_live(NOW)
