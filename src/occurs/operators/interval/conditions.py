"""Conditions on bindings, and tables of facts (phenesthe.md, sections 2, 4.2 and 4.3): C in ``phi and C``.

They are about bindings alone, so they are the same for instants, states and dynamic phenomena; what differs is how the
signal is gone through.  Of a state only what is new is looked at; what is open and passes is kept.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem
from occurs.expr.dialect import PHENESTHE
from occurs.expr.evaluate import select
from occurs.expr.tree import Expr, Ref
from occurs.model.time import TIMESTAMP
from occurs.model.types import Type, from_arrow
from occurs.operators.codes import IntTable
from occurs.operators.columns import Column
from occurs.operators.interval.bindings import firsts, joined, joint, member, pairs, pick, shared
from occurs.operators.interval.delayed_release import opened
from occurs.operators.interval.signals import (
    OPEN,
    Call,
    Codes,
    Held,
    Intervals,
    Phenomena,
    Points,
    Signal,
    Spans,
    State,
)
from occurs.operators.interval.values import Values


@dataclass(frozen=True)
class OfBindings:
    """What maps each binding of its operand to some bindings, no two to the same one.

    ``sort``: event, state or dynamic.
    """

    sort: str

    @property
    @abstractmethod
    def _width(self) -> int:
        """How many variables come out."""

    @abstractmethod
    def _mapped(self, codes: Codes, n: int, call: Call) -> tuple[np.ndarray, Codes]:
        """Of ``n`` > 0 rows with these bindings: the row numbers, and the bindings that they become."""

    def fresh(self) -> State:
        return {"open": Held.empty(self._width, "start")} if self.sort == "state" else {}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Signal]:
        signal = inputs[0]
        if isinstance(signal, Points):
            at, codes = self._rows(signal.codes, len(signal), call)
            return state, Points(codes, signal.time[at], signal.since, signal.complete)
        if isinstance(signal, Spans):
            held, spans = self._spans(state["open"], signal, call)
            return {"open": held}, spans
        closed, open = self._intervals(signal.closed, call), self._intervals(signal.open, call)
        return state, Phenomena(closed, open, signal.complete, signal.lags)

    def _rows(self, codes: Codes, n: int, call: Call) -> tuple[np.ndarray, Codes]:
        if n:
            return self._mapped(codes, n, call)
        nothing = np.zeros(0, np.int64)
        return nothing, (nothing,) * self._width

    def _intervals(self, part: Intervals, call: Call) -> Intervals:
        at, codes = self._rows(part.codes, len(part), call)
        return Intervals(codes, part.start[at], part.end[at])

    def _spans(self, held: Held, spans: Spans, call: Call) -> tuple[Held, Spans]:
        if not len(spans.closed) and not len(spans.began):
            nothing = Intervals.empty(self._width)
            return held, Spans(nothing, nothing, opened(held), spans.since, spans.complete)
        closed, began = self._intervals(spans.closed, call), self._intervals(spans.began, call)
        ending = closed.take(closed.start <= spans.since)
        if len(ending):
            key, other = joint([(held.codes, len(held)), (ending.codes, len(ending))])
            held = held.take(~member(key, other))
        new = began.take(began.end == OPEN)
        if len(new):
            held = Held.concat([held, Held(new.codes, {"start": new.start})])
        return held, Spans(closed, began, opened(held), spans.since, spans.complete)


@dataclass(frozen=True)
class Where(OfBindings):
    """Keeps the bindings that satisfy ``condition``, whose references are to variables (of no scope).

    ``types``: of the ``variables``.  ``name``: of the definition, for errors.  Raises InputProblem (``overflow``) if a
    number beyond int64 hides whether a binding passes.
    """

    variables: tuple[str, ...]
    types: tuple[Type, ...]
    condition: Expr
    name: str

    @property
    def _width(self) -> int:
        return len(self.variables)

    @cached_property
    def _used(self) -> tuple[str, ...]:
        return tuple(sorted({n.name for n in self.condition.walk() if isinstance(n, Ref)}))

    def _mapped(self, codes: Codes, n: int, call: Call) -> tuple[np.ndarray, Codes]:
        (key,) = joint([(pick(codes, self.variables, self._used), n)])
        number, _ = IntTable().encode(key, None, 0)
        rows = np.flatnonzero(firsts(key))
        columns = {}
        for name in self._used:
            place = self.variables.index(name)
            columns[name] = call.values.decode(codes[place][rows], self.types[place]).arrow
        # conditions of the language have no durations, so it does not matter what times count
        passed, undecided = select(
            self.condition, lambda leaf: _of(columns, leaf), len(rows), kind=TIMESTAMP, dialect=PHENESTHE
        )
        if undecided is not None:
            found = {name: column[int(undecided[0])].as_py() for name, column in columns.items()}
            raise overflow(self.name, ", ".join(f"{name} = {value}" for name, value in found.items()))
        at = np.flatnonzero(passed[number])
        return at, tuple(c[at] for c in codes)


def _of(columns: dict[str, pa.Array], leaf: Expr) -> pa.Array:
    assert isinstance(leaf, Ref)
    return columns[leaf.name]


def overflow(name: str, where: str) -> InputProblem:
    """A number beyond int64 hides whether a condition of a definition is satisfied."""
    return InputProblem(
        Problem(
            "overflow",
            f"a number overflows 64-bit integers in a condition of `{name}`, with {where}",
            definition=name,
            value=where,
            hint="use floats (multiply by 1.0), or a condition that excludes such values",
        )
    )


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

    def _column(self, name: str) -> Column:
        column = self.table.column(name)
        type = from_arrow(column.type)
        assert type is not None
        return Column.of(column, type)


@dataclass(frozen=True)
class Known(OfBindings):
    """Keeps the bindings that a row of ``fact`` agrees with, extended by the variables that only the fact has.

    ``variables``: all of both, sorted.
    """

    operand: tuple[str, ...]
    variables: tuple[str, ...]
    fact: FactRows

    @property
    def _width(self) -> int:
        return len(self.variables)

    def _mapped(self, codes: Codes, n: int, call: Call) -> tuple[np.ndarray, Codes]:
        rows, many = self.fact.encoded(call.values)
        on = shared(self.operand, self.fact.variables)
        key, other = joint([(pick(codes, self.operand, on), n), (pick(rows, self.fact.variables, on), many)])
        i, j = pairs(key, other)
        return i, joined(self.variables, (self.operand, codes, i), (self.fact.variables, rows, j))


@dataclass(frozen=True)
class Unknown(OfBindings):
    """Keeps the bindings that no row of ``fact`` agrees with; its variables are among the operand's."""

    operand: tuple[str, ...]
    fact: FactRows

    @property
    def variables(self) -> tuple[str, ...]:
        return self.operand

    @property
    def _width(self) -> int:
        return len(self.operand)

    def _mapped(self, codes: Codes, n: int, call: Call) -> tuple[np.ndarray, Codes]:
        rows, many = self.fact.encoded(call.values)
        key, other = joint([(pick(codes, self.operand, self.fact.variables), n), (rows, many)])
        at = np.flatnonzero(~member(key, other))
        return at, tuple(c[at] for c in codes)
