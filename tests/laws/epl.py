"""The laws (operators.md, section 5) for EPL programs, as functions over one case.

They are those of :mod:`tests.laws.contract`, with an order of what comes out, and another law of forgetting: a history
that is repeated again and again has a state that does not grow.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
from tests.laws import contract
from tests.laws.contract import agree, cutting, pushing, restart, splitting
from tests.textcases.epl import EplCase, flat, reference

from occurs.engine.engine import Engine
from occurs.errors import OccursError
from occurs.languages.epl.checks import retention
from occurs.languages.epl.define import Epl
from occurs.loading import parse
from occurs.model.labels import Labels
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration
from occurs.operators.rows import Rows
from occurs.operators.sequence.automaton import Automaton
from occurs.operators.sequence.definition import nodes
from occurs.operators.sequence.timers import At
from occurs.program import Program
from occurs.verify.compare import row_of

_MINUTE = Duration(Fraction(60_000_000))
#: so many times a history is repeated, to see whether the state grows
PERIODS = 9
#: the same for a program whose state has not settled by then
MANY_PERIODS = 90


class Subject(contract.Subject):
    """A case of EPL, planned."""

    def __init__(self, case: EplCase):
        program = parse(case.rules, language="epl", values=case.values)
        super().__init__(case, Program(program.checked.adjusted(zone=case.zone)))

    @property
    def part(self) -> Epl:
        """The texts, checked."""
        part = self.program.checked.bind(self.history.schemas, self.history.kind).parts["epl"]
        assert isinstance(part, Epl)
        return part


def meaning(subject: Subject, case: EplCase) -> None:
    """Law 5: the output equals the reference semantics, of every type in its order."""
    answer = subject.at_once
    wanted: list[Occurrence] | str
    try:
        wanted = reference(case)
    except OccursError as error:
        wanted = error.kind
    if isinstance(answer, str) or isinstance(wanted, str):
        agree(wanted, answer, "reference and engine")
        return
    got = [replace(e, attributes={k: v for k, v in e.attributes.items() if k != "label"}) for e in answer]
    agree(wanted, got, "reference and engine")
    for t in subject.stage.reported:
        one, other = ([row_of(e) for e in flat(events) if e.type == t] for events in (wanted, got))
        assert one == other, f"the order of {t}:\n{one}\n{other}"
    agree(wanted, subject.reference(), "reference, and reference by way of the program")


def forgetting(subject: Subject) -> bool:
    """Law 4: a history that is repeated again and again has a state that does not grow, if no search of the program
    waits without bound.  Returns whether the case says something about it."""
    rows = subject.rows()
    if subject.clock is None or not rows or grows(subject):
        return False
    start, until = subject.clock
    bounds = [w.bound for q in subject.part.queries for w in retention(q) if w.bound is not None]
    longest = max((int(subject.history.kind.convert(b) or 0) for b in bounds), default=0)
    step = until - start + longest + 10
    patterns = [part.pattern for o in subject.stage.operators for part in o.parts if isinstance(part, Automaton)]
    if any(isinstance(n, At) for pattern in patterns for n in nodes(pattern.root)):
        # so that every period meets the same instants of a calendar that names seconds
        minute = int(subject.history.kind.convert(_MINUTE) or 1)
        step = -(-step // minute) * minute
    sizes: list[int] = []
    # searches that a timer begins, `-[n]>` limits, and counts within counts, take some time to be as many
    for periods in (PERIODS, MANY_PERIODS):
        engine = Engine(subject.stage, labelled=True)
        sizes = []
        for period in range(periods):
            try:
                moved = {t: _moved(r, period * step, period) for t, r in rows.items()}
                engine.advance(moved, start + (period + 1) * step - 1, start)
            except OccursError:
                return False
            sizes.append(engine.state.rows())
        settled = 2 * periods // 3
        if max(sizes[settled:]) <= max(sizes[:settled]):
            return True
    raise AssertionError(f"the state grows: {sizes}")


def _moved(rows: Rows, by: int, period: int) -> Rows:
    labels = rows.labels
    if labels is not None:
        labels = Labels(labels.hi ^ np.uint64(period), labels.lo)
    return replace(rows, time=rows.time + by, labels=labels, cache={})


def grows(subject: Subject) -> bool:
    """May any number of searches, or of events in one, wait at a time?"""
    if any(w.grows for q in subject.part.queries for w in retention(q)):
        return True
    return any(p.kind == "multiplying" for p in subject.part.problems)


def all_laws(case: EplCase, rng: random.Random) -> None:
    """Every law, on one case."""
    subject = Subject(case)
    meaning(subject, case)
    cutting(subject, rng)
    restart(subject, rng)
    splitting(subject)
    forgetting(subject)
    pushing(subject, rng)


__all__ = ["Subject", "agree", "all_laws", "cutting", "forgetting", "meaning", "restart", "splitting"]
