"""Matches and the values that are read of them: measures, at all matches at once (match-recognize.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.dialect import MATCH_RECOGNIZE
from occurs.expr.evaluate import Column as Evaluated
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.aggregates import Ordered, Ranges, Reduced
from occurs.operators.columns import Column
from occurs.operators.kernels import row_tables as T
from occurs.operators.kernels.row_search import chained_rows, chained_values, places_in, places_of
from occurs.operators.rowpattern import tree

#: raises the error of an overflow in the measure whose name it is given, at one of the rows that are computed
Overflow = Callable[[str, int], None]


class Table:
    """The rows of a call, partition by partition, in the order in which they are matched.

    ``order``: which row of the call each one is; None: the same.  ``column``: a column of the call's rows.
    """

    def __init__(self, size: int, order: np.ndarray | None, column: Callable[[str], Column], kind: TimeKind) -> None:
        self.size, self.order, self.kind = size, order, kind
        self._column = column
        self._made: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """A column in the order of the partitions; ``time`` has the type that expressions know it by."""
        found = self._made.get(name)
        if found is None:
            found = self._column(name)
            if name == "time" and not self.kind.timestamp:
                found = Column(Type.INT, found.values, found.valid)
            if self.order is not None:
                found = found.take(self.order)
            self._made[name] = found
        return found


@dataclass(frozen=True)
class Matches:
    """Matches of the rows of a table.

    ``first``, ``size``: int64 (n), the first row and the number of rows; ``low``, ``high``: the rows of the partition;
    ``number``: of the match (0: it has none); ``begin``: where in ``label`` its rows begin.  ``label``: of all mapped
    rows, match by match: twice the number of the variable, plus one if the row is left out of the output.
    ``names``: of the variables.
    """

    table: Table
    names: tuple[str, ...]
    first: np.ndarray
    size: np.ndarray
    low: np.ndarray
    high: np.ndarray
    number: np.ndarray
    begin: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    def only(self, chosen: np.ndarray) -> tuple[Matches, np.ndarray]:
        """Matches among which some stand, with their rows one behind the other; and the numbers of these (-1 stays)."""
        return self, chosen

    def kept(self, chosen: np.ndarray) -> Matches:
        """Some of the matches (booleans)."""
        size = self.size[chosen]
        return Matches(
            self.table, self.names, self.first[chosen], size, self.low[chosen], self.high[chosen], self.number[chosen],
            np.cumsum(size) - size, self.label[np.repeat(chosen, self.size)],
        )  # fmt: skip

    @cached_property
    def variable(self) -> np.ndarray:
        """The number of the variable of each mapped row."""
        return self.label >> 1

    @cached_property
    def members(self) -> dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]]:
        """Per set of variables what :meth:`of` has made."""
        return {}

    def of(self, variables: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The places in ``label`` of rows mapped to ``variables``, and how many there are before each place."""
        found = self.members.get(variables)
        if found is None:
            found = self.members[variables] = places_of(self.label, self.belongs(variables))
        return found

    def belongs(self, variables: tuple[str, ...]) -> np.ndarray:
        """Booleans, by the number of a variable."""
        return np.array([n in variables for n in self.names], np.bool_)

    @cached_property
    def match(self) -> np.ndarray:
        """Of each place in ``label`` its match."""
        return np.repeat(np.arange(len(self)), self.size)

    @cached_property
    def row(self) -> np.ndarray:
        """Of each place in ``label`` its row."""
        return np.repeat(self.first - self.begin, self.size) + np.arange(len(self.label))


