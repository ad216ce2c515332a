"""Every text case of row patterns against the reference: rows and their order, timeouts, or the kind of the problem."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.textcases.match_recognize import RowCase, load_cases, plain, reference, reference_timeouts

from occurs.errors import OccursError
from occurs.model.occurrence import Occurrence

FOLDER = Path(__file__).parents[2] / "cases" / "match_recognize"
CASES = load_cases(FOLDER)


@pytest.mark.parametrize("case", CASES, ids=[f"{Path(c.file or '').stem}-{c.name}" for c in CASES])
def test_case(case: RowCase) -> None:
    if case.expected is None:
        with pytest.raises(OccursError) as caught:
            reference(case)
        assert caught.value.kind == case.error
        return
    assert [row(e) for e in plain(reference(case))] == [row(e) for e in case.expected]
    if case.late is not None:
        assert [row(e) for e in plain(reference_timeouts(case))] == [row(e) for e in case.late]
    if case.warned is not None:
        assert sorted(p.kind for p in case.analysis.problems) == sorted(case.warned)


def row(event: Occurrence) -> tuple[object, ...]:
    """An int is no float here, and no bool; columns stand in their order."""
    return event.type, event.time, [(n, type(v), v) for n, v in event.attributes.items()]


def test_the_cases_are_many_and_apart() -> None:
    assert len(CASES) > 100
    assert len({(c.file, c.name) for c in CASES}) == len(CASES)
