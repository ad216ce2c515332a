"""Every text case of temporal triggers: the reference semantics, the monitors, the notices of never."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.textcases.logic import LogicCase, load_cases, monitored, never, reference

from occurs.errors import OccursError
from occurs.model.occurrence import Occurrence

FOLDER = Path(__file__).parents[2] / "cases" / "logic"
CASES = load_cases(FOLDER)
NAMES = [f"{Path(c.file or '').stem}-{c.name}" for c in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_case(case: LogicCase) -> None:
    if case.expected is None:
        with pytest.raises(OccursError) as caught:
            reference(case)
        assert caught.value.kind == case.error
        return
    found = reference(case)
    assert [row(e) for e in found] == [row(e) for e in case.expected]
    assert Counter(monitored(case)) == Counter(e.label for e in found)
    assert [row(e) for e in never(case)] == [row(e) for e in case.never]


def row(event: Occurrence) -> tuple[object, ...]:
    """An int is no float here, and no bool."""
    values = {n: (v, isinstance(v, bool), isinstance(v, float)) for n, v in event.attributes.items()}
    return event.type, event.time, values


def test_the_cases_are_many_and_apart() -> None:
    assert len(CASES) > 200
    assert len({(c.file, c.name) for c in CASES}) == len(CASES)
