"""A frame: what the operators of a stage share during one call; indexes, codes and masks are made once per frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import TESLA, Dialect
from occurs.expr.evaluate import as_threshold, select
from occurs.expr.tree import Expr, Literal, Ref
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import Type
from occurs.operators.codes import KeyCodes
from occurs.operators.columns import Column
from occurs.operators.growing import Room, behind, counting
from occurs.operators.kernels.row_index import extend, find_ranges, group_rows, repack
from occurs.operators.rows import Rows

NO_MASK = np.zeros((0, 0), np.bool_)
NO_KEEP = np.zeros(0, np.bool_)
NO_BOUND = np.zeros((0, 0), np.int64)


@dataclass
class Index:
    """Rows grouped by key code, in the total order within each group.

    order: row numbers plus ``base``; time: the times in index order; start, end: (groups) positions.  links: ranges
    [lo, hi) for rows of another table; cache: columns, sums.. in index order.

    An index that has grown has ``room`` (:func:`repack`): where each group's room begins and ends, and how many places
    of the order are used.  It grows in place, so that only the last of those that share their arrays can go on:
    ``turn`` is the number of an index among them, ``turns`` that of the last one.
    """

    order: np.ndarray
    time: np.ndarray
    start: np.ndarray
    end: np.ndarray
    base: int = 0
    room: tuple[np.ndarray, np.ndarray, int] | None = None
    turn: int = 0
    turns: list[int] = field(default_factory=lambda: [0])
    links: dict[object, tuple[Rows, np.ndarray, np.ndarray]] = field(default_factory=dict)
    cache: dict[object, Any] = field(default_factory=dict)

    def ranges(self, code: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions [lo, hi) with the given code and ``low <= time <= high``."""
        return find_ranges(code, low, high, self.start, self.end, self.time)

    def values(self, column: Column) -> Column:
        """The values of a column at every position; those between groups are of any row."""
        if self.room is None:
            return column.take(self.order)
        if not len(column):
            return Column.nulls(column.type, self.room[2])
        return column.take(np.clip(self.order[: self.room[2]] - self.base, 0, len(column) - 1))

    def bare(self) -> Index:
        """The same without links and cache, which hold the tables of a call."""
        return Index(self.order, self.time, self.start, self.end, self.base, self.room, self.turn, self.turns)

    @property
    def spent(self) -> bool:
        """Did another index go on from the arrays of this one?"""
        return self.turn != self.turns[0]

    def grown(
        self, gone: np.ndarray, rows: int, code: np.ndarray, keep: np.ndarray, time: np.ndarray, groups: int
    ) -> Index:
        """This index for the next call, in which the rows with the codes ``gone`` are not there any more.

        ``rows``: how many rows are left; ``code``, ``keep``, ``time``: of the new rows behind them (see
        :func:`group_rows`); ``groups``: how many codes there are now.  Costs what changes, but now and then moves all.
        """
        out, done, n = self.bare(), 0, len(code)
        out.base += len(gone)
        if self.room is None:
            out.turns = [out.turn]
        elif n:
            out.turn = out.turns[0] = self.turn + 1
        while True:
            if out.room is not None:
                new = np.zeros(groups - len(out.start), np.int64)
                begin, limit, used = out.room
                begin, limit, out.start, out.end = (behind(a, new) for a in (begin, limit, out.start, out.end))
                used, done = extend(
                    out.order, out.time, begin, out.start, out.end, limit, used, out.base, gone, out.base + rows,
                    code, keep, time, done,
                )  # fmt: skip
                out.room = begin, limit, used
                if done == n:
                    break
            out.order, out.time, begin, out.start, out.end, limit, used = repack(
                out.order, out.time, out.start, out.end, n - done
            )
            out.room = begin, limit, used
            Room.moved += rows
        return out


class UndecidedOverflow(Exception):
    """A filter on single rows could not be decided because of an overflow; the caller judges it pair by pair."""


