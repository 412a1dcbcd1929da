"""What a page is given to read, that depends on how a space is set up."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import ALL_PROJECTS
from agent_raw_rag.runtime.reading import Reading
from tests.samples import sample_runtime

NOBODY = '[encoder]\nname = "none"\n[reranker]\nname = "http"\nurl = "http://127.0.0.1:9/v1"\n'


@pytest.mark.parametrize(
    ("config", "first", "may_change"),
    [
        (NOBODY, True, True),
        (NOBODY, False, False),
        (NOBODY + "[search]\nrerank_budget_ms = 0\n", True, False),
        ('[encoder]\nname = "none"\n', True, False),
        ('[encoder]\nname = "none"\n[reranker]\nname = "none"\n', True, False),
    ],
)
def test_a_first_order_says_whether_reading_again_may_change_it(
    tmp_path: Path, config: str, first: bool, may_change: bool
) -> None:
    reading = Reading(sample_runtime(tmp_path, config=config))
    found = reading.passages("retry upload photo", Ask(project=ALL_PROJECTS), 5, explain=False, again=not first)
    assert found["passages"]
    assert found["again"] is may_change


def test_where_nothing_was_found_nothing_is_read_again(tmp_path: Path) -> None:
    reading = Reading(sample_runtime(tmp_path, config=NOBODY))
    nothing = Ask(project=ALL_PROJECTS, before="1999-01-01")
    assert reading.passages("retry", nothing, 5, explain=False, again=False)["again"] is False
