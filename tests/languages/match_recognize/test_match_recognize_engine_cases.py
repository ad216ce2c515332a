"""Every text case of row patterns against the engine: rows and their order, timeouts, or the kind of the problem."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.laws.match_recognize import RowSubject, ended_attempts
from tests.textcases.match_recognize import RowCase, load_cases, plain

from occurs.errors import OccursError
from occurs.model.occurrence import Occurrence

CASES = load_cases(Path(__file__).parents[2] / "cases" / "match_recognize")


@pytest.mark.parametrize("case", CASES, ids=[f"{Path(c.file or '').stem}-{c.name}" for c in CASES])
def test_case(case: RowCase) -> None:
    if case.expected is None:
        with pytest.raises(OccursError) as caught:
            run(case)
        assert caught.value.kind == case.error
        return
    subject = run(case)
    answer = subject.answer([subject.clock[1]] if subject.clock else [])
    assert not isinstance(answer, str), answer
    found = {name: [row(e) for e in plain(answer) if e.type == name] for name in subject.stage.reported}
    wanted = {name: [row(e) for e in case.expected if e.type == name] for name in subject.stage.reported}
    assert found == wanted
    if case.late is not None:
        late = ended_attempts(subject)
        assert not isinstance(late, str)
        assert sorted(map(row, plain(late))) == sorted(map(row, case.late))


def run(case: RowCase) -> RowSubject:
    """The case, planned; raises OccursError if it is wrong."""
    subject = RowSubject(case, ended=case.ended)
    if not case.ended:
        subject.program.checked.refuse_open()
    if case.error is not None:
        answer = subject.answer([subject.clock[1]] if subject.clock else [])
        if isinstance(answer, str):
            raise OccursError.of(answer, answer)
    return subject


def row(event: Occurrence) -> tuple[object, ...]:
    """An event without what the case does not say."""
    cells = {n: v for n, v in event.attributes.items() if n != "label"}
    return event.type, event.time, str(sorted((n, str(v), type(v).__name__) for n, v in cells.items()))
