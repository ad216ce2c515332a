"""Terms and formulas without operators that look ahead, as closures over one state (temporal-logic.md 4.2).

A closure takes the state and the values of the generic and global variables by name.  A formula is compiled in one of
two ways: for the present state, or for a *record*, which is all that is kept of a state for operators that look back
with values that are not known yet (``[x <- a] previously b = x``).  A record has the values of the terms that do not
depend on global variables, each in a slot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, TypeAlias

from occurs.errors import Problem
from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal import values as ops
from occurs.operators.temporal.tree import (
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
            for v in values.values():
                if type(v) is Lost:
                    return v
            return bool(select(s, r, sql, values).rows)

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
            for v in values.values():
                if type(v) is Lost:
                    return v
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
