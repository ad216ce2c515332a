"""Conditions on bindings, and tables of facts (phenesthe.md, sections 2, 4.2 and 4.3): C in ``phi and C``.

They are about bindings alone, so they are the same for instants, states and dynamic phenomena; what differs is how the
signal is gone through.  Of a state only what is new is looked at; what is open and passes is kept.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem
from occurs.expr.dialect import PHENESTHE
from occurs.expr.evaluate import select
from occurs.expr.tree import Expr, Ref, Unary
from occurs.model.time import TIMESTAMP
from occurs.model.types import Type, from_arrow
from occurs.operators.codes import IntTable
from occurs.operators.columns import Column
from occurs.operators.interval.bindings import firsts, joined, joint, member, pairs, pick, shared, union
from occurs.operators.interval.signals import (
    OPEN,
    Codes,
    Held,
    Instants,
    Intervals,
    Phenomena,
    Points,
    Signal,
    Spans,
    State,
)
from occurs.operators.interval.values import Values


class OfBindings:
    """Base class of operators that map each binding to some bindings of ``variables``, no two to the same one.

    ``sort``: event, state or dynamic.
    """

    sort: str
    variables: tuple[str, ...]

    @abstractmethod
    def _mapped(self, codes: Codes, n: int, call: Instants) -> tuple[np.ndarray, Codes]:
        """Of ``n`` > 0 rows with these bindings: the row numbers, and the bindings that they become."""

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.variables), "start")} if self.sort == "state" else {}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Signal]:
        signal = inputs[0]
        if isinstance(signal, Points):
            at, codes = self._rows(signal.codes, len(signal), call)
            return state, Points(codes, signal.time[at], signal.since, signal.complete)
        if isinstance(signal, Spans):
            held, spans = self._spans(state["open"], signal, call)
            return {"open": held}, spans
        closed, open = self._intervals(signal.closed, call), self._intervals(signal.open, call)
        return state, Phenomena(closed, open, signal.complete, signal.lags)

    def _rows(self, codes: Codes, n: int, call: Instants) -> tuple[np.ndarray, Codes]:
        if n:
            return self._mapped(codes, n, call)
        nothing = np.zeros(0, np.int64)
        return nothing, (nothing,) * len(self.variables)

    def _intervals(self, part: Intervals, call: Instants) -> Intervals:
        at, codes = self._rows(part.codes, len(part), call)
        return Intervals(codes, part.start[at], part.end[at])

    def _spans(self, held: Held, spans: Spans, call: Instants) -> tuple[Held, Spans]:
        if not len(spans.closed) and not len(spans.began):
            return held, Spans.unchanged(held.opened(), spans.since, spans.complete)
        closed, began = self._intervals(spans.closed, call), self._intervals(spans.began, call)
        ending = closed.take(closed.start <= spans.since)
        if len(ending):
            key, other = joint([(held.codes, len(held)), (ending.codes, len(ending))])
            held = held.take(~member(key, other))
        new = began.take(began.end == OPEN)
        if len(new):
            held = Held.concat([held, new.starts()])
        return held, Spans(closed, began, held.opened(), spans.since, spans.complete)


@dataclass(frozen=True)
class Known(OfBindings):
    """Keeps the bindings that a row of ``fact`` agrees with, extended by the variables that only the fact has.

    ``variables``: all of both, sorted.
    """

    sort: str
    operand: tuple[str, ...]
    variables: tuple[str, ...]
    fact: FactRows

    def _mapped(self, codes: Codes, n: int, call: Instants) -> tuple[np.ndarray, Codes]:
        return self.fact.extended(self.variables, self.operand, codes, n, call.values)


@dataclass(frozen=True, eq=False)
class FactRows:
    """A table without time: one column per variable, distinct rows; null and NaN bind nothing.

    Without variables the table has no columns, and rows if the fact is one (``table.select([])``).
    """

    variables: tuple[str, ...]
    table: pa.Table
    _encoded: WeakKeyDictionary[Values, tuple[Codes, int]] = field(default_factory=WeakKeyDictionary, repr=False)

    def __reduce__(self) -> tuple[type[FactRows], tuple[tuple[str, ...], pa.Table]]:
        """Sent to other processes with a definition, without what this one has encoded."""
        return FactRows, (self.variables, self.table)

    def encoded(self, values: Values) -> tuple[Codes, int]:
        """The rows as codes, one array per variable, and how many they are."""
        found = self._encoded.get(values)
        if found is None:
            found = self._encoded[values] = self._encode(values)
        return found

    def _encode(self, values: Values) -> tuple[Codes, int]:
        n = self.table.num_rows
        codes = tuple(values.encode(self._column(name)) for name in self.variables)
        values.fixed += n * len(codes)
        keep = np.ones(n, np.bool_)
        for c in codes:
            keep &= c >= 0
        codes = tuple(c[keep] for c in codes)
        n = int(keep.sum())
        (key,) = joint([(codes, n)])
        first = firsts(key)
        return tuple(c[first] for c in codes), int(first.sum())

    def agreeing(self, variables: Sequence[str], codes: Codes, n: int, values: Values) -> np.ndarray:
        """Booleans (n): with which of the bindings, which have all its variables, a row of the fact agrees."""
        rows, many = self.encoded(values)
        key, other = joint([(pick(codes, variables, self.variables), n), (rows, many)])
        return member(key, other)

    def extended(
        self, wanted: tuple[str, ...], variables: tuple[str, ...], codes: Codes, n: int, values: Values
    ) -> tuple[np.ndarray, Codes]:
        """The pairs of a binding and a row of the fact that agree: the numbers of the bindings, and the codes of the
        variables ``wanted``, which are those of both."""
        rows, many = self.encoded(values)
        on = shared(variables, self.variables)
        key, other = joint([(pick(codes, variables, on), n), (pick(rows, self.variables, on), many)])
        i, j = pairs(key, other)
        return i, joined(wanted, (variables, codes, i), (self.variables, rows, j))

    def _column(self, name: str) -> Column:
        column = self.table.column(name)
        type = from_arrow(column.type)
        assert type is not None
        return Column.of(column, type)


# --- comparisons and facts, joined by ``and``, ``or`` and ``not`` -----------------------------------------------------
#
# A fact is true or false of a binding, a comparison may be unknown; the connectives are Kleene's.


@dataclass(frozen=True)
class Member(Expr):
    """A condition: a row of ``fact`` agrees with the binding, which has all its variables."""

    fact: FactRows

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True)
class Exists(Expr):
    """A condition: there are values of further variables under which ``condition`` is true.

    They are tried out as they stand in the rows of ``facts``, all joined; ``types``: of the variables it looks at.
    """

    facts: tuple[FactRows, ...]
    condition: Expr
    types: tuple[tuple[str, Type], ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True)
class Where(OfBindings):
    """Keeps the bindings that satisfy ``condition``: references to variables (of no scope), :class:`Member`,
    :class:`Exists`.

    ``types``: of the ``variables``.  ``name``: of the definition, for errors.  Raises InputProblem (``overflow``) if a
    number beyond int64 hides whether a binding passes.
    """

    sort: str
    variables: tuple[str, ...]
    types: tuple[Type, ...]
    condition: Expr
    name: str

    @cached_property
    def _plain(self) -> bool:
        """Whether there are no facts in the condition."""
        return not any(isinstance(n, Member | Exists) for n in self.condition.walk())

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """The variables that it is about."""
        named = {n.name for n in self.condition.walk() if isinstance(n, Ref)}
        return tuple(sorted(named)) if self._plain else self.variables

    @cached_property
    def _typed(self) -> dict[str, Type]:
        return dict(zip(self.variables, self.types))

    def _mapped(self, codes: Codes, n: int, call: Instants) -> tuple[np.ndarray, Codes]:
        used = pick(codes, self.variables, self._used)
        (key,) = joint([(used, n)])
        number, _ = IntTable().encode(key, None, 0)
        rows = np.flatnonzero(firsts(key))
        bound = dict(zip(self._used, (c[rows] for c in used)))
        at = np.flatnonzero(self._true(self.condition, bound, self._typed, len(rows), call)[number])
        return at, tuple(c[at] for c in codes)

    def _true(
        self, condition: Expr, codes: dict[str, np.ndarray], types: dict[str, Type], n: int, call: Instants
    ) -> np.ndarray:
        """Booleans (n)."""

        def column(leaf: Expr) -> pa.Array:
            if isinstance(leaf, Ref):
                return call.values.decode(codes[leaf.name], types[leaf.name]).arrow
            if isinstance(leaf, Member):
                return pa.array(leaf.fact.agreeing(tuple(codes), tuple(codes.values()), n, call.values))
            assert isinstance(leaf, Exists)
            return self._exists(leaf, codes, types, n, call)

        # conditions of the language have no durations, so it does not matter what times count
        passed, undecided = select(condition, column, n, kind=TIMESTAMP, dialect=PHENESTHE)
        if undecided is not None:
            where = f"a binding of {', '.join(codes)}"
            if self._plain:
                row = undecided[:1]
                values = [(v, call.values.decode(c[row], types[v]).arrow[0].as_py()) for v, c in codes.items()]
                where = ", ".join(f"{name} = {value}" for name, value in values)
            raise overflow(self.name, where)
        return passed

    def _exists(
        self, leaf: Exists, codes: dict[str, np.ndarray], types: dict[str, Type], n: int, call: Instants
    ) -> pa.Array:
        """Booleans (n), null where no values make it true and some leave it unknown."""
        row = np.arange(n)
        bound = dict(codes)
        for fact in leaf.facts:
            names = union(tuple(bound), fact.variables)
            i, both = fact.extended(names, tuple(bound), tuple(bound.values()), len(row), call.values)
            bound, row = dict(zip(names, both)), row[i]
        known = {**types, **dict(leaf.types)}
        true = self._true(leaf.condition, bound, known, len(row), call)
        false = self._true(Unary("not", leaf.condition), bound, known, len(row), call)
        some = np.bincount(row[true], minlength=n) > 0
        unknown = np.bincount(row[~true & ~false], minlength=n) > 0
        return pa.array(some, mask=unknown & ~some)


def overflow(name: str, where: str) -> InputProblem:
    """The error for a number beyond int64 that hides whether a condition of a definition is satisfied."""
    return InputProblem(
        Problem(
            "overflow",
            f"a number overflows 64-bit integers in a condition of `{name}`, with {where}",
            definition=name,
            value=where,
            hint="use floats (multiply by 1.0), or a condition that excludes such values",
        )
    )
