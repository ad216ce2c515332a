"""Where the candidates of partial matches lie: ranges of an index by key and time, shared by all rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from occurs.expr.evaluate import as_threshold
from occurs.expr.tree import Expr, Literal, Slot, rewrite
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.definition import Source
from occurs.operators.frame import NO_MASK, Frame, Index, UndecidedOverflow
from occurs.operators.kernels.selecting import compared, rule_sets
from occurs.operators.rows import FIRST_TICK, Rows
from occurs.operators.select.pattern import Between, KeyPart, Matches, Pattern, Within

#: the ranges are those of the matches, one by one
DIRECT = np.zeros(0, np.int64)


def ticks_before(time: np.ndarray, length: int) -> np.ndarray:
    """``time - length``, but not before the first tick that there is."""
    least = int(time.min(initial=0))
    if least - length >= FIRST_TICK:
        return time - length
    return np.where(time < FIRST_TICK + length, FIRST_TICK, time - length)


@dataclass
class Candidates:
    """The rows of an index in ranges [lo, hi); that of match i is number ``at[i]``, or i if ``at`` is DIRECT.

    mask: booleans (rules, rows), which rows pass the constraints of a rule; NO_MASK: all.  left: constraints on single
    rows that must be judged pair by pair.
    """

    rows: Rows
    index: Index
    lo: np.ndarray
    hi: np.ndarray
    at: np.ndarray
    mask: np.ndarray
    left: tuple[Expr, ...]

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """lo and hi, match by match."""
        if self.at is DIRECT:
            return self.lo, self.hi
        return self.lo[self.at], self.hi[self.at]

    def pairs(self) -> int:
        """How many pairs of a match and a candidate there are."""
        width = self.hi - self.lo
        return int((width if self.at is DIRECT else width[self.at]).sum())


@dataclass
class Finder:
    """Finds the candidates of the matches of ``pattern`` over ``frame``; ``tables``: the rows of each role."""

    pattern: Pattern
    frame: Frame
    tables: Sequence[Rows]

    def find(
        self,
        matches: Matches,
        source: Source,
        keys: Sequence[KeyPart],
        interval: Within | Between,
        *,
        open_low: bool = False,
        free: np.ndarray | None = None,
    ) -> Candidates:
        """``free``: booleans, rows that are not consumed (only in patterns of one rule)."""
        if (
            isinstance(interval, Within)
            and not source.strict
            and all(k.role == interval.role for k in keys)
            and len(matches) > len(self.tables[interval.role])
        ):
            # more matches than rows they can refer to: one range per row, shared by all rules
            found = self.linked(source, keys, interval.role, interval.length - open_low, free=free)
            return replace(found, at=matches.rows[interval.role])
        rows = self.frame.tables[source.type]
        mask, keep, name, left = self._constraints(rows, source, free)
        low, high = self._bounds(matches, interval)
        if open_low:
            low = low + 1
        if source.strict:  # sources of the own recursive component: at most the tick before the terminator
            high = np.minimum(high, self.tables[0].time[matches.rows[0]] - 1)
        # codes of the matches first: an index has as many groups as there are codes when it is made
        code = self._key_codes(matches, rows, keys)
        index = self.frame.index(rows, [k.own for k in keys], keep, name)
        lo, hi = index.ranges(code, low, high)
        return Candidates(rows, index, lo, hi, DIRECT, mask, left)

    def linked(
        self,
        source: Source,
        keys: Sequence[KeyPart],
        role: int,
        length: int,
        *,
        free: np.ndarray | None = None,
        bits: bool = False,
    ) -> Candidates:
        """One range per row of a role's table: at most ``length`` ticks before it; all ``keys`` are of that role.

        ``bits``: the mask is uint64 (rows), the set of the rules (of at most 64) that each row passes.
        """
        rows = self.frame.tables[source.type]
        mask, keep, name, left = self._constraints(rows, source, free, bits)
        table = self.tables[role]
        names = [k.attribute for k in keys]
        code = self.frame.joined_codes(table, names) if keys else np.zeros(len(table), np.int64)
        index = self.frame.index(rows, [k.own for k in keys], keep, name)
        what = ("link", table.type, tuple(names), length)
        made = index.links.get(what)
        if made is None or made[0] is not table:  # the table of a recursive type grows from wave to wave
            made = index.links[what] = (table, *index.ranges(code, ticks_before(table.time, length), table.time))
        return Candidates(rows, index, *made[1:], DIRECT, mask, left)

    def _constraints(
        self, rows: Rows, source: Source, free: np.ndarray | None, bits: bool = False
    ) -> tuple[np.ndarray, np.ndarray | None, object, tuple[Expr, ...]]:
        """(mask of rules and rows, rows to keep in the index, its name, constraints left for pairs)."""
        if free is not None:
            free = free[None, :]
        n_rules = len(self.pattern.rules)
        try:
            if n_rules > 1 and any(isinstance(n, Slot) for f in source.filters for n in f.walk()):
                make = rule_bits if bits else rule_mask
                return make(self.frame, rows, source.filters, self.pattern.constants, n_rules), None, None, ()
            keep = self.frame.filter(rows, source.filters)
            return NO_MASK if free is None else free, keep, source.filters or None, ()
        except UndecidedOverflow:
            return NO_MASK if free is None else free, None, None, source.filters

    def _bounds(self, matches: Matches, interval: Within | Between) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest time per match."""
        if isinstance(interval, Within):
            high = self.tables[interval.role].time[matches.rows[interval.role]]
            return ticks_before(high, interval.length), high
        low = self.tables[interval.early].time[matches.rows[interval.early]]
        return low, self.tables[interval.late].time[matches.rows[interval.late]]

    def _key_codes(self, matches: Matches, rows: Rows, keys: Sequence[KeyPart]) -> np.ndarray:
        """The code that a candidate must have, per match; -1 if a value is null."""
        if not keys:
            return np.zeros(len(matches), np.int64)
        role = keys[0].role
        if all(k.role == role for k in keys):
            table = self.tables[role]
            return self.frame.joined_codes(table, [k.attribute for k in keys])[matches.rows[role]]
        domains = [self.frame.domain(rows.type, k.own) for k in keys]
        codes = [self.frame.column_codes(self.tables[k.role], k.attribute)[matches.rows[k.role]] for k in keys]
        return self.frame.codes.join(domains, codes, len(matches))


