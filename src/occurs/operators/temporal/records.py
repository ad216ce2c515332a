"""Records of states, and terms over them, for operators that look back with values that come later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occurs.expr.tree import Expr
from occurs.operators.temporal import tree
from occurs.operators.temporal.closures import Term, Test, Values, compared
from occurs.operators.temporal.terms import Terms
from occurs.operators.temporal.tree import Found, Happens, Time, Value, ViewOf, free, of_state
from occurs.operators.temporal.values import Relation


class Record:
    """What is kept of a state: its time, the values in its slots, and the record before it."""

    __slots__ = ("before", "time", "values")

    def __init__(self, time: int, values: list[Any], before: Record | None) -> None:
        self.time, self.values, self.before = time, values, before


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
