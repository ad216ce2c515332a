"""Whether history can be cut into slices of time that overlap (temporal-logic.md 5.3), and by how much.

Under ``continue`` without a gap a firing does not depend on earlier ones.  Behind an outermost ``eventually``, and in
a past formula, it depends on no more than the states in a window before it, if every operator has a bound and no value
that is looked at lasts from an earlier state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from occurs.expr.tree import Expr
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.nodes import Time
from occurs.languages.logic.columns.operator import Columns
from occurs.languages.logic.columns.rows import EVENT
from occurs.languages.logic.columns.states import Seen
from occurs.languages.logic.kept import length
from occurs.languages.logic.running.steps import ticks
from occurs.languages.logic.running.trigger import Trigger
from occurs.model.time import TimeKind
from occurs.operators.logic.trigger import Evaluator


class _Unbounded(Exception):
    """An operator looks further than any number of ticks."""


def overlap(trigger: Trigger, operator: Evaluator) -> tuple[int | None, str]:
    """How many ticks before a firing the states may lie that it depends on; None, and the reason, if there is no such
    number."""
    if not trigger.continues:
        return None, "under `reactivate` a firing depends on all earlier firings"
    if trigger.gap is not None:
        return None, "with `at most every` a firing depends on the previous firing"
    f = trigger.resolved.formula
    if not trigger.past:
        if not isinstance(f, syntax.Eventually) or f.bound is not None:
            return None, "its formula looks ahead from the state of activation"
        f = f.operand
    try:
        found = _Reaches(f, trigger.kind).of(f, True)
    except _Unbounded:
        return None, "an operator has no time bound"
    if not (_fleeting(operator.seen) if isinstance(operator, Columns) else _alone(trigger)):
        return None, "values are kept until they are written again"
    return found.ahead + found.behind, ""


def _alone(trigger: Trigger) -> bool:
    """Does a trigger see events alone, or the rows of one state type?"""
    if trigger.generics or trigger.asks_who or trigger.every is not None or trigger.sources.tables:
        return False
    return not trigger.sources.states or (len(trigger.sources.states) == 1 and not trigger.sources.events)


def _fleeting(seen: Seen) -> bool:
    """As :func:`_alone` of a trigger over columns: do all states see rows of their own time alone?"""
    if seen.query is not None or seen.split or seen.every:
        return False
    lasting = [s for s in seen.streams if s.kind != EVENT]
    return not lasting or (len(lasting) == 1 and [s for s in seen.streams if s.wakes] == lasting)


@dataclass(frozen=True)
class Reach:
    """Ticks between the state at which a formula is asked and the last one that decides it, and the first one."""

    ahead: int = 0
    behind: int = 0

    def __or__(self, other: Reach) -> Reach:
        return Reach(max(self.ahead, other.ahead), max(self.behind, other.behind))


class _Reaches:
    """Of the parts of one formula."""

    def __init__(self, formula: syntax.Formula, kind: TimeKind) -> None:
        self.kind = kind
        assigned = [(n.variable.text, n.term == Time()) for n in formula.walk() if isinstance(n, syntax.Assign)]
        self.clocks = frozenset(n for n, _ in assigned) - {n for n, of_time in assigned if not of_time}

    def of(self, f: Expr, hold: bool) -> Reach:
        """How far a formula looks that is to hold, or not to hold.

        That something does not come within a bound is known at the first state behind it, which may be any time later.
        """
        match f:
            case syntax.Nexttime() | syntax.Lasttime() | syntax.WeakUntil():
                raise _Unbounded
            case syntax.Eventually() | syntax.Until() | syntax.Always() | syntax.Release():
                if hold is isinstance(f, syntax.Always | syntax.Release):
                    raise _Unbounded
                inner = self.parts(f, hold)
                return Reach(self.length(f) + inner.ahead, inner.behind)
            case syntax.Previously() | syntax.Throughout() | syntax.Since():
                return Reach(0, self.length(f) + self.parts(f, True).behind)
            case syntax.Aggregate(within=duration) if duration is not None:
                return Reach(0, math.ceil(ticks(duration, self.kind)) + self.parts(f, True).behind)
            case syntax.Aggregate():
                raise _Unbounded
            case syntax.Not():
                return self.of(f.operand, not hold)
            case syntax.Implies():
                return self.of(f.left, not hold) | self.of(f.right, hold)
        return self.parts(f, hold)

    def parts(self, f: Expr, hold: bool) -> Reach:
        """The furthest of all that is below."""
        found = Reach()
        for child in f.children:
            found |= self.of(child, hold)
        return found

    def length(self, f: syntax.Formula) -> int:
        found = length(f, self.clocks, self.kind)
        if found is None:
            raise _Unbounded
        return found