@dataclass(frozen=True)
class Shared(Matches):
    """Matches that share rows: of a match, row ``head`` of ``nodes`` (T.N_ROW ..) is the first one, -1: it is empty.
    ``begin`` is 0, and ``label`` is empty."""

    nodes: np.ndarray
    head: np.ndarray

    def only(self, chosen: np.ndarray) -> tuple[Matches, np.ndarray]:
        own, number = np.unique(chosen[chosen >= 0], return_inverse=True)
        size = self.size[own]
        begin = np.cumsum(size) - size
        label = np.zeros(int(size.sum()), np.int16)
        at, left, node = begin.copy(), size.copy(), self.head[own].copy()
        while (left > 0).any():  # one step along all chains
            on = np.flatnonzero(left > 0)
            label[at[on]] = self.nodes[node[on], T.N_LABEL]
            node[on] = self.nodes[node[on], T.N_NEXT]
            at[on] += 1
            left[on] -= 1
        found = Matches(
            self.table, self.names, self.first[own], size, self.low[own], self.high[own], self.number[own], begin, label
        )
        out = np.full(len(chosen), -1, np.int64)
        out[chosen >= 0] = number.reshape(-1)
        return found, out


def can_share(measures: Sequence[tree.Value]) -> bool:
    """Can :class:`SharedValues` compute these measures?"""
    for node in (n for m in measures for n in m.expr.walk()):
        inner = node.args if isinstance(node, tree.Aggregate) else (node.arg,) if isinstance(node, tree.At) else ()
        if any(isinstance(n, tree.Label) for e in inner for n in e.walk()):
            return False
        if isinstance(node, tree.At) and node.offset and node.variables is not None:
            return False
        if isinstance(node, tree.Aggregate):
            plain = node.function in ("count", "sum", "avg", "min", "max") and not node.distinct
            if not plain or any(isinstance(n, tree.Number) for e in node.args for n in e.walk()):
                return False
    return True