# -- constraints of many rules at once ---------------------------------------------------------------------------------
#: as the kernel numbers them
_OPERATORS = (">", ">=", "<", "<=", "=", "!=")
_COMPARE = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
#: below this size int64 and float64 compare exactly
_EXACT = 2**53


def rule_mask(
    frame: Frame, rows: Rows, filters: Sequence[Expr], constants: Sequence[Column], n_rules: int
) -> np.ndarray:
    """Booleans (rules, rows); NO_MASK if there is nothing to test.

    A comparison of a number with a constant is one broadcast for all rules; anything else is evaluated once per
    distinct constraint.
    """
    out: np.ndarray | None = None
    for f in filters:
        part = _threshold(rows, f, constants)
        if part is None:
            part = np.empty((n_rules, len(rows)), np.bool_)
            for r in range(n_rules):
                passed = frame.filter(rows, [_filled(f, constants, r)])
                part[r] = passed
        out = part if out is None else np.logical_and(out, part, out=out)
    return NO_MASK if out is None else out


def _filled(f: Expr, constants: Sequence[Column], rule: int) -> Expr:
    def fill(node: Expr) -> Expr | None:
        if isinstance(node, Slot):
            column = constants[node.index]
            return Literal(column.arrow[rule].as_py(), column.type)
        return None

    return rewrite(f, fill)


def _thresholds(rows: Rows, f: Expr, constants: Sequence[Column]) -> tuple[Column, str, Column] | None:
    """A comparison of a numeric column with a known constant per rule: the column, the operator, the constants."""
    found = as_threshold(f)
    if found is None or not isinstance(found[2], Slot):
        return None
    column, limit = rows.column(found[0].name), constants[found[2].index]
    known = column.numeric and limit.numeric and limit.valid is None
    return (column, found[1], limit) if known else None


def _threshold(rows: Rows, f: Expr, constants: Sequence[Column]) -> np.ndarray | None:
    found = _thresholds(rows, f, constants)
    if found is None or not found[0].type.numeric:
        return None
    column, op, limit = found
    if column.type is not limit.type:
        ints = column.values if column.values.dtype == np.int64 else limit.values
        if len(ints) and int(np.abs(ints).max()) >= _EXACT:
            return None
    out = _COMPARE[op](column.values[None, :], limit.values[:, None])
    if column.valid is not None:
        out &= column.valid[None, :]
    return out


def rule_bits(
    frame: Frame, rows: Rows, filters: Sequence[Expr], constants: Sequence[Column], n_rules: int
) -> np.ndarray:
    """uint64 (rows): the set of the rules that each row passes, of at most 64; no entries: every row passes all.

    A comparison of a number with a constant per rule is a binary search among the constants.
    """
    out: np.ndarray | None = None
    for f in filters:
        part = _threshold_bits(rows, f, constants)
        if part is None:
            mask = rule_mask(frame, rows, [f], constants, n_rules)
            part = rule_sets(mask)
        out = part if out is None else out & part
    return np.zeros(0, np.uint64) if out is None else out


def _threshold_bits(rows: Rows, f: Expr, constants: Sequence[Column]) -> np.ndarray | None:
    found = _thresholds(rows, f, constants)
    if found is None or not found[0].type is found[2].type is Type.INT:
        return None
    column, op, limit = found
    order = np.argsort(limit.values, kind="stable")
    out = compared(column.values, limit.values[order], order, _OPERATORS.index(op))
    if column.valid is not None:
        out = np.where(column.valid, out, np.uint64(0))
    return out
