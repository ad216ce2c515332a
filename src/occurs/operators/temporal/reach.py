"""How far a trigger looks: how long it keeps values, and whether history can be cut into slices (temporal-logic.md 5.2,
5.3).

Under ``continue`` without a gap a firing does not depend on earlier ones.  Behind an outermost ``eventually``, and in
a past formula, it depends on no more than the states in a window before it, if every operator has a bound and no value
that is looked at lasts from an earlier state.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal.times import FOREVER, allowed, farthest, ticks
from occurs.operators.temporal.tree import Time, conjuncts, free
from occurs.operators.temporal.trigger import Evaluator, Rule
from occurs.operators.temporal.vectorised import EVENT, Columns, Seen


@dataclass(frozen=True)
class Remembered:
    """The value of a variable is kept for ``ticks`` (None: without end)."""

    variable: str
    ticks: int | None


def remembered(formula: Expr, kind: TimeKind) -> list[Remembered]:
    """How long every assigned value is kept: the sum of the bounds along the nesting of what it is free in."""
    out: dict[str, int | None] = {}
    assigned = [n for n in formula.walk() if isinstance(n, tree.Assign)]
    clocks = frozenset(n.variable.text for n in assigned if n.term == Time())
    for node in formula.walk():
        if isinstance(node, tree.Assign):
            name = node.variable.text
            found = _kept(node.operand, name, clocks, kind)
            known = out.get(name, 0)
            out[name] = None if found is None or known is None else max(found, known)
    return [Remembered(n, t) for n, t in out.items()]


def _kept(f: Expr, name: str, clocks: frozenset[str], kind: TimeKind) -> int | None:
    """The longest time for which ``f`` may have to be evaluated with a value of the variable; None: without end."""
    if name not in free(f):
        return 0
    inner = [_kept(c, name, clocks, kind) for c in f.children]
    if None in inner:
        return None
    most = max((t for t in inner if t is not None), default=0)
    if isinstance(f, tree.FUTURE + tree.PAST) and not isinstance(f, tree.Nexttime | tree.Lasttime):
        own = length(f, clocks, kind)
        return None if own is None else own + most
    return most


def length(f: tree.Formula, clocks: frozenset[str], kind: TimeKind) -> int | None:
    """How far an operator looks, by its bound or by a comparison of time on its right; None: without end."""
    bound = getattr(f, "bound", None)
    high = allowed(bound, kind).high
    ends = [None if high == FOREVER else high]
    ends += [farthest(op, a, b, isinstance(f, tree.FUTURE), clocks, kind) for op, a, b in _goal(f)]
    return min((max(e, 0) for e in ends if e is not None), default=None)


def _goal(f: tree.Formula) -> Iterator[tuple[str, Expr, Expr]]:
    """The comparisons that hold wherever an operator ends."""
    if isinstance(f, tree.Eventually | tree.Previously):
        yield from conjuncts(f.operand, True)
    elif isinstance(f, tree.Always | tree.Throughout):
        yield from conjuncts(f.operand, False)
    elif isinstance(f, tree.Until | tree.Since):
        yield from conjuncts(f.right, True)
    elif isinstance(f, tree.Release):
        yield from conjuncts(f.right, False)


# --- slices of history ------------------------------------------------------------------------------------------------


class _Unbounded(Exception):
    """An operator looks further than any number of ticks."""


def overlap(rule: Rule, operator: Evaluator) -> tuple[int | None, str]:
    """How many ticks before a firing the states may lie that it depends on; None, and the reason, if there is no such
    number."""
    if not rule.continues:
        return None, "under `reactivate` a firing depends on all earlier firings"
    if rule.gap is not None:
        return None, "with `at most every` a firing depends on the previous firing"
    f = rule.formula
    if not rule.past:
        if not isinstance(f, tree.Eventually) or f.bound is not None:
            return None, "its formula looks ahead from the state of activation"
        f = f.operand
    try:
        found = _Reaches(f, rule.kind).of(f, True)
    except _Unbounded:
        return None, "an operator has no time bound"
    if not (_fleeting(operator.seen) if isinstance(operator, Columns) else _alone(rule)):
        return None, "values are kept until they are written again"
    return found.ahead + found.behind, ""


def _alone(rule: Rule) -> bool:
    """Does a trigger see events alone, or the rows of one state type?"""
    if rule.generics or rule.asks_who or rule.every is not None or rule.sources.tables:
        return False
    return not rule.sources.states or (len(rule.sources.states) == 1 and not rule.sources.events)


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

    def __init__(self, formula: tree.Formula, kind: TimeKind) -> None:
        self.kind = kind
        self.clocks = tree.clocks(formula)

    def of(self, f: Expr, hold: bool) -> Reach:
        """How far a formula looks that is to hold, or not to hold.

        That something does not come within a bound is known at the first state behind it, which may be any time later.
        """
        match f:
            case tree.Nexttime() | tree.Lasttime() | tree.WeakUntil():
                raise _Unbounded
            case tree.Eventually() | tree.Until() | tree.Always() | tree.Release():
                if hold is isinstance(f, tree.Always | tree.Release):
                    raise _Unbounded
                inner = self.parts(f, hold)
                return Reach(self.length(f) + inner.ahead, inner.behind)
            case tree.Previously() | tree.Throughout() | tree.Since():
                return Reach(0, self.length(f) + self.parts(f, True).behind)
            case tree.Aggregate(within=duration) if duration is not None:
                return Reach(0, math.ceil(ticks(duration, self.kind)) + self.parts(f, True).behind)
            case tree.Aggregate():
                raise _Unbounded
            case tree.Not():
                return self.of(f.operand, not hold)
            case tree.Implies():
                return self.of(f.left, not hold) | self.of(f.right, hold)
        return self.parts(f, hold)

    def parts(self, f: Expr, hold: bool) -> Reach:
        """The furthest of all that is below."""
        found = Reach()
        for child in f.children:
            found |= self.of(child, hold)
        return found

    def length(self, f: tree.Formula) -> int:
        found = length(f, self.clocks, self.kind)
        if found is None:
            raise _Unbounded
        return found