class Values:
    """The values of expressions, each at one mapped row of a match.

    ``match``: int64 (k), numbers of the matches; ``at``: int64 (k), the place in ``matches.label`` of the row, the
    last one that is seen unless an expression is FINAL; -1: the match is empty.
    """

    def __init__(self, matches: Matches, match: np.ndarray, at: np.ndarray) -> None:
        self.matches, self.match, self.at = matches, match, at
        #: one of every match: so every row of a match is looked at once
        self.once = len(match) == len(matches) and bool((match == np.arange(len(match))).all())

        def of(values: np.ndarray) -> np.ndarray:
            return values if self.once else values[match]

        self.begin, self.size = of(matches.begin), of(matches.size)
        self.first, self.low, self.high = of(matches.first), of(matches.low), of(matches.high)
        self.kind = matches.table.kind
        self._rows: dict[Any, np.ndarray] = {}
        self._ordered: dict[Any, Ordered] = {}

    def __len__(self) -> int:
        return len(self.match)

    # -- rows ----------------------------------------------------------------------------------------------------------
    @cached_property
    def end(self) -> np.ndarray:
        """Behind the last place of the match."""
        return self.begin + self.size

    @cached_property
    def seen(self) -> np.ndarray:
        """Behind the last place that is seen without FINAL."""
        return np.where(self.at < 0, self.begin, self.at + 1)

    @cached_property
    def shift(self) -> np.ndarray:
        """What makes a row of the table of a place."""
        return self.first - self.begin

    def range(self, variables: tuple[str, ...] | None, final: bool) -> tuple[np.ndarray, np.ndarray]:
        """From where to before where the rows stand that are seen: among all places, or those of ``variables``."""
        low, high = self.begin, self.end if final else self.seen
        if variables is None:
            return low, high
        _, before = self.matches.of(variables)
        return before[low], before[high]

    def place(self, node: tree.At) -> np.ndarray:
        """The place in ``label`` of the mapped row that is reached, before it moves; -1: none."""
        if node.variables is not None and self.once:
            high = self.end if node.final else self.seen
            belongs = self.matches.belongs(node.variables)
            return places_in(self.begin, high, self.matches.label, belongs, node.first, node.offset)
        low, high = self.range(node.variables, node.final)
        found = low + node.offset if node.first else high - 1 - node.offset
        there = found < high if node.first else found >= low
        if node.variables is not None:
            places, _ = self.matches.of(node.variables)
            if not len(places):
                return np.full(len(self), -1, np.int64)
            found = places[np.where(there, found, 0)]
        return np.where(there, found, -1)

    def row(self, node: tree.At) -> np.ndarray:
        """The row of the table that is reached; -1: none."""
        key = (node.variables, node.first, node.offset, node.move, node.final)
        found = self._rows.get(key)
        if found is None:
            place = self.place(node)
            found = place + self.shift
            if node.move:
                found += node.move
                found[(place < 0) | (found < self.low) | (found >= self.high)] = -1
            elif len(place) and place.min() < 0:
                found[place < 0] = -1
            self._rows[key] = found
        return found

    def beyond(self, node: tree.At) -> np.ndarray:
        """Booleans (k): is a row reached that is behind the last one of the partition?"""
        place = self.place(node)
        out: np.ndarray = (place >= 0) & (place + self.shift + node.move >= self.high)
        return out

    # -- values --------------------------------------------------------------------------------------------------------
    def column(self, value: tree.Value, overflow: Overflow) -> Column:
        """The column of a measure."""
        expr = value.expr
        if isinstance(expr, tree.Aggregate):
            found = self._aggregate(expr, lambda at: overflow(value.name, at))
            return found if value.type in (Type.NULL, Type.RECORD) else found.cast(value.type)
        if isinstance(expr, tree.At) and isinstance(expr.arg, Ref):
            found = picked(self.matches.table.column(expr.arg.name), self.row(expr))
            return found if value.type in (Type.NULL, found.type) else found.cast(value.type)
        done = self.evaluated(expr, lambda at: overflow(value.name, at))
        if done.overflow is not None:
            overflow(value.name, int(np.flatnonzero(done.overflow)[0]))
        return typed_column(done, value.type)

    def evaluated(self, expr: Expr, overflow: Callable[[int], None]) -> Evaluated:
        """The values of any expression."""
        leaf = self._leaves(overflow)
        return evaluate(expr, leaf, len(self), kind=self.kind, dialect=MATCH_RECOGNIZE)

    def true(self, condition: Expr, overflow: Callable[[int], None]) -> tuple[np.ndarray, np.ndarray | None]:
        """Where a condition is true, and the rows where an overflow hides that."""
        leaf = self._leaves(overflow)
        return select(condition, leaf, len(self), kind=self.kind, dialect=MATCH_RECOGNIZE)

    def _leaves(self, overflow: Callable[[int], None]) -> Callable[[Expr], pa.Array]:
        def leaf(node: Expr) -> pa.Array:
            if isinstance(node, tree.At):
                return self._at(node, overflow)
            if isinstance(node, tree.Aggregate):
                return self._aggregate(node, overflow).arrow
            assert isinstance(node, tree.Number)
            return self.numbers().arrow

        return leaf

    def numbers(self) -> Column:
        """The numbers of the matches, null where there is none."""
        number = self.matches.number[self.match]
        return Column(Type.INT, number, None if (number > 0).all() else number > 0)

    def _at(self, node: tree.At, overflow: Callable[[int], None]) -> pa.Array:
        row = self.row(node)
        if isinstance(node.arg, Ref):
            return picked(self.matches.table.column(node.arg.name), row).arrow
        if isinstance(node.arg, tree.Label):
            return self._labels(node, row)
        arg = node.arg

        def leaf(inner: Expr) -> pa.Array:
            if isinstance(inner, tree.Label):
                return self._labels(node, row)
            if isinstance(inner, tree.Number):
                return self.numbers().arrow
            assert isinstance(inner, Ref)
            return picked(self.matches.table.column(inner.name), row).arrow

        done = evaluate(arg, leaf, len(self), kind=self.kind, dialect=MATCH_RECOGNIZE)
        if done.overflow is not None and (done.overflow & (row >= 0)).any():
            overflow(int(np.flatnonzero(done.overflow & (row >= 0))[0]))
        missing = row < 0
        if not missing.any():
            return done.values
        return pc.if_else(pa.array(missing), pa.scalar(None, done.values.type), done.values)

    def _labels(self, node: tree.At, row: np.ndarray) -> pa.Array:
        """The variables of the rows that are reached, null where these are not mapped."""
        place = row - self.shift
        there = (row >= 0) & (place >= self.begin) & (place < self.begin + self.size)
        return _named(self.matches, np.where(there, place, -1))

    # -- aggregates ----------------------------------------------------------------------------------------------------
    def _aggregate(self, node: tree.Aggregate, overflow: Callable[[int], None]) -> Column:
        low, high = self.range(node.variables, node.final)
        if not node.args:
            return Column(Type.INT, high - low, None)
        values = self._ordered_of(node.variables, node.args[0], overflow)
        if node.function in ("min_by", "max_by"):
            keys = self._ordered_of(node.variables, node.args[1], overflow)
            return _by(values, keys, low, high, "min" if node.function == "min_by" else "max", node.type)
        if node.function == "array_agg":
            return self._listed(node, values, low, high)
        if node.distinct and node.function not in ("min", "max"):
            values, low, high = self._distinct(node, values, low, high)
        type = node.type
        if node.function in ("min", "max", "sum"):
            type = values.column.type if type is Type.NULL else type
        if node.function == "stddev_pop":
            return _population(values, low, high)
        found = Ranges(values, low, high, Reduced(node.function, None, type), overflow).reduced()
        if node.function == "sum":  # nothing has no sum
            known = values.counts(low, high) > 0
            return found if known.all() else Column(found.type, found.values, known)
        return found

    def _ordered_of(self, variables: tuple[str, ...] | None, arg: Expr, overflow: Callable[[int], None]) -> Ordered:
        """The values of an argument at all places of ``variables``."""
        key = (variables, arg)
        found = self._ordered.get(key)
        if found is None:
            matches = self.matches
            places = np.arange(len(matches.label)) if variables is None else matches.of(variables)[0]
            found = self._ordered[key] = Ordered(_of_places(matches, places, arg, overflow))
        return found

    def _listed(self, node: tree.Aggregate, values: Ordered, low: np.ndarray, high: np.ndarray) -> Column:
        """Lists of the values, nulls kept; with DISTINCT first occurrences."""
        if node.distinct:
            values, low, high = self._distinct(node, values, low, high, nulls=True)
        size = high - low
        at = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size) + np.repeat(low, size)
        column = values.column if node.element in (Type.NULL, Type.RECORD) else values.column.cast(node.element)
        listed = column.take(at).arrow
        if pa.types.is_timestamp(listed.type):
            listed = listed.cast(pa.timestamp("us", tz="UTC"))
        offsets = np.zeros(len(size) + 1, np.int32)
        np.cumsum(size, out=offsets[1:])
        empty = size == 0
        mask = pa.array(empty) if empty.any() else None
        return Column(Type.RECORD, None, None, pa.ListArray.from_arrays(pa.array(offsets), listed, mask=mask))

    def _distinct(
        self, node: tree.Aggregate, values: Ordered, low: np.ndarray, high: np.ndarray, nulls: bool = False
    ) -> tuple[Ordered, np.ndarray, np.ndarray]:
        """The values that are the first of their kind in their match, and the ranges among these."""
        matches = self.matches
        places = np.arange(len(matches.label)) if node.variables is None else matches.of(node.variables)[0]
        whose = matches.match
        rank = values.ranks if values.column.type is not Type.NULL else np.full(len(places), -1)
        kept = np.ones(len(places), np.bool_) if nulls else rank >= 0
        order = np.lexsort((rank, whose[places]))
        new = np.ones(len(order), np.bool_)
        here, mine = rank[order], whose[places][order]
        new[1:] = (here[1:] != here[:-1]) | (mine[1:] != mine[:-1])
        first = np.zeros(len(places), np.bool_)
        first[order] = new  # lexsort is stable, so it is the first in the order of rows
        kept &= first
        before = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=before[1:])
        return Ordered(values.column.take(np.flatnonzero(kept))), before[low], before[high]


