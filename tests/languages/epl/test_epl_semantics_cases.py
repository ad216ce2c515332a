"""Every text case of EPL against the reference: rows and their order, or the kind of the problem."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.textcases.epl import EplCase, ended, flat, load_cases, reference

from occurs.errors import OccursError
from occurs.model.occurrence import Occurrence

FOLDER = Path(__file__).parents[2] / "cases" / "epl"
CASES = load_cases(FOLDER)


@pytest.mark.parametrize("case", CASES, ids=[f"{Path(c.file or '').stem}-{c.name}" for c in CASES])
def test_case(case: EplCase) -> None:
    if case.expected is None:
        with pytest.raises(OccursError) as caught:
            reference(case)
        assert caught.value.kind == case.error
        return
    assert [row(e) for e in flat(reference(case))] == [row(e) for e in case.expected]


def row(event: Occurrence) -> tuple[object, ...]:
    """An int is no float here, and no bool."""
    return event.type, event.time, {n: (type(v), v) for n, v in event.attributes.items()}


def test_the_cases_are_many_and_apart() -> None:
    assert len(CASES) > 200
    assert len({(c.file, c.name) for c in CASES}) == len(CASES)


def test_what_was_ended_by_a_guard_can_be_asked_for() -> None:
    (case,) = [c for c in CASES if c.name == "an upper bound is exclusive"]
    assert [(t.time, sorted(t.binding)) for t in ended(case)] == [(4000, ["a"])]
