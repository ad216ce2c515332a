"""A frame: what the operators of a stage share during one call; indexes, codes and masks are made once per frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import TESLA, Dialect
from occurs.expr.evaluate import as_threshold, select
from occurs.expr.tree import Expr, Literal, Ref
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import Type
from occurs.operators.codes import KeyCodes
from occurs.operators.kernels.row_index import extend, find_ranges, group_rows
from occurs.operators.rows import Rows

NO_MASK = np.zeros((0, 0), np.bool_)
NO_KEEP = np.zeros(0, np.bool_)
NO_BOUND = np.zeros((0, 0), np.int64)


@dataclass
class Index:
    """Rows grouped by key code, in the total order within each group.

    order: row numbers; start: (groups + 1) positions; time: the times in index order.  links: ranges [lo, hi) for
    all rows of another table; cache: columns, sums.. in index order.
    """

    order: np.ndarray
    start: np.ndarray
    time: np.ndarray
    links: dict[object, tuple[Rows, np.ndarray, np.ndarray]] = field(default_factory=dict)
    cache: dict[object, Any] = field(default_factory=dict)

    def ranges(self, code: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions [lo, hi) with the given code and ``low <= time <= high``."""
        return find_ranges(code, low, high, self.start, self.time)


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

    def column_codes(self, rows: Rows, attribute: str) -> np.ndarray:
        """int64 (n): the code of one attribute."""
        name = ("code", attribute)
        found = rows.cache.get(name)
        if found is None:
            column, kept = rows.column(attribute), self._kept(rows, name)
            if kept is not None:
                column = column.slice(rows.new)
            found = self.codes.encode(self.domain(rows.type, attribute), column)
            found = found if kept is None else np.concatenate([kept, found])
            rows.cache[name] = found
        return found

    def _kept(self, rows: Rows, name: tuple[object, ...]) -> np.ndarray | None:
        """What the rows of the past had in the call before; None if there is nothing, or other codes are used now."""
        kept: Kept | None = rows.cache.get(("past", name))
        same = kept is not None and kept.codes is self.codes and kept.rows == rows.new
        return kept.found[kept.begin :] if kept is not None and same else None

    def joined_codes(self, rows: Rows, attributes: Sequence[str]) -> np.ndarray:
        """int64 (n): the code of several attributes together; 0 for none."""
        if len(attributes) == 1:
            return self.column_codes(rows, attributes[0])
        name = ("joined", tuple(attributes))
        found = rows.cache.get(name)
        if found is None:
            domains = [self.domain(rows.type, a) for a in attributes]
            kept = self._kept(rows, name)
            begin = 0 if kept is None else rows.new
            codes = [self.column_codes(rows, a)[begin:] for a in attributes]
            found = self.codes.join(domains, codes, len(rows) - begin)
            found = found if kept is None else np.concatenate([kept, found])
            rows.cache[name] = found
        return found

    def index(self, rows: Rows, by: Sequence[str], keep: np.ndarray | None = None, name: object = None) -> Index:
        """The rows by key code; ``keep`` (booleans) leaves rows out, ``name`` identifies it for the cache."""
        if keep is not None and name is None:  # nothing says which rows are left out
            return self._grouped(rows, self.joined_codes(rows, by), by, keep)
        key = ("index", tuple(by), name)
        found: Index | None = rows.cache.get(key)
        if found is None:
            if not by and keep is None:
                order = np.arange(len(rows), dtype=np.int64)
                found = Index(order, np.array([0, len(rows)], np.int64), rows.time)
            else:
                code = self.joined_codes(rows, by)
                kept: Kept | None = rows.cache.get(("past", key))
                if kept is None or kept.codes is not self.codes or kept.rows != rows.new:
                    found = self._grouped(rows, code, by, keep)
                else:  # it goes on from the index of the call before: only new rows are sorted
                    n, old = rows.new, kept.found
                    new = self._grouped(rows, code, by, keep, n)
                    order, time, start = extend(
                        old.order, old.time, old.start, kept.begin, n, new.order, new.start, rows.time[n:]
                    )
                    found = Index(order, start, time)
            rows.cache[key] = found
        return found

    def _grouped(
        self, rows: Rows, code: np.ndarray, by: Sequence[str], keep: np.ndarray | None, first: int = 0
    ) -> Index:
        """The index of the rows from ``first`` on, which are numbered from 0."""
        size = self.codes.size([self.domain(rows.type, a) for a in by])
        order, start = group_rows(code[first:], size, NO_KEEP if keep is None else keep[first:])
        return Index(order, start, rows.time[first:][order])

    def filter(self, rows: Rows, filters: Sequence[Expr]) -> np.ndarray | None:
        """Booleans (n): rows that pass all ``filters``, which speak of the row itself only; None without filters."""
        if not filters:
            return None
        out: np.ndarray | None = None
        for f in filters:
            passed = rows.cache.get(("filter", f))
            if passed is None:
                kept = self._kept(rows, ("filter", f))
                new = rows if kept is None else rows.slice(rows.new)
                passed = _compared(new, f)
                if passed is None:
                    passed, undecided = select(
                        f, partial(own_column, new), len(new), kind=self.kind, dialect=self.dialect
                    )
                    if undecided is not None:
                        raise UndecidedOverflow
                passed = passed if kept is None else np.concatenate([kept, passed])
                rows.cache[("filter", f)] = passed
            out = passed if out is None else out & passed
        return out


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
        if name[0] in ("code", "joined", "filter"):
            out["past", name] = Kept(codes, begin, n, found)
        elif name[0] == "index":
            # without its links, which hold the tables of this call, which hold what was kept of the one before
            out["past", name] = Kept(codes, begin, n, Index(found.order, found.start, found.time))
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