class SharedValues(Values):
    """The values at the last rows of matches that share rows, one of each match."""

    matches: Shared

    def row(self, node: tree.At) -> np.ndarray:
        m = self.matches
        if node.variables is None:
            found = m.first + node.offset if node.first else m.first + m.size - 1 - node.offset
            there = m.size > node.offset
        else:
            first, last, _ = chained_rows(m.nodes, m.belongs(node.variables))
            found = self._of_heads(first if node.first else last, -1)
            there = found >= 0
        row = found + node.move
        return np.where(there & (row >= m.low) & (row < m.high), row, -1)

    def beyond(self, node: tree.At) -> np.ndarray:
        row = self.row(replace(node, move=0))
        out: np.ndarray = (row >= 0) & (row + node.move >= self.matches.high)
        return out

    def _of_heads(self, values: np.ndarray, missing: int) -> np.ndarray:
        head = self.matches.head
        if not len(values):
            return np.full(len(head), missing, values.dtype)
        return np.where(head >= 0, values[head], missing)

    def _aggregate(self, node: tree.Aggregate, overflow: Callable[[int], None]) -> Column:
        m = self.matches
        if node.variables is None:
            if not node.args:
                return Column(Type.INT, m.size, None)
            values = Ordered(self._argument(node.args[0], overflow))
            open_type = node.type is Type.NULL and node.function in ("min", "max", "sum")
            type = values.column.type if open_type else node.type
            reduced = Reduced(node.function, None, type)
            found = Ranges(values, m.first, m.first + m.size, reduced, overflow).reduced()
            if node.function != "sum":
                return found
            known = values.counts(m.first, m.first + m.size) > 0
            return found if known.all() else Column(found.type, found.values, known)
        belongs = m.belongs(node.variables)
        if not node.args:
            return Column(Type.INT, self._of_heads(chained_rows(m.nodes, belongs)[2], 0), None)
        column = self._argument(node.args[0], overflow)
        if node.function in ("min", "max") and not column.numeric:
            return self._extreme(node, column, belongs)
        kind = {"min": T.LEAST, "max": T.GREATEST}.get(node.function, T.SUM)
        real, nothing = column.type is Type.FLOAT, np.zeros(0, np.int64)
        ints = nothing if real or not column.numeric else column.values.astype(np.int64)
        reals = column.values.copy() if real else np.zeros(0, np.float64)
        if not column.numeric:  # only how many there are is asked for
            ints, kind = np.zeros(len(column), np.int64), T.LEAST
        count, whole, near, rest = chained_values(m.nodes, belongs, kind, ints, reals, np.array(column.is_valid()))
        count, whole = self._of_heads(count, 0), self._of_heads(whole, 0)
        total = self._of_heads(near + rest, 0)
        known = count > 0
        valid = None if known.all() else known
        if node.function == "count":
            return Column(Type.INT, count, None)
        if node.function in ("min", "max"):
            exact = self._of_heads(near, 0) if real else whole.astype(column.values.dtype)
            return Column(column.type, exact, valid).cast(column.type if node.type is Type.NULL else node.type)
        if not real and (np.abs(total) >= 2.0**63).any():
            if node.function == "sum":
                overflow(int(np.argmax(np.abs(total))))
            whole = total  # the mean of a sum that int64 does not hold
        if node.function == "sum":
            return Column(Type.FLOAT, total, valid) if real else Column(Type.INT, whole, valid)
        mean = np.divide(total if real else whole, count, out=np.zeros(len(count)), where=known)
        return Column(Type.FLOAT, mean, valid)

    def _extreme(self, node: tree.Aggregate, column: Column, belongs: np.ndarray) -> Column:
        """The least or greatest text."""
        ranks = Ordered(column).ranks
        kind = T.LEAST if node.function == "min" else T.GREATEST
        count, whole, _, _ = chained_values(
            self.matches.nodes, belongs, kind, ranks, np.zeros(0, np.float64), ranks >= 0
        )
        row = np.zeros(int(ranks.max(initial=0)) + 1, np.int64)
        row[ranks[ranks >= 0]] = np.flatnonzero(ranks >= 0)
        found = np.where(self._of_heads(count, 0) > 0, row[self._of_heads(whole, 0)], -1)
        return picked(column, found)

    def _argument(self, arg: Expr, overflow: Callable[[int], None]) -> Column:
        """The values of an expression at all rows of the table."""
        table = self.matches.table
        if isinstance(arg, Ref):
            return table.column(arg.name)

        def leaf(inner: Expr) -> pa.Array:
            assert isinstance(inner, Ref)
            return table.column(inner.name).arrow

        done = evaluate(arg, leaf, table.size, kind=table.kind, dialect=MATCH_RECOGNIZE)
        if done.overflow is not None:
            overflow(0)
        return Column.of(done.values, done.type)


