"""A frame: what the operators of a stage share during one call; indexes, codes and masks are made once per frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import TESLA, Dialect
from occurs.expr.evaluate import as_threshold, select
from occurs.expr.tree import Expr, Literal, Ref
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import Type
from occurs.operators.codes import KeyCodes
from occurs.operators.kernels.row_index import find_ranges, group_rows
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
        found = rows.cache.get(("code", attribute))
        if found is None:
            found = self.codes.encode(self.domain(rows.type, attribute), rows.column(attribute))
            rows.cache[("code", attribute)] = found
        return found

    def joined_codes(self, rows: Rows, attributes: Sequence[str]) -> np.ndarray:
        """int64 (n): the code of several attributes together; 0 for none."""
        if len(attributes) == 1:
            return self.column_codes(rows, attributes[0])
        name = ("joined", tuple(attributes))
        found = rows.cache.get(name)
        if found is None:
            domains = [self.domain(rows.type, a) for a in attributes]
            found = self.codes.join(domains, [self.column_codes(rows, a) for a in attributes], len(rows))
            rows.cache[name] = found
        return found

    def index(self, rows: Rows, by: Sequence[str], keep: np.ndarray | None = None, name: object = None) -> Index:
        """The rows by key code; ``keep`` (booleans) leaves rows out, ``name`` identifies it for the cache."""
        key = ("index", tuple(by), name)
        found = rows.cache.get(key) if keep is None or name is not None else None
        if found is None:
            if not by and keep is None:
                order = np.arange(len(rows), dtype=np.int64)
                found = Index(order, np.array([0, len(rows)], np.int64), rows.time)
            else:
                code = self.joined_codes(rows, by)
                size = self.codes.size([self.domain(rows.type, a) for a in by])
                order, start = group_rows(code, size, NO_KEEP if keep is None else keep)
                found = Index(order, start, rows.time[order])
            rows.cache[key] = found
        return found

    def filter(self, rows: Rows, filters: Sequence[Expr]) -> np.ndarray | None:
        """Booleans (n): rows that pass all ``filters``, which speak of the row itself only; None without filters."""
        if not filters:
            return None
        out: np.ndarray | None = None
        for f in filters:
            passed = rows.cache.get(("filter", f))
            if passed is None:
                passed = _compared(rows, f)
                if passed is None:
                    passed, undecided = select(
                        f, lambda leaf: own_column(rows, leaf), len(rows), kind=self.kind, dialect=self.dialect
                    )
                    if undecided is not None:
                        raise UndecidedOverflow
                rows.cache[("filter", f)] = passed
            out = passed if out is None else out & passed
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
        found = select(condition, lambda leaf: own_column(rows, leaf), len(rows), kind=kind, dialect=dialect)
        rows.cache[name] = found
    return found


def own_column(rows: Rows, leaf: Expr) -> pa.Array:
    """The column that a reference to the row itself names."""
    assert isinstance(leaf, Ref)
    return rows.column(leaf.name).arrow
