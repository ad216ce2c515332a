"""The rows of a definition that are final in a call (phenesthe.md, section 5; common.md, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.tree import Literal
from occurs.model.types import Type, arrow_type
from occurs.operators.columns import Column
from occurs.operators.kernels.intervals import ascending
from occurs.operators.lasting.signals import OPEN, Call, Codes, Intervals, Points, Signal
from occurs.operators.rows import Rows


@dataclass(frozen=True)
class Attribute:
    """A column of an answer: the values of a variable, or one value on all rows."""

    name: str
    type: Type
    value: str | Literal


@dataclass(frozen=True)
class Answer:
    """Which rows of a formula a definition reports: ``name`` its type, ``variables`` those of the formula, all of which
    are in the head."""

    name: str
    lasting: bool
    variables: tuple[str, ...]
    head: tuple[Attribute, ...]

    def final(self, signal: Signal, call: Call) -> Rows:
        """What became final: instants, intervals that have ended; at closing also those that have not, with no end.

        Columns: the attributes in the order of the head; of what lasts also ``end`` (null: open).  Rows are in the
        order of (time, end, attributes), an open end being the latest; no two are alike.
        """
        if isinstance(signal, Points):
            return self._rows(signal.codes, signal.time, None, call)
        rows = Intervals.concat([signal.closed, signal.open]) if call.closing else signal.closed
        return self._rows(rows.codes, rows.start, rows.end, call)

    @cached_property
    def _nothing(self) -> dict[str, Column]:
        """The columns of no rows."""
        types = [(a.name, a.type) for a in self.head] + [("end", Type.TIMESTAMP)] * self.lasting
        return {n: Column.of(pa.array([], arrow_type(t)), t) for n, t in types}

    def rows(self, found: Intervals, call: Call) -> Rows:
        """Any intervals of the formula as rows, such as :class:`occurs.operators.lasting.begun.Begun` gives."""
        return self._rows(found.codes, found.start, found.end, call)

    def _rows(self, codes: Codes, time: np.ndarray, end: np.ndarray | None, call: Call) -> Rows:
        if not len(time):
            return Rows(self.name, time, dict(self._nothing))
        if len(time) > 1 and not ascending(time):
            by_time = np.argsort(time, kind="stable")
            codes, time = tuple(c[by_time] for c in codes), time[by_time]
            end = None if end is None else end[by_time]
        columns = {}
        for attribute in self.head:
            if isinstance(attribute.value, Literal):
                columns[attribute.name] = _constant(attribute.value, attribute.type, len(time))
            else:
                of = codes[self.variables.index(attribute.value)]
                columns[attribute.name] = call.values.decode(of, attribute.type)
        if end is not None:
            open = end == OPEN
            columns["end"] = Column(Type.TIMESTAMP, end, ~open if open.any() else None)
        rows = Rows(self.name, time, columns)
        order = _order(time, end, [columns[a.name] for a in self.head])
        return rows if order is None else rows.take(order)


def _constant(literal: Literal, type: Type, n: int) -> Column:
    array = pa.array([literal.value], pa.int64() if literal.type is Type.TIMESTAMP else arrow_type(literal.type))
    return Column.of(array, literal.type).cast(type).take(np.zeros(n, np.int64))


def _order(time: np.ndarray, end: np.ndarray | None, columns: Sequence[Column]) -> np.ndarray | None:
    """Row numbers in the order of (time, end, values), of rows in the order of time; None if they are in it."""
    equal = time[1:] == time[:-1]
    if not equal.any():
        return None
    tied = np.zeros(len(time), np.bool_)
    tied[1:] |= equal
    tied[:-1] |= equal
    at = tied.nonzero()[0]
    keys = {"time": pa.array(time[at])}
    if end is not None:
        keys["end"] = pa.array(end[at])
    for number, column in enumerate(columns):
        keys[str(number)] = column.take(at).arrow
    by = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])
    order = np.arange(len(time))
    order[at] = at[by.to_numpy(zero_copy_only=False)]
    return order