def _of_places(matches: Matches, places: np.ndarray, arg: Expr, overflow: Callable[[int], None]) -> Column:
    """The values of an expression at mapped rows."""
    row = matches.row[places]
    table = matches.table

    def column(inner: Expr) -> Column:
        if isinstance(inner, tree.Label):
            return Column(Type.STRING, None, None, _named(matches, places))
        if isinstance(inner, tree.Number):
            number = matches.number[matches.match[places]]
            return Column(Type.INT, number, None if (number > 0).all() else number > 0)
        assert isinstance(inner, Ref)
        return table.column(inner.name).take(row)

    if isinstance(arg, Ref | tree.Label | tree.Number):
        return column(arg)
    done = evaluate(arg, lambda leaf: column(leaf).arrow, len(places), kind=table.kind, dialect=MATCH_RECOGNIZE)
    if done.overflow is not None:
        overflow(0)
    return Column.of(done.values, done.type)


def _named(matches: Matches, places: np.ndarray) -> pa.Array:
    """The names of the variables at places in ``label``; null where -1."""
    missing = places < 0
    names = pa.array(matches.names, pa.string())
    if not len(matches.variable):
        return pa.nulls(len(places), pa.string())
    chosen = matches.variable[np.where(missing, 0, places)].astype(np.int32)
    return names.take(pa.array(chosen, mask=missing if missing.any() else None))


