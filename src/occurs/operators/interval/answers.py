"""The rows of a definition that are final in a call (phenesthe.md, section 5; common.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.tree import Literal
from occurs.model.types import Type, arrow_type
from occurs.operators.columns import Column
from occurs.operators.interval.atoms import constant
from occurs.operators.interval.measuring import Events, Measures
from occurs.operators.interval.signals import OPEN, Codes, Instants, Intervals, Points, Signal
from occurs.operators.kernels.intervals import ascending, extremes, tied
from occurs.operators.merging import ordered
from occurs.operators.rows import Rows

_NO_TIMES = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Attribute:
    """A column of an answer: the values of a variable, or one value on all rows."""

    name: str
    type: Type
    value: str | Literal


@dataclass(frozen=True)
class Answer:
    """Which rows of a formula a definition reports: ``name`` its type, ``variables`` those of the formula, all of which
    are in the head.  ``measures``: what is computed of their intervals, of the ``events`` in them."""

    name: str
    lasting: bool
    variables: tuple[str, ...]
    head: tuple[Attribute, ...]
    measures: Measures | None = None

    def final(self, signal: Signal, call: Instants, events: Events | None = None) -> Rows:
        """What became final: instants, intervals that have ended; at closing also those that have not, with no end.

        Columns: the attributes in the order of the head; of what lasts also ``end`` (null: open).  Rows are in the
        order of (time, end, attributes), an open end being the latest; no two are alike.
        """
        if isinstance(signal, Points):
            return self._rows(signal.codes, signal.time, None, call)
        rows = Intervals.concat([signal.closed, signal.open]) if call.closing else signal.closed
        return self.rows(rows, call, events)

    @cached_property
    def _nothing(self) -> dict[str, Column]:
        """The columns of no rows."""
        types = [(a.name, a.type) for a in self.head] + [("end", Type.TIMESTAMP)] * self.lasting
        types += [] if self.measures is None else [(m.name, m.type) for m in self.measures.measured]
        return {n: Column.of(pa.array([], arrow_type(t)), t) for n, t in types}

    def rows(self, found: Intervals, call: Instants, events: Events | None = None) -> Rows:
        """Any intervals of the formula as rows, provisional ones too; instants end where they begin."""
        rows = self._rows(found.codes, found.start, found.end if self.lasting else None, call)
        if self.measures is not None and events is not None and len(rows):
            return Rows(self.name, rows.time, {**rows.columns, **self.measures.columns(rows, events, call)})
        return rows

    def nothing(self) -> Rows:
        """No rows."""
        return Rows(self.name, _NO_TIMES, dict(self._nothing))

    def _rows(self, codes: Codes, time: np.ndarray, end: np.ndarray | None, call: Instants) -> Rows:
        if not len(time):
            return self.nothing()
        if len(time) > 1 and not ascending(time):
            by_time = np.argsort(time, kind="stable")
            codes, time, end = _taken(codes, time, end, by_time)
        order = self._order(codes, time, end, call)
        if order is not None:
            codes, time, end = _taken(codes, time, end, order)
        return self.made(codes, time, end, call)

    def made(self, codes: Codes, time: np.ndarray, end: np.ndarray | None, call: Instants) -> Rows:
        """Rows in the order in which they are given; ``end``: of what lasts."""
        columns = {a.name: self._value(a, codes, len(time), call) for a in self.head}
        if end is not None:
            columns["end"] = Column(Type.TIMESTAMP, end, end != OPEN if extremes(end)[1] == OPEN else None)
        return Rows(self.name, time, columns)

    def _order(self, codes: Codes, time: np.ndarray, end: np.ndarray | None, call: Instants) -> np.ndarray | None:
        """Row numbers in the order of (time, end, values), of rows in the order of time; None if they are in it."""
        at = tied(time)
        if not len(at):
            return None
        codes, keys = tuple([c[at] for c in codes]), [time[at]] if end is None else [time[at], end[at]]
        others: list[Column] = []
        for attribute in self.head:
            column = self._value(attribute, codes, len(at), call)
            if others or not column.numeric or column.valid is not None or column.type is Type.FLOAT:
                others.append(column)
            else:
                keys.append(column.values)
        by, alike = ordered(keys)
        # mostly whole numbers tell all rows apart
        if others and alike.any():
            table = {str(n): pa.array(k) for n, k in enumerate(keys)}
            table |= {str(n): column.arrow for n, column in enumerate(others, len(keys))}
            by = pc.sort_indices(pa.table(table), sort_keys=[(n, "ascending") for n in table]).to_numpy()
        order = np.arange(len(time))
        order[at] = at[by]
        return order

    def _value(self, attribute: Attribute, codes: Codes, n: int, call: Instants) -> Column:
        """What is under an attribute."""
        if isinstance(attribute.value, Literal):
            return constant(attribute.value).cast(attribute.type).take(np.zeros(n, np.int64))
        return call.values.decode(codes[self.variables.index(attribute.value)], attribute.type)


def _taken(
    codes: Codes, time: np.ndarray, end: np.ndarray | None, at: np.ndarray
) -> tuple[Codes, np.ndarray, np.ndarray | None]:
    """Columns of the rows ``at``."""
    return tuple([c[at] for c in codes]), time[at], None if end is None else end[at]
