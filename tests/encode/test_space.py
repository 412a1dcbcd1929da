"""Names of vector spaces."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.base import Space

SPACES = st.builds(Space, st.text(max_size=60), st.text(max_size=10), st.integers(1, 4096), st.text(max_size=10))


@given(SPACES)
def test_the_name_of_a_space_may_be_a_file_name(space: Space) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{3,59}", space.name)


@given(SPACES)
def test_every_fact_of_a_space_changes_its_name(space: Space) -> None:
    others = [
        replace(space, model=space.model + "x"),
        replace(space, revision=space.revision + "x"),
        replace(space, dim=space.dim + 1),
        replace(space, instruction=space.instruction + "x"),
    ]
    assert len({other.name for other in others} | {space.name}) == 5


def test_the_name_says_which_model_it_is() -> None:
    assert Space("org/Some_Model-4B", "abc", 2560, "Instruct: ").name == "some-model-4b-2560-ce0539cc"