def _by(values: Ordered, keys: Ordered, low: np.ndarray, high: np.ndarray, which: str, type: Type) -> Column:
    """The values at the first least, or greatest, key of each range."""
    if keys.column.type is Type.NULL:
        return Column.nulls(values.column.type if type is Type.NULL else type, len(low))
    there = keys.counts(low, high) > 0
    at = np.where(there, keys.position(which, low, high), -1)
    return picked(values.column, at)


def _population(values: Ordered, low: np.ndarray, high: np.ndarray) -> Column:
    """The standard deviations of all the values of each range."""
    count = values.counts(low, high)
    if values.column.type is Type.NULL:
        return Column.nulls(Type.FLOAT, len(low))
    found = values.moments.deviations(low, high, count)
    out = np.where(count == 1, 0.0, found * np.sqrt(np.maximum(count - 1, 0) / np.maximum(count, 1)))
    known = (count > 0) & ~np.isnan(out)
    return Column(Type.FLOAT, np.where(known, out, 0.0), None if known.all() else known)


def picked(column: Column, rows: np.ndarray) -> Column:
    """The values at rows; null where -1."""
    if not len(column):
        return Column.nulls(column.type, len(rows))
    missing = rows < 0
    if not missing.any():
        return column.take(rows)
    if not column.numeric:
        return Column(column.type, None, None, column.arrow.take(pa.array(rows, mask=missing)))
    at = np.where(missing, 0, rows)
    valid = ~missing if column.valid is None else ~missing & column.valid.take(at)
    return Column(column.type, column.values.take(at), valid)


def typed_column(done: Evaluated, type: Type) -> Column:
    """The values of an expression as a column of a type that is wanted; NULL: of its own."""
    own = done.type
    column = Column.of(done.values, own)
    if type in (Type.NULL, own):
        return column
    return Column.of(column.arrow, own).cast(type) if own is not Type.NULL else Column.nulls(type, len(column))


def over(columns: Mapping[str, Column], size: int, kind: TimeKind) -> Callable[[Expr], pa.Array]:
    """The columns of what the clause puts out, as leaves of expressions over it."""

    def leaf(node: Expr) -> pa.Array:
        assert isinstance(node, Ref)
        found = columns[node.name]
        return found.arrow

    return leaf