@dataclass
class Frame:
    """``tables``: the rows of every type read, complete for the instants of the call."""

    tables: Mapping[str, Rows]
    codes: KeyCodes
    domains: Mapping[tuple[str, str], str]
    kind: TimeKind = TIMESTAMP
    dialect: Dialect = TESLA

    def domain(self, type: str, attribute: str) -> str:
        return self.domains[(type, attribute)]

    def of_rows(self, rows: Rows, name: tuple[object, ...], make: Callable[[int], np.ndarray]) -> np.ndarray:
        """(n) what is found of every row by itself: ``make`` gives it for the rows from a number on, those of the past
        have it from the call before."""
        found: np.ndarray | None = rows.cache.get(name)
        if found is None:
            kept = self._kept(rows, name)
            found = make(0) if kept is None else behind(kept.found[kept.begin :], make(rows.new))
            rows.cache[name] = found
        return found

    def _kept(self, rows: Rows, name: tuple[object, ...]) -> Kept | None:
        """What the rows of the past had in the call before; None if there is nothing, or other codes are used now."""
        kept: Kept | None = rows.cache.get(("past", name))
        return kept if kept is not None and kept.codes is self.codes and kept.rows == rows.new else None

    def column_codes(self, rows: Rows, attribute: str) -> np.ndarray:
        """int64 (n): the code of one attribute."""
        domain = self.domain(rows.type, attribute)
        make = lambda first: self.codes.encode(domain, rows.column(attribute).slice(first))  # noqa: E731
        return self.of_rows(rows, _codes_name([attribute]), make)

    def joined_codes(self, rows: Rows, attributes: Sequence[str]) -> np.ndarray:
        """int64 (n): the code of several attributes together; 0 for none."""
        if len(attributes) == 1:
            return self.column_codes(rows, attributes[0])
        domains = [self.domain(rows.type, a) for a in attributes]

        def joined(first: int) -> np.ndarray:
            codes = [self.column_codes(rows, a)[first:] for a in attributes]
            return self.codes.join(domains, codes, len(rows) - first)

        return self.of_rows(rows, _codes_name(attributes), joined)

    def index(self, rows: Rows, by: Sequence[str], keep: np.ndarray | None = None, name: object = None) -> Index:
        """The rows by key code; ``keep`` (booleans) leaves rows out, ``name`` identifies it for the cache."""
        if keep is not None and name is None:  # nothing says which rows are left out
            return self._grouped(rows, self.joined_codes(rows, by), by, keep)
        key = ("index", tuple(by), name)
        found: Index | None = rows.cache.get(key)
        if found is None:
            if not by and keep is None:
                ends = np.array([[0], [len(rows)]], np.int64)
                found = Index(counting(len(rows)), rows.time, *ends)
            else:
                code = self.joined_codes(rows, by)
                kept, codes, n = self._kept(rows, key), self._kept(rows, _codes_name(by)), rows.new
                if kept is None or codes is None or kept.found.spent:
                    found = self._grouped(rows, code, by, keep)
                else:  # it goes on from the index of the call before: only new rows are sorted
                    gone, chosen = codes.found[: codes.begin], NO_KEEP if keep is None else keep[n:]
                    found = kept.found.grown(gone, n, code[n:], chosen, rows.time[n:], self._groups(rows, by))
            rows.cache[key] = found
        return found

    def _groups(self, rows: Rows, by: Sequence[str]) -> int:
        return self.codes.size([self.domain(rows.type, a) for a in by])

    def _grouped(self, rows: Rows, code: np.ndarray, by: Sequence[str], keep: np.ndarray | None) -> Index:
        order, start = group_rows(code, self._groups(rows, by), NO_KEEP if keep is None else keep)
        return Index(order, rows.time[order], start[:-1], start[1:])

    def filter(self, rows: Rows, filters: Sequence[Expr]) -> np.ndarray | None:
        """Booleans (n): rows that pass all ``filters``, which speak of the row itself only; None without filters."""
        if not filters:
            return None
        return reduce(np.logical_and, [self._passing(rows, f) for f in filters])

    def _passing(self, rows: Rows, condition: Expr) -> np.ndarray:
        def judged(first: int) -> np.ndarray:
            new = rows.slice(first) if first else rows
            passed = _compared(new, condition)
            if passed is None:
                columns = partial(own_column, new)
                passed, undecided = select(condition, columns, len(new), kind=self.kind, dialect=self.dialect)
                if undecided is not None:
                    raise UndecidedOverflow
            return passed

        return self.of_rows(rows, ("filter", condition), judged)


def _codes_name(attributes: Sequence[str]) -> tuple[object, ...]:
    return "codes", *attributes


@dataclass(frozen=True)
class Kept:
    """What was found of the rows of a type in one call, for the next one, in which the rows from ``begin`` on are the
    past: ``rows`` of them.  It holds for the same ``codes`` only."""

    codes: KeyCodes
    begin: int
    rows: int
    found: Any


def kept_of(rows: Rows, begin: int, codes: KeyCodes) -> dict[object, Any]:
    """The cache of rows from ``begin`` on when they are the past: codes, filters and indexes, so that the next call
    encodes, judges and sorts its new rows only."""
    n = len(rows) - begin
    out: dict[object, Any] = {}
    for name, found in rows.cache.items():
        if name[0] in ("codes", "filter", "bits"):
            out["past", name] = Kept(codes, begin, n, found)
        elif name[0] == "index":
            # the tables of this call hold what was kept of the one before
            out["past", name] = Kept(codes, begin, n, found.bare())
    return out


#: comparisons of numbers with numbers of the same type
COMPARE = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _compared(rows: Rows, condition: Expr) -> np.ndarray | None:
    """Booleans (n): a comparison of an int attribute with an int constant, as NumPy has it; None for other conditions.

    With few rows, most of the time of :func:`select` goes into its calls of Arrow.
    """
    found = as_threshold(condition)
    if found is None or not isinstance(found[2], Literal) or found[2].type is not Type.INT:
        return None
    column, op, limit = rows.column(found[0].name), found[1], found[2].value
    if column.type is not Type.INT or not isinstance(limit, int) or not -(2**63) <= limit < 2**63:
        return None
    out: np.ndarray = COMPARE[op](column.values, limit)
    return out if column.valid is None else out & column.valid


def passing(
    rows: Rows, condition: Expr, kind: TimeKind, dialect: Dialect
) -> tuple[np.ndarray, np.ndarray | None]:
    """As :func:`select` for a condition on the row itself, once per condition and call."""
    name = ("passing", dialect.name, condition)
    found = rows.cache.get(name)
    if found is None:
        compared = _compared(rows, condition)
        if compared is not None:
            found = compared, None
        else:
            found = select(condition, lambda leaf: own_column(rows, leaf), len(rows), kind=kind, dialect=dialect)
        rows.cache[name] = found
    return found


def own_column(rows: Rows, leaf: Expr) -> pa.Array:
    """The column that a reference to the row itself names."""
    assert isinstance(leaf, Ref)
    return rows.column(leaf.name).arrow
