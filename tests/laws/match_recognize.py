"""The laws of row patterns (operators.md, section 5): what only the end of a history decides is asked for, too."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from tests.laws import contract
from tests.laws.contract import Answer, Subject, agree, cut

from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.errors import OccursError
from occurs.languages.match_recognize.define import RowPatterns
from occurs.languages.match_recognize.semantics import evaluate
from occurs.languages.match_recognize.semantics import timeouts as expected_timeouts
from occurs.loading import parse
from occurs.model.occurrence import Occurrence, occurrences
from occurs.operators.rowpattern import tree
from occurs.operators.rowpattern.operator import RowMatcher
from occurs.operators.rowpattern.program import longest
from occurs.operators.rowpattern.state import Kept
from occurs.operators.states import Own
from occurs.plan.stage import make_stage
from occurs.testing.cases import Case
from occurs.verify.compare import occurrences_of


class RowSubject(Subject):
    """A case with row patterns; ``ended``: its history is closed."""

    def __init__(self, case: Case, *, ended: bool = True) -> None:
        super().__init__(case, parse(case.rules, language="match_recognize"))
        self.ended = ended

    @property
    def part(self) -> RowPatterns:
        """The texts, checked."""
        found = self.program.checked.bind(self.history.schemas, self.history.kind).parts["match_recognize"]
        assert isinstance(found, RowPatterns)
        return found

    def reference(self) -> Answer:
        return self._expected(evaluate)

    def _expected(self, what: object) -> Answer:
        part = self.part
        start, until = self.clock if self.clock is not None else (None, None)
        schemas = {**self.history.schemas, **part.schemas}
        try:
            found = what(  # type: ignore[operator]
                part.queries, schemas, occurrences(self.history.tables), kind=self.history.kind, start=start,
                until=until, ended=self.ended,
            )  # fmt: skip
        except OccursError as error:
            return error.kind
        return [Occurrence(e.type, e.time, dict(e.attributes)) for e in found]

    def timeouts(self) -> Answer:
        """What the reference says of attempts that WITHIN ends."""
        return self._expected(expected_timeouts)

    def _answer(self, frontiers: Sequence[int], restart: bool, beside: bool) -> list[Occurrence]:
        if self.clock is None:
            return []
        engine = Engine(self.stage, labelled=True)
        done: list[TypeRows] = []
        for frontier, part in cut(self.rows(), frontiers):
            closing = self.ended and frontier == frontiers[-1]
            if beside:
                contract.continued(engine).advance(part, frontier, self.clock[0], closing=closing)
            done.append(engine.advance(part, frontier, self.clock[0], closing=closing))
            if restart:
                engine = Engine.restore(self.stage, engine.save(), labelled=True)
        return self.gather(done)


def meaning(subject: RowSubject) -> None:
    """Law 5: the output equals the reference semantics."""
    answer = subject.at_once
    if not isinstance(answer, str):
        answer = [contract._without_label(e) for e in answer]
    agree(subject.reference(), answer, f"reference and engine, ended {subject.ended}")


def ordered(subject: RowSubject) -> None:
    """The rows of one call come in the order of the reference."""
    reference, answer = subject.reference(), subject.at_once
    if isinstance(reference, str) or isinstance(answer, str):
        return
    for name in {e.type for e in reference}:
        ours = [e.time for e in answer if e.type == name]
        assert ours == [e.time for e in reference if e.type == name], f"order of {name}"


def splitting(subject: RowSubject, parts: int = 3) -> None:
    """Law 3, closed."""
    key = subject.stage.key
    if not key or subject.clock is None:
        return
    merged: list[Occurrence] = []
    for part in range(parts):
        engine = Engine(subject.stage, labelled=True)
        rows = {
            t: r.take(np.flatnonzero(contract._part(r, key.get(t, ()), parts) == part))
            for t, r in subject.rows().items()
        }
        try:
            merged += subject.gather([engine.advance(rows, subject.clock[1], subject.clock[0], closing=subject.ended)])
        except OccursError:
            return
    agree(subject.at_once, merged, f"split by {key}")


def all_laws(case: Case, rng: random.Random) -> None:
    """Every law, on one case."""
    for ended in (True, False):
        subject = RowSubject(case, ended=ended)
        if not ended and subject.part.closed_only:
            continue  # hosts refuse it: only the end decides the order
        meaning(subject)
        ordered(subject)
        contract.cutting(subject, rng)
        contract.restart(subject, rng)
        splitting(subject)
    contract.forgetting(subject, rng)
    bounded(subject, rng)
    contract.pushing(subject, rng)
    late(case, rng)


def bounded(subject: RowSubject, rng: random.Random) -> None:
    """Law 4: after every call each partition keeps rows of WITHIN's bound, or as many as a match has at most, and what
    PREV and NEXT read beside them."""
    engine = Engine(subject.stage, labelled=True)
    for frontier, part in cut(subject.rows(), contract.random_frontiers(subject, rng)):
        try:
            engine.advance(part, frontier, subject.clock[0] if subject.clock else None)
        except OccursError:
            return
        for operator in subject.stage.operators:
            kept = engine.state.kept.get(operator.identity)
            if isinstance(operator, RowMatcher) and isinstance(kept, Own):
                _bounded(operator, kept.kept)


def _bounded(operator: RowMatcher, kept: Kept) -> None:
    m = operator.matching
    whole = kept.layers.whole()
    if whole.rows is None or (m.order[0].column, m.order[0].descending) != ("time", False):
        return
    moves = [n.move for e in m.values for n in e.walk() if isinstance(n, tree.At)]
    columns = [whole.rows.column(c).arrow.to_pylist() for c in m.partition]
    partitions: dict[object, list[int]] = {}
    for row in range(len(whole.rows)):
        partitions.setdefault(tuple(column[row] for column in columns), []).append(row)
    for rows in partitions.values():
        before = [r for r in rows if whole.before[r]]
        own = [r for r in rows if not whole.before[r]]
        assert len(before) <= max([0, *(-move for move in moves)]), "more rows before a match than PREV reads"
        ahead = max([0, *moves])
        if m.within is not None and own:
            first = int(whole.rows.time[own[0]])
            late = [r for r in own if int(whole.rows.time[r]) > first + m.within]
            assert len(late) <= ahead, "rows beyond the bound are kept"
        most = longest(m.pattern)
        if most is not None:
            assert len(own) <= most + ahead, f"{len(own)} rows are kept of a match of at most {most}"


def late(case: Case, rng: random.Random) -> None:
    """The attempts that WITHIN ends are those of the reference, however the history is cut."""
    for ended in (True, False):
        subject = RowSubject(case, ended=ended)
        if not ended and subject.part.closed_only:
            continue
        if subject.clock is not None and any(q.within is not None for q in subject.part.queries):
            once = ended_attempts(subject)
            agree(subject.timeouts(), once, f"timeouts, ended {ended}")
            frontiers = contract.random_frontiers(subject, rng)
            agree(once, ended_attempts(subject, frontiers), f"timeouts cut at {frontiers}, ended {ended}")


def ended_attempts(subject: RowSubject, frontiers: Sequence[int] | None = None) -> Answer:
    """The attempts that WITHIN ends, by the names that users know them by; of calls up to each of ``frontiers``."""
    made = [d.timeouts(900 + k) for k, d in enumerate(subject.stage.definitions)]
    sides = [d for d in made if d is not None]
    if not sides or subject.clock is None:
        return []
    schemas = {**subject.stage.schemas, **{d.output: d.sides[0].schema for d in sides}}
    stage = make_stage([*subject.stage.definitions, *sides], schemas, subject.history.kind)
    engine = Engine(stage, labelled=True)
    start, until = subject.clock
    out = []
    try:
        for frontier, part in cut(subject.rows(), frontiers or [until]):
            found = engine.advance(part, frontier, start, closing=subject.ended and frontier == until)
            for d in sides:
                rows = occurrences_of({d.output: found.table(d.output)})
                out += [Occurrence(d.sides[0].name, e.time, e.attributes) for e in rows]
    except OccursError as error:
        return error.kind
    return out
