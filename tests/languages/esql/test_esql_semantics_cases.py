"""The reference semantics of pipes against the text cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.textcases.pipes import difference, load_cases, reference, rows

from occurs.errors import OccursError

CASES = load_cases(Path(__file__).parents[2] / "cases" / "pipes")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reference_gives_what_the_case_says(case):
    if case.error is None:
        assert difference(rows(reference(case)), rows(case.expected)) is None
    else:
        with pytest.raises(OccursError) as problem:
            reference(case)
        assert problem.value.kind == case.error
