"""Formulas without operators that look ahead, as closures over states (temporal-logic.md 4.2, 5.1, 5.2).

A closure takes the state and the values of the generic and global variables by name.  A formula is compiled in one of
two ways: for the present state, or for a *record*, which is all that is kept of a state for operators that look back
with values that are not known yet (``[x <- a] previously b = x``).  A record has the values of the terms that do not
depend on global variables, each in a slot.

An operator that looks back and in which no global variable is free has one truth value per state, and keeps no more
than the next needs.  One with free variables has to be asked with values that come later: of every state there is a
record, as long as the operator may look back at it (:class:`Reach`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, Protocol, TypeAlias

from occurs.errors import Problem
from occurs.expr.aggregates import AGGREGATES
from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal import values as ops
from occurs.operators.temporal.times import FOREVER, Ages, allowed, farthest, ticks
from occurs.operators.temporal.tree import (
    BACK,
    Found,
    Generic,
    Global,
    Happens,
    Last,
    TableOf,
    Time,
    Value,
    Variable,
    ViewOf,
    free,
    lowered,
    of_state,
)
from occurs.operators.temporal.trigger import Sources
from occurs.operators.temporal.values import Lost, Relation, Truth


class Terms:
    """Closures for the terms and atoms of one trigger at the present state."""

    def __init__(self, sources: Sources, kind: TimeKind) -> None:
        self.sources, self.kind = sources, kind

    # --- formulas -----------------------------------------------------------------------------------------------------

    def test(self, f: tree.Formula) -> Test:
        """Does ``f`` hold in a state?"""
        match f:
            case tree.Truth():
                value = f.value
                return lambda s, r: value
            case tree.Not():
                return negation(self.test(f.operand))
            case tree.And():
                return every([self.test(p) for p in f.operands])
            case tree.Or():
                return some([self.test(p) for p in f.operands])
            case tree.Assign():
                return assigned(f.variable.text, self.term(f.term), self.test(f.operand))
            case tree.Compare():
                return self.compared(f)
            case tree.IsNull():
                return is_null(self.term(f.term), f.negated)
            case tree.Atom():
                return holding(self.term(f.term))
            case Happens():
                return self.happens(f)
            case Found():
                return self.found(f)
            case tree.Since() | tree.Lasttime():
                return self.looking_back(f)
        raise TypeError(f"not a formula of one state: {type(f).__name__}")

    def compared(self, f: tree.Compare) -> Test:
        """A comparison; of variables with constants and with remembered values at one go."""
        left, right = self.term(f.left), self.term(f.right)
        if isinstance(f.left, Variable):
            if isinstance(f.right, Literal) and type(f.right.value) in NUMBERS:
                return compared_with_constant(f.op, f.left.name, f.right.value)
            if isinstance(f.right, Global):
                return compared_with_remembered(f.op, f.left.name, f.right.name)
        return compared(f.op, left, right)

    def looking_back(self, f: tree.Since | tree.Lasttime) -> Test:
        """An operator that looks back."""
        raise TypeError(f"not an operator that looks back: {type(f).__name__}")

    def happens(self, f: Happens) -> Test:
        """An event with attributes."""
        at = self.sources.events[f.event].columns
        wanted = [(at.index(n), self.term(a)) for n, a in zip(f.names, f.args, strict=True)]
        events = self.events(f)
        if not wanted:
            return lambda s, r: bool(events(s, r))

        def test(s: Any, r: Values) -> Truth:
            found: Truth = False
            for row in events(s, r):
                holds: Truth = True
                for i, term in wanted:
                    same = ops.equal(row[i], term(s, r))
                    if same is False:
                        holds = False
                        break
                    holds = same if same is not True else holds
                if holds is True:
                    return True
                found = holds if holds is not False else found
            return found

        return test

    def found(self, f: Found) -> Test:
        """``exists``."""
        sql, terms = f.sql.text, self.named([*f.names, *(str(getattr(x, "name", "")) for x in f.relations)],
                                            [*f.args, *f.relations])  # fmt: skip
        select = self.select(f)

        def test(s: Any, r: Values) -> Truth:
            values = {n: t(s, r) for n, t in terms}
            return ops.first_lost(values) or bool(select(s, r, sql, values).rows)

        return test

    def named(self, names: Sequence[str], args: Sequence[Expr]) -> list[tuple[str, Term]]:
        """Terms with their names."""
        return [(n, self.term(a)) for n, a in zip(names, args, strict=True)]

    # --- what a state has ---------------------------------------------------------------------------------------------

    def events(self, f: Happens) -> Term:
        """The events of a type, in their order."""
        name = f.event
        return lambda s, r: s.events.get(name, ())

    def table(self, t: Value) -> Term:
        """The rows of a table by key."""
        name = t.table
        return lambda s, r: s.tables[name].rows

    def select(self, node: Found | ViewOf) -> Callable[[Any, Values, str, Values], Relation]:
        """Runs a SELECT on the tables of the state."""
        return lambda s, r, sql, values: s.sql.select(sql, values, s.tables)

    # --- terms --------------------------------------------------------------------------------------------------------

    def term(self, t: Expr) -> Term:
        """The value of a term in a state."""
        match t:
            case Literal():
                constant = ops.whole(t.value) if type(t.value) in (int, float) else t.value
                return lambda s, r: constant
            case DurationLiteral():
                exact = self.kind.convert(t.value)
                length = ops.whole(Fraction(exact if exact is not None else 0))
                return lambda s, r: length
            case Time():
                return lambda s, r: s.time
            case Generic() | Global():
                name = t.name
                return lambda s, r: r[name]
            case Variable():
                variable = t.name
                return lambda s, r: s.variables[variable]
            case Unary():
                return negated(self.term(t.arg))
            case Binary():
                return computed(t.op, self.term(t.left), self.term(t.right))
            case Call():
                return self.function(t)
            case Value():
                return self.looked_up(t)
            case TableOf():
                table = t.table
                return lambda s, r: s.tables[table].relation()
            case ViewOf():
                return self.view(t)
            case Last():
                return self.last(t)
            case tree.Aggregate():
                return self.aggregate(t)
        raise TypeError(f"not a term: {type(t).__name__}")

    def aggregate(self, t: tree.Aggregate) -> Term:
        """Over the states so far."""
        raise TypeError(f"not an aggregate here: {t.op}")

    def function(self, t: Call) -> Term:
        """A function of its arguments."""
        args = [self.term(a) for a in t.args]
        if t.name == "coalesce":
            return lambda s, r: ops.first_known([a(s, r) for a in args])
        function = ops.function(t.name)
        return lambda s, r: ops.call(function, [a(s, r) for a in args])

    def last(self, t: Last) -> Term:
        """``E.attr`` of the last event of the state."""
        name, at = t.event, self.sources.events[t.event].columns.index(t.attribute)

        def value(s: Any, r: Values) -> Any:
            rows = s.events.get(name)
            return rows[-1][at] if rows else None

        return value

    def looked_up(self, t: Value) -> Term:
        """The value in the row of a table with these keys."""
        shape = self.sources.tables[t.table]
        at, keys, table = shape.columns.index(t.column), [self.term(k) for k in t.keys], self.table(t)
        if not shape.keys:
            return self._only(t.table, at, table)
        single = keys[0] if len(keys) == 1 else None
        if single is not None:

            def by_one(s: Any, r: Values) -> Any:
                key = single(s, r)
                if key is None or type(key) is Lost:
                    return key
                found = table(s, r).get(key)
                return None if found is None else found[1][at]

            return by_one

        def value(s: Any, r: Values) -> Any:
            key = tuple(k(s, r) for k in keys)
            for part in key:
                if part is None or type(part) is Lost:
                    return part
            found = table(s, r).get(key)
            return None if found is None else found[1][at]

        return value

    @staticmethod
    def _only(name: str, at: int, table: Term) -> Term:
        """The value in the only row of a table without keys."""

        def value(s: Any, r: Values) -> Any:
            rows = table(s, r)
            if len(rows) > 1:
                return several(name, [(row[at],) for _, row in rows.values()], s.time)
            return next((row[at] for _, row in rows.values()), None)

        return value

    def view(self, t: ViewOf) -> Term:
        """What a view gives: one value, or rows."""
        view, rows = self.sources.views[t.view], len(getattr(t.sort, "columns", ())) > 0
        terms, select, name = self.named(view.parameters, t.args), self.select(t), t.view

        def value(s: Any, r: Values) -> Any:
            values = {n: a(s, r) for n, a in terms}
            lost = ops.first_lost(values)
            if lost is not None:
                return lost
            found = select(s, r, view.sql, {**values, "time": s.time})
            if rows or len(found.columns) > 1:
                return found
            if len(found.rows) > 1:
                return several(name, found.rows, s.time)
            return found.rows[0][0] if found.rows else None

        return value


def several(name: str, rows: Sequence[Any], time: int) -> Lost:
    """Several rows where one value is needed."""
    return Lost(Problem("bad-value", f"`{name}` has {len(rows)} rows at {time}, but one value is needed: {rows[:5]}"))


# --- closures made of closures ----------------------------------------------------------------------------------------


Values: TypeAlias = dict[str, Any]
Term: TypeAlias = Callable[[Any, Values], Any]
Test: TypeAlias = Callable[[Any, Values], Truth]


def negation(inner: Test) -> Test:
    """Not."""

    def test(s: Any, r: Values) -> Truth:
        found = inner(s, r)
        return (not found) if type(found) is bool else found

    return test


def every(parts: Sequence[Test]) -> Test:
    """And."""
    if len(parts) == 2:
        first, second = parts

        def both(s: Any, r: Values) -> Truth:
            a = first(s, r)
            if a is False:
                return False
            b = second(s, r)
            return b if a is True or b is False else a

        return both

    def test(s: Any, r: Values) -> Truth:
        found: Truth = True
        for part in parts:
            one = part(s, r)
            if one is False:
                return False
            found = one if one is not True else found
        return found

    return test


def some(parts: Sequence[Test]) -> Test:
    """Or."""

    def test(s: Any, r: Values) -> Truth:
        found: Truth = False
        for part in parts:
            one = part(s, r)
            if one is True:
                return True
            found = one if one is not False else found
        return found

    return test


def assigned(name: str, term: Term, inner: Test) -> Test:
    """With the value of a variable."""
    return lambda s, r: inner(s, {**r, name: term(s, r)})


#: exact types: booleans are something else
NUMBERS = (int, float)
#: comparisons of two numbers, or of two texts
_PLAIN: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "!=": ne}


def compared(op: str, left: Term, right: Term) -> Test:
    """A comparison of two terms."""
    compare, plain = ops.COMPARISONS[op], _PLAIN[op]

    def test(s: Any, r: Values) -> Truth:
        a, b = left(s, r), right(s, r)
        # most values are numbers
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return plain(a, b)
        return compare(a, b)

    return test


def compared_with_constant(op: str, name: str, constant: Any) -> Test:
    """Of a variable of the state."""
    compare, plain, fixed = ops.COMPARISONS[op], _PLAIN[op], ops.whole(constant)
    if type(fixed) not in NUMBERS:
        return lambda s, r: compare(s.variables[name], fixed)

    def test(s: Any, r: Values) -> Truth:
        a = s.variables[name]
        return plain(a, fixed) if type(a) in NUMBERS else compare(a, fixed)

    return test


def compared_with_remembered(op: str, name: str, other: str) -> Test:
    """Of a variable of the state with one that is remembered."""
    compare, plain = ops.COMPARISONS[op], _PLAIN[op]

    def test(s: Any, r: Values) -> Truth:
        a, b = s.variables[name], r[other]
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return plain(a, b)
        return compare(a, b)

    return test


def computed(op: str, left: Term, right: Term) -> Term:
    """Arithmetic."""
    f = ops.ARITHMETIC[op]
    plain = {"+": add, "-": sub, "*": mul}.get(op)
    if plain is None:
        return lambda s, r: f(left(s, r), right(s, r))

    def value(s: Any, r: Values) -> Any:
        a, b = left(s, r), right(s, r)
        if type(a) is int and type(b) is int:
            found = plain(a, b)
            return found if ops.LEAST <= found <= ops.GREATEST else ops.OVERFLOW
        return f(a, b)

    return value


def negated(arg: Term) -> Term:
    """Minus."""

    def value(s: Any, r: Values) -> Any:
        found = arg(s, r)
        return found if found is None or type(found) is Lost else ops.whole(-found)

    return value


def is_null(term: Term, negated: bool) -> Test:
    """`is null`, or not."""

    def test(s: Any, r: Values) -> Truth:
        value = term(s, r)
        return value if type(value) is Lost else (value is None) != negated

    return test


def holding(term: Term) -> Test:
    """A boolean term."""

    def test(s: Any, r: Values) -> Truth:
        value = term(s, r)
        return value if type(value) is Lost else bool(value)

    return test


# --- operators that look back, and aggregates -------------------------------------------------------------------------


#: a way back that nested operators go: so many states, then so many ticks (infinite: to the activation), and so on
Way: TypeAlias = tuple[tuple[int, float], ...]


def reach(f: Expr, kind: TimeKind, clocks: frozenset[str] = frozenset()) -> frozenset[Way]:
    """The ways back from its state of the operators in ``f`` that have free variables.

    ``clocks``: the variables that have the time of this state.
    """
    found: frozenset[Way] = frozenset()
    if isinstance(f, tree.Assign):
        name = frozenset({f.variable.text})
        return reach(f.operand, kind, clocks | name if isinstance(f.term, Time) else clocks - name)
    inner = frozenset() if isinstance(f, BACK) else clocks
    for child in f.children:
        found |= reach(child, kind, inner)
    if isinstance(f, tree.Lasttime) and free(f):
        return frozenset(_behind_states(way) for way in found or _NOWHERE)
    if isinstance(f, tree.Since) and free(f):
        own = max(min(allowed(f.bound, kind).most, _greatest_age(f.right, clocks, kind)), 0)
        return frozenset(_behind_ticks(own, way) for way in found or _NOWHERE)
    return found


_NOWHERE: frozenset[Way] = frozenset({()})


def _behind_states(way: Way) -> Way:
    """A way that begins at the state before."""
    return ((way[0][0] + 1, way[0][1]), *way[1:]) if way else ((1, 0),)


def _behind_ticks(span: float, way: Way) -> Way:
    """A way that begins ``span`` ticks before."""
    if span == math.inf:
        return ((0, span),)
    return ((0, span + way[0][1]), *way[1:]) if way and not way[0][0] else ((0, span), *way)


@dataclass(frozen=True)
class Reach:
    """How far back something looks: ``ticks`` (infinite: to the activation), and so many ``states`` more; and on the
    other ``ways``, where ticks come behind states."""

    ticks: float = 0
    states: int = 0
    ways: frozenset[Way] = frozenset()

    @classmethod
    def of(cls, way: Way) -> Reach:
        match way:
            case ((0, ticks),):
                return cls(ticks)
            case ((states, 0),):
                return cls(0, states)
            case ((0, ticks), (states, 0)):
                return cls(ticks, states)
        return cls(ways=frozenset({way}))

    def __or__(self, other: Reach) -> Reach:
        return Reach(max(self.ticks, other.ticks), max(self.states, other.states), self.ways | other.ways)

    def on_ways(self, records: Sequence[Record], time: int) -> int:
        """How many of the ``records`` of the states before ``time``, the oldest first, are looked at on the ways."""
        return max((len(records) - _end(way, records, time) for way in self.ways), default=0)


def _end(way: Way, records: Sequence[Record], time: int) -> int:
    """The place of the oldest record on a way."""
    at = len(records)
    for states, span in way:
        at = max(at - states, 0)
        time = records[at].time if at < len(records) else time
        while at and time - records[at - 1].time <= span:
            at -= 1
    return at


def _greatest_age(f: Expr, clocks: frozenset[str], kind: TimeKind) -> float:
    """The greatest age, by a conjunct `time >= t - c` with one of ``clocks`` for t, at which a formula may hold."""
    match f:
        case tree.And():
            return min(_greatest_age(p, clocks, kind) for p in f.operands)
        case tree.Assign():
            return _greatest_age(f.operand, clocks - {f.variable.text}, kind)
        case tree.Compare():
            found = farthest(f.op, f.left, f.right, False, clocks, kind)
            return math.inf if found is None else found
    return math.inf


class OfPresent(Terms):
    """Closures over the present state, with all that goes on from state to state."""

    def __init__(self, sources: Sources, kind: TimeKind) -> None:
        super().__init__(sources, kind)
        #: what is done in every state, in this order: (into `past`, or into the record?, place, how)
        self.steps: list[tuple[bool, int, Any]] = []
        self.operators: list[Step] = []
        self.slots = 0
        self._places: dict[Any, int] = {}
        self._slot_of: dict[Any, int] = {}
        self._back: dict[Any, Test] = {}
        self.records = OfRecords(self, self._allot, self._of_record)
        #: how far back records are needed
        self.reach = Reach()
        #: the variables that have the time of the present state, where the compiler is
        self._clocks: frozenset[str] = frozenset()

    def test(self, f: tree.Formula) -> Test:
        if not isinstance(f, tree.Assign):
            return super().test(f)
        before, name = self._clocks, frozenset({f.variable.text})
        self._clocks = before | name if isinstance(f.term, Time) else before - name
        try:
            return super().test(f)
        finally:
            self._clocks = before

    @property
    def recording(self) -> bool:
        """Are records needed?"""
        return bool(self._back) or self.slots > 0

    def _allot(self, node: Any, term: Callable[[], Term]) -> int:
        """The slot of a term or formula in records."""
        if node not in self._slot_of:
            made = term()
            self._slot_of[node] = self.slots
            self.steps.append((False, self.slots, made))
            self.slots += 1
        return self._slot_of[node]

    def _place(self, node: Any, make: Callable[[], Step]) -> Term:
        """The value of something that goes on from state to state."""
        if node not in self._places:
            step = make()
            self._places[node] = len(self.operators)
            self.steps.append((True, len(self.operators), step))
            self.operators.append(step)
        at = self._places[node]
        return lambda s, r: s.past[at]

    def aggregate(self, t: tree.Aggregate) -> Term:
        def make() -> Step:
            # a predicate looks at one state
            predicate = None if t.predicate is None else self.test(lowered(t.predicate))
            within = None if t.within is None else math.floor(ticks(t.within, self.kind))
            return Aggregate(t.op, self.term(t.arg), predicate, within)

        return self._place(t, make)

    def looking_back(self, f: tree.Since | tree.Lasttime) -> Test:
        if free(f):
            for way in reach(f, self.kind, self._clocks):
                self.reach |= Reach.of(way)
            asked = self._of_record(f)
            return lambda s, r: asked(s.record, r)

        def make() -> Step:
            if isinstance(f, tree.Lasttime):
                return LastTime(self.test(f.operand))
            left, right = self.test(f.left), self.test(f.right)
            return Since(left, right) if f.bound is None else SinceWithin(left, right, allowed(f.bound, self.kind))

        return self._place(f, make)

    def _of_record(self, f: tree.Since | tree.Lasttime) -> Test:
        """An operator with free variables, asked of a record."""
        if f not in self._back:
            if isinstance(f, tree.Lasttime):
                self._back[f] = _last(self.records.test(f.operand))
            else:
                left, right = self.records.test(f.left), self.records.test(f.right)
                self._back[f] = _since(left, right, allowed(f.bound, self.kind))
        return self._back[f]


def _last(operand: Test) -> Test:
    return lambda s, r: s.before is not None and operand(s.before, r)


def _since(left: Test, right: Test, window: Ages) -> Test:
    def test(s: Record, r: Values) -> Truth:
        found: Truth = False
        so_far: Truth = True
        at: Record | None = s
        while at is not None:
            age = s.time - at.time
            if age > window.most:
                break
            if age >= window.low:
                one = both(so_far, right(at, r))
                if one is True:
                    return True
                found = one if one is not False else found
            so_far = both(so_far, left(at, r))
            if so_far is False:
                break
            at = at.before
        return found

    return test


# --- records of states ------------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Record:
    """What is kept of a state: its time, the values in its slots, and the record before it."""

    time: int
    values: list[Any]
    before: Record | None


class OfRecords(Terms):
    """Closures over records; ``slots``: for every slot the term of the present state, as closure."""

    def __init__(self, present: Terms, allot: Callable[[Any, Callable[[], Term]], int], back: Callable[[Any], Test]):
        super().__init__(present.sources, present.kind)
        self.present, self.allot, self.back = present, allot, back

    def slot(self, node: Any, term: Callable[[], Term]) -> Term:
        at = self.allot(node, term)
        return lambda s, r: s.values[at]

    def test(self, f: tree.Formula) -> Test:
        if not free(f) and of_state(f):
            return self.slot(f, lambda: self.present.test(f))
        return super().test(f)

    def term(self, t: Expr) -> Term:
        if not isinstance(t, Time) and not free(t) and of_state(t):
            return self.slot(t, lambda: self.present.term(t))
        return super().term(t)

    def compared(self, f: tree.Compare) -> Test:
        return compared(f.op, self.term(f.left), self.term(f.right))

    def looking_back(self, f: tree.Since | tree.Lasttime) -> Test:
        return self.back(f)

    def events(self, f: Happens) -> Term:
        name = f.event
        return self.slot(("events", name), lambda: lambda s, r: tuple(s.events.get(name, ())))

    def table(self, t: Value) -> Term:
        name = t.table
        return self.slot(("table", name), lambda: lambda s, r: s.tables[name].frozen().rows)

    def select(self, node: Found | ViewOf) -> Callable[[Any, Values, str, Values], Relation]:
        frozen = self.slot(("tables",), lambda: lambda s, r: s.sql.frozen(s.tables))

        def select(s: Any, r: Values, sql: str, values: Values) -> Relation:
            tables, database = frozen(s, r)
            found: Relation = database.select(sql, values, tables)
            return found

        return select


# --- operators without free variables ---------------------------------------------------------------------------------


class Step(Protocol):
    """Something that goes on from state to state.  ``kept`` is its state, plain values that can be saved."""

    def fresh(self) -> Any: ...

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        """(what is kept, the value in this state)."""


@dataclass(frozen=True)
class LastTime:
    """``lasttime f``: what f was."""

    operand: Test

    def fresh(self) -> Any:
        return False

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        return self.operand(s, r), kept


@dataclass(frozen=True)
class Since:
    """``f since g``: was it so in the state before?"""

    left: Test
    right: Test

    def fresh(self) -> Any:
        return False

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        now = self.right(s, r)
        if now is not True and kept is not False:
            before = both(self.left(s, r), kept)
            now = before if before is True or now is False else now
        return now, now


@dataclass(frozen=True)
class SinceWithin:
    """``f since[B] g``: (time of g, does f hold since?), the latest last, as far as some later state may need them."""

    left: Test
    right: Test
    window: Ages

    def fresh(self) -> Any:
        return ()

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        time, window = s.time, self.window
        if kept:
            left = self.left(s, r)
            if left is False:
                kept = ()
            elif left is not True:
                kept = tuple((t, both(truth, left)) for t, truth in kept)
        now = self.right(s, r)
        if now is not False:
            if window.high == FOREVER:
                kept = _oldest((*kept, (time, now)))
            elif window.low == 0 and now is True:
                kept = ((time, now),)
            else:
                kept = (*kept, (time, now))
        if kept and time - kept[0][0] > window.most:
            kept = tuple(one for one in kept if time - one[0] <= window.most)
        found: Truth = False
        for t, truth in reversed(kept):
            if window.low <= time - t <= window.most:
                if truth is True:
                    return kept, True
                found = truth
        return kept, found


def _oldest(kept: tuple[tuple[int, Truth], ...]) -> tuple[tuple[int, Truth], ...]:
    """The oldest that holds serves all later states, as does the oldest of those before it that are not known."""
    found: list[tuple[int, Truth]] = []
    for one in kept:
        if one[1] is True or not found:
            found.append(one)
        if one[1] is True:
            break
    return tuple(found)


def both(a: Truth, b: Truth) -> Truth:
    """And."""
    if a is False or b is False:
        return False
    return b if a is True else a


@dataclass(frozen=True)
class Aggregate:
    """``op of arg from predicate``: what its states have come to (:func:`gathered`); ``None`` before the predicate has
    held, a Lost if it is not known whether it has.  ``op of arg within c``: (time, value) of its states.
    """

    op: str
    arg: Term
    predicate: Test | None
    within: int | None

    def fresh(self) -> Any:
        return () if self.predicate is None else None

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        if self.predicate is not None:
            holds = self.predicate(s, r)
            if holds is not False:
                kept = () if holds is True else holds
        if type(kept) is Lost:
            return kept, kept
        if kept is None:
            return None, 0 if self.op == "count" else None
        if self.within is None:
            kept = gathered(self.op, kept, self.arg(s, r))
            return kept, result(self.op, kept)
        kept = (*kept, (s.time, self.arg(s, r)))
        if s.time - kept[0][0] > self.within:
            kept = tuple((t, v) for t, v in kept if s.time - t <= self.within)
        return kept, total(self.op, [v for _, v in kept])


#: nothing gathered
_EMPTY: tuple[Any, ...] = (0, None, False, None, None)


def gathered(op: str, kept: Any, value: Any) -> Any:
    """(how many values, their exact sum or the least or greatest, is one a float?, a lost one, infinite ones added)."""
    count, sums, floats, lost, infinite = kept or _EMPTY
    if value is None:
        return count, sums, floats, lost, infinite
    if type(value) is Lost:
        return count + 1, sums, floats, lost or value, infinite
    running = AGGREGATES[op].running
    if running is not None:
        sums = value if sums is None else running(sums, value)
    elif op != "count":
        if type(value) is float:
            floats = True
            if math.isinf(value):
                return count + 1, sums, floats, lost, value if infinite is None else infinite + value
            value = Fraction(value)
        sums = value if sums is None else sums + value
    return count + 1, sums, floats, lost, infinite


def result(op: str, kept: Any) -> Any:
    """Of what was gathered."""
    count, sums, floats, lost, infinite = kept or _EMPTY
    if lost is not None:
        return lost
    if op == "count":
        return count
    if not count:
        return None
    if AGGREGATES[op].running is not None:
        return _of_running(op, sums)
    if infinite is not None:
        return ops.whole(infinite)
    if op == "avg":
        return real(Fraction(sums) / count)
    return real(sums) if floats else ops.whole(sums)


def total(op: str, values: Sequence[Any]) -> Any:
    """Over the values of some states, nulls left out; sums are exact."""
    there = [v for v in values if v is not None]
    for v in there:
        if type(v) is Lost:
            return v
    if op == "count":
        return len(there)
    if not there:
        return None
    running = AGGREGATES[op].running
    if running is not None:
        return _of_running(op, reduce(running, there))
    if not any(type(v) is float for v in there):
        exact = sum(there)
        return ops.whole(exact) if op == "sum" else real(Fraction(exact) / len(there))
    if any(type(v) is float and math.isinf(v) for v in there):
        return ops.whole(sum(float(v) for v in there))
    sums = sum((Fraction(v) for v in there), Fraction(0))
    return real(sums if op == "sum" else sums / len(there))


def _of_running(op: str, value: Any) -> Any:
    """The result of a running form."""
    return ops.whole(float(value) if AGGREGATES[op].result is Type.FLOAT else value)


def real(exact: Any) -> float:
    """The nearest float, infinite beyond float64."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
