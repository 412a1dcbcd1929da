"""Each line of the memory layer's checklist has a test, and one of real processes at that."""

from __future__ import annotations

import pytest

from tests.contract.memory_checklist import MUST, SHOULD, shown_by


@pytest.mark.parametrize("line", MUST | SHOULD)
def test_each_line_has_a_test(line: str) -> None:
    assert any(test.startswith("tests/process/") for test in shown_by().get(line, ())), (MUST | SHOULD)[line]


def test_tests_name_lines_that_exist() -> None:
    later = {"B24", "C16", "D17"}
    """Lines that are welcome, not required."""
    known = MUST.keys() | SHOULD.keys() | later
    assert {line for line in shown_by() if line[0] in "ABCDEFGHI"} <= known
