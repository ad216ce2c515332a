"""Satisfaction and end states in the reference semantics of temporal triggers (temporal-logic.md 4.2, 4.3).

A transcription, with no thought of cost.  States count from 0; the first is that of the activation, the last the
present.  ``rho`` gives values to global variables.

Readings where the specification is silent: a view is satisfied as a proposition if its value is a number that is not
zero (SQLite has no booleans); two relations are equal if their sets of rows are, whatever their columns are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from occurs.errors import Problem
from occurs.expr import tree
from occurs.expr.dialect import LOGIC
from occurs.expr.functions import CATALOGUE
from occurs.expr.reference import OPERATORS, Evaluator, clean, strict, ticks
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.states import Catalogue, State, plain
from occurs.languages.logic.semantics.values import (
    Lost,
    Outcome,
    Relation,
    aggregate,
    call,
    compare,
    every,
    holds,
    opposite,
    some,
)
from occurs.languages.logic.syntax import Not, Or, Since, Truth, Until
from occurs.model.time import TimeKind

Values: TypeAlias = Mapping[str, Any]
Ends: TypeAlias = frozenset[int]

NONE: Ends = frozenset()


@dataclass(frozen=True)
class Terms(Evaluator):
    """Terms in state ``i``."""

    looking: Looking
    i: int
    rho: Values
    dialect = LOGIC

    @property
    def kind(self) -> TimeKind:
        return self.looking.kind

    def leaf(self, node: tree.Expr) -> Any:
        return self.looking.meant(node, self.i, self.rho)


class Looking:
    """Formulas of one instance over states.

    ``generics``: values of the generic variables.  Formulas are in the core (:mod:`.core`), terms as parsed.
    """

    def __init__(self, catalogue: Catalogue, kind: TimeKind, states: Sequence[State], generics: Values) -> None:
        self.catalogue, self.kind, self.states, self.generics = catalogue, kind, states, generics
        self.last = len(states) - 1
        #: what kept atoms from being known
        self.lost: list[Lost] = []

    def hit(self, f: syntax.Formula, past: bool) -> Outcome:
        """Is the last state one at which the trigger with the formula ``f`` may fire (4.4)?"""
        if past:
            return self.satisfied(f, self.last, {})
        if self.last in self.ends(f, 0, {}):
            return True
        return self.lost[0] if self.lost and self.last in self.ends(f, 0, {}, lost=True) else False

    # --- 4.2: satisfaction --------------------------------------------------------------------------------------------

    def satisfied(self, f: syntax.Formula, i: int, rho: Values) -> Outcome:
        """Does ``f`` hold at state ``i``?"""
        match f:
            case syntax.Not():
                return opposite(self.satisfied(f.operand, i, rho))
            case syntax.And():
                return every(self.satisfied(p, i, rho) for p in f.operands)
            case syntax.Or():
                return some(self.satisfied(p, i, rho) for p in f.operands)
            case syntax.Assign():
                return self.satisfied(f.operand, i, {**rho, f.variable.text: self.value(f.term, i, rho)})
            case syntax.Nexttime():
                return i < self.last and self.satisfied(f.operand, i + 1, rho)
            case syntax.Lasttime():
                return i > 0 and self.satisfied(f.operand, i - 1, rho)
            case syntax.Until():
                return some(self.reached(f, i, j, range(i, j), rho) for j in range(i, self.last + 1))
            case syntax.Since():
                return some(self.reached(f, i, j, range(j + 1, i + 1), rho) for j in range(i + 1))
        return self.atomic(f, i, rho)

    def reached(self, f: syntax.Until | syntax.Since, i: int, j: int, between: range, rho: Values) -> Outcome:
        """Is the right side satisfied at state ``j``, within the bound, and the left side at all states between?"""
        right, in_time = self.satisfied(f.right, j, rho), self.in_time(f.bound, i, j)
        return every((right, in_time, *(self.satisfied(f.left, k, rho) for k in between)))

    def in_time(self, bound: syntax.Bound | None, i: int, j: int) -> bool:
        """Is the time between two states within the bound?"""
        return bound is None or within(bound, abs(self.states[j].time - self.states[i].time), self.kind)

    # --- 4.3: end states ----------------------------------------------------------------------------------------------

    def ends(self, f: syntax.Formula, i: int, rho: Values, *, hold: bool = True, lost: bool = False) -> Ends:
        """The last states looked at, over all ways in which ``f`` holds (``hold``), or does not hold, at state ``i``.

        ``lost``: does what is not known hold, and not hold, too?  (Else it does neither.)
        """
        match f:
            case syntax.Not():
                return self.ends(f.operand, i, rho, hold=not hold, lost=lost)
            case syntax.And() | syntax.Or():
                parts = [self.ends(p, i, rho, hold=hold, lost=lost) for p in f.operands]
                return joined(*parts) if isinstance(f, syntax.And) == hold else NONE.union(*parts)
            case syntax.Assign():
                inner = {**rho, f.variable.text: self.value(f.term, i, rho)}
                return self.ends(f.operand, i, inner, hold=hold, lost=lost)
            case syntax.Nexttime():
                if i < self.last:
                    return self.ends(f.operand, i + 1, rho, hold=hold, lost=lost)
                return NONE if hold else frozenset((self.last,))
            case syntax.Until():
                return self.ends_of_until(f, i, rho, hold, lost)
        outcome = self.satisfied(f, i, rho)
        if isinstance(outcome, Lost):
            self.lost.append(outcome)
        there = lost if isinstance(outcome, Lost) else outcome == hold
        return frozenset((i,)) if there else NONE

    def ends_of_until(self, f: syntax.Until, start: int, rho: Values, hold: bool, lost: bool) -> Ends:
        """The time of the bound counts from ``start``, also along the recursion."""
        found = NONE if hold else frozenset((self.last,))
        for i in reversed(range(start, self.last + 1)):
            g = self.ends(f.right, i, rho, hold=hold, lost=lost)
            f_ = self.ends(f.left, i, rho, hold=hold, lost=lost)
            in_time = self.in_time(f.bound, start, i)
            if hold:
                found = (g if in_time else NONE) | joined(f_, found)
                continue
            g |= NONE if in_time else {i}
            found = g if self.closed(f, start, i, rho) else joined(g, f_ | found)
        return found

    def closed(self, f: syntax.Until, start: int, i: int, rho: Values) -> bool:
        """Is what an until waits for false at every time later than that of state ``i``?"""
        bound, time = f.bound, self.states[i].time
        if bound is not None and bound.op in ("<=", "<", "=", "in"):
            limit = bound.first if bound.second is None else bound.second
            if time - self.states[start].time >= ticks(limit, self.kind):
                return True
        return passed(f.right, rho, time, self.known, self.kind) is False

    def known(self, name: str) -> Any:
        """A number that a name stands for in every state: a generic variable or a constant; else null."""
        return self.generics.get(name, self.catalogue.constants.get(name))

    # --- atoms --------------------------------------------------------------------------------------------------------

    def atomic(self, f: syntax.Formula, i: int, rho: Values) -> Outcome:
        """A formula without operators."""
        match f:
            case syntax.Truth():
                return f.value
            case syntax.Compare():
                return holds(compare(f.op, self.value(f.left, i, rho), self.value(f.right, i, rho)))
            case syntax.IsNull():
                value = self.value(f.term, i, rho)
                return value if isinstance(value, Lost) else (value is None) != f.negated
            case syntax.Exists():
                return self.exists(f, i, rho)
            case syntax.Atom():
                event = self.event(f.term, i, rho)
                return holds(self.value(f.term, i, rho)) if event is None else event
        raise TypeError(f"not a formula: {type(f).__name__}")

    def exists(self, f: syntax.Exists, i: int, rho: Values) -> Outcome:
        values = {**self.generics, **self.catalogue.constants, **rho, "time": self.states[i].time}
        lost = [v for v in rho.values() if isinstance(v, Lost)]
        if lost:
            return lost[0]
        return bool(self.states[i].sql.select(f.sql.text, values).rows)

    def event(self, term: tree.Expr, i: int, rho: Values) -> Outcome | None:
        """``E`` or ``E(attr = term, ..)``: is there such an event in the state?  None if the term is none."""
        name = term.name if isinstance(term, tree.Ref | syntax.Apply) else ""
        bound = isinstance(term, tree.Ref) and (term.scope is not None or name in rho or name in self.generics)
        if name not in self.catalogue.events or bound:
            return None
        wanted: dict[str, Any] = {}
        if isinstance(term, syntax.Apply):
            columns = list(self.catalogue.events[name])
            named = [n if n is not None else columns[at] for at, n in enumerate(term.names)]
            wanted = {n: self.value(a, i, rho) for n, a in zip(named, term.args, strict=True)}
        return some(
            every(holds(strict(OPERATORS["="], e.attributes.get(n), v)) for n, v in wanted.items())
            for e in self.states[i].events.get(name, ())
        )

    # --- terms --------------------------------------------------------------------------------------------------------

    def value(self, t: tree.Expr, i: int, rho: Values) -> Any:
        """The value of a term in state ``i``; None is null."""
        return Terms(self, i, rho).value(t)

    def meant(self, t: tree.Expr, i: int, rho: Values) -> Any:
        """The value of a name, an aggregate, or what has arguments."""
        match t:
            case syntax.Aggregate():
                states = self.aggregated(t, i)
                return (
                    states if isinstance(states, Lost) else aggregate(t.op, [self.value(t.arg, j, {}) for j in states])
                )
            case tree.Ref(scope=None):
                return self.named(t.name, i, rho)
            case tree.Ref() if f"{t.scope}.{t.name}" in self.catalogue.variables:
                return self.named(f"{t.scope}.{t.name}", i, rho)
            case tree.Ref():
                return self.attribute(str(t.scope), t.name, i)
            case syntax.Apply():
                return self.applied(t, i, rho)
        raise TypeError(f"not a term: {type(t).__name__}")

    def aggregated(self, t: syntax.Aggregate, i: int) -> Sequence[int] | Lost:
        """The states over which an aggregate goes."""
        if t.within is not None:
            most = ticks(t.within, self.kind)
            return [j for j in range(i + 1) if self.states[i].time - self.states[j].time <= most]
        assert t.predicate is not None
        predicate = core(t.predicate)
        for j in reversed(range(i + 1)):
            outcome = self.satisfied(predicate, j, {})
            if isinstance(outcome, Lost):
                return outcome
            if outcome:
                return range(j, i + 1)
        return []

    def named(self, name: str, i: int, rho: Values) -> Any:
        """What a bare name stands for; a text if it means nothing."""
        state = self.states[i]
        if name in rho:
            return rho[name]
        if name in self.generics:
            return self.generics[name]
        if name == "time":
            return state.time
        if name in self.catalogue.constants:
            return clean(self.catalogue.constants[name])
        if name in state.variables:
            return state.variables[name]
        if name in self.catalogue.tables:
            table = self.catalogue.tables[name]
            columns = tuple(c.name.text for c in table.columns)
            return Relation(columns, tuple(tuple(plain(r[c]) for c in columns) for r in state.tables[name]))
        if name in self.catalogue.views:
            found = self.view(name, {}, i)
            return self.one(found, name, state) if len(found.columns) == 1 else found
        return name

    def attribute(self, scope: str, name: str, i: int) -> Any:
        """``E.attr`` of the last event of that type, null if there is none; ``T.column`` of a table without keys."""
        state = self.states[i]
        if scope in self.catalogue.tables:
            return self.one(Relation((name,), tuple((r[name],) for r in state.tables[scope])), scope, state)
        events = state.events.get(scope, ())
        return clean(events[-1].attributes.get(name)) if events else None

    def applied(self, t: syntax.Apply, i: int, rho: Values) -> Any:
        """``T(k1, ..).column``, a view of one value with parameters, a function."""
        values = [self.value(a, i, rho) for a in t.args]
        if t.name in self.catalogue.tables:
            return self.looked_up(t, values, self.states[i])
        if t.name in self.catalogue.views:
            view = self.catalogue.views[t.name]
            names = [n if n is not None else view.parameters[at].text for at, n in enumerate(t.names)]
            lost = [v for v in values if isinstance(v, Lost)]
            if lost:
                return lost[0]
            return self.one(self.view(t.name, dict(zip(names, values, strict=True)), i), t.name, self.states[i])
        return call(t.name.lower() if t.name.lower() in (*CATALOGUE, "time_of_day") else t.name, values)

    def looked_up(self, t: syntax.Apply, values: Sequence[Any], state: State) -> Any:
        """The value in the row with a key, null if there is none."""
        table = self.catalogue.tables[t.name]
        keys = [c.name.text for c in table.keys]
        names = [n if n is not None else keys[at] for at, n in enumerate(t.names)]
        column = t.column or next(c.name.text for c in table.columns if not c.key)
        lost = [v for v in values if isinstance(v, Lost)]
        if lost:
            return lost[0]
        for row in state.tables[t.name]:
            if every(holds(strict(OPERATORS["="], row[n], v)) for n, v in zip(names, values, strict=True)) is True:
                return row[column]
        return None

    def view(self, name: str, parameters: Values, i: int) -> Relation:
        """The rows of a view in a state."""
        values = {**parameters, "time": self.states[i].time}
        return self.states[i].sql.select(self.catalogue.views[name].sql.text, values)

    def one(self, found: Relation, name: str, state: State) -> Any:
        """The one value of a relation; of none null, of several lost."""
        if len(found.rows) > 1:
            message = f"`{name}` has {len(found.rows)}rows at {state.time}, but one value is needed: {found.rows}"
            return Lost(problem=Problem("bad-value", message))
        return clean(found.rows[0][0]) if found.rows else None


def joined(*sets: Ends) -> Ends:
    """``A ⊔ B`` = { max(a, b) : a in A, b in B }, of any number of sets."""
    found, *rest = sets
    for other in rest:
        found = frozenset(max(a, b) for a in found for b in other)
    return found


# --- operators by their definitions -----------------------------------------------------------------------------------


TRUE = Truth(True)


def core(f: syntax.Formula) -> syntax.Formula:
    """The same with not, and, or, assignment, nexttime, lasttime, until, since and atoms only."""
    match f:
        case syntax.Implies():
            return Or((Not(core(f.left)), core(f.right)))
        case syntax.Eventually():
            return Until(TRUE, core(f.operand), f.bound)
        case syntax.Always():
            return Not(Until(TRUE, Not(core(f.operand)), f.bound))
        case syntax.Previously():
            return Since(TRUE, core(f.operand), f.bound)
        case syntax.Throughout():
            return Not(Since(TRUE, Not(core(f.operand)), f.bound))
        case syntax.WeakUntil():
            left = core(f.left)
            return Or((Until(left, core(f.right)), Not(Until(TRUE, Not(left)))))
        case syntax.Release():
            return Not(Until(Not(core(f.left)), Not(core(f.right)), f.bound))
        case syntax.Not() | syntax.Assign() | syntax.Nexttime() | syntax.Lasttime():
            return replace(f, operand=core(f.operand))
        case syntax.And() | syntax.Or():
            return replace(f, operands=tuple(core(p) for p in f.operands))
        case syntax.Until() | syntax.Since():
            return replace(f, left=core(f.left), right=core(f.right))
    return f


# --- comparisons of time ----------------------------------------------------------------------------------------------


#: a number by its name, or anything else
Known = Callable[[str], Any]

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def within(bound: syntax.Bound, age: int, kind: TimeKind) -> bool:
    """Is an age in ticks, which is not negative, within the bound?"""
    low = ticks(bound.first, kind)
    match bound.op:
        case "<=":
            return age <= low
        case ">=":
            return age >= low
        case "=":
            return age == low
        case "<":
            return age < low
        case ">":
            return age > low
    assert bound.second is not None
    return low <= age <= ticks(bound.second, kind)


def passed(f: syntax.Formula, rho: Mapping[str, Any], time: int, known: Known, kind: TimeKind) -> bool | None:
    """What ``f`` is at every time later than ``time`` as far as its comparisons of time tell; None: unknown.

    ``known``: the number that a generic variable or a constant is.
    """
    match f:
        case syntax.Not():
            inner = passed(f.operand, rho, time, known, kind)
            return None if inner is None else not inner
        case syntax.And() | syntax.Or():
            found = [passed(p, rho, time, known, kind) for p in f.operands]
            decisive = isinstance(f, syntax.Or)
            if decisive in found:
                return decisive
            return None if None in found else not decisive
        case syntax.Compare():
            return _compared(f, rho, time, known, kind)
    return None


def _compared(f: syntax.Compare, rho: Mapping[str, Any], time: int, known: Known, kind: TimeKind) -> bool | None:
    left, right = (linear(t, rho, known, kind) for t in (f.left, f.right))
    if left is None or right is None:
        return None
    factor, rest = left[0] - right[0], right[1] - left[1]
    if factor == 0 or rest / factor > time:
        return None
    return (f.op if factor > 0 else _FLIPPED[f.op]) in (">", ">=", "!=")


def linear(t: tree.Expr, rho: Mapping[str, Any], known: Known, kind: TimeKind) -> tuple[Fraction, Fraction] | None:
    """(a, b) if the term is a * time + b; None if it is nothing of the kind."""
    match t:
        case tree.Literal():
            return _number(t.value)
        case tree.DurationLiteral():
            return _number(ticks(t.value, kind))
        case tree.Ref(scope=None):
            if t.name in rho:
                return _number(rho[t.name])
            return (Fraction(1), Fraction(0)) if t.name == "time" else _number(known(t.name))
        case tree.Unary("neg"):
            inner = linear(t.arg, rho, known, kind)
            return None if inner is None else (-inner[0], -inner[1])
        case tree.Binary(op="+" | "-" | "*"):
            left, right = linear(t.left, rho, known, kind), linear(t.right, rho, known, kind)
            if left is None or right is None:
                return None
            if t.op == "*":
                if left[0] and right[0]:
                    return None
                return left[0] * right[1] + right[0] * left[1], left[1] * right[1]
            sign = 1 if t.op == "+" else -1
            return left[0] + sign * right[0], left[1] + sign * right[1]
    return None


def _number(value: Any) -> tuple[Fraction, Fraction] | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Fraction)
        or value in (float("inf"), -float("inf"))
    ):
        return None
    return Fraction(0), Fraction(value)
