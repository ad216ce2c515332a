"""One pattern over one frame: from the new terminators through the steps to complete matches and their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem
from occurs.expr.evaluate import as_threshold, evaluate, select
from occurs.expr.tree import Expr, Literal, Ref, Slot, conjunction, rewrite
from occurs.model.types import Type
from occurs.operators.aggregates import reduced
from occurs.operators.columns import Column
from occurs.operators.definition import Source
from occurs.operators.frame import COMPARE, NO_BOUND, NO_MASK, Frame, Index, UndecidedOverflow
from occurs.operators.growing import SHORT
from occurs.operators.kernels.selecting import (
    MOST,
    any_unbound,
    choose,
    compared,
    expand,
    first_step,
    narrowed,
    nth_per_match,
    passing,
    rule_sets,
)
from occurs.operators.rows import FIRST_TICK, Rows
from occurs.operators.select.pattern import Absent, Between, Extra, KeyPart, Matches, Pattern, Select, Windowed, Within

#: the ranges are those of the matches, one by one
DIRECT = np.zeros(0, np.int64)
#: the most pairs that are held at once
BLOCK = 4_000_000
#: an index of all rows is as good as one of those that pass, if one of so many passes
DENSE = 4
#: the rows that are aggregated are few if there are so many times as many of the past
FEW = 4
#: as the kernels number them
POLICIES = ("each", "first", "last")


class Run:
    """One pattern over one frame."""

    def __init__(self, pattern: Pattern, frame: Frame):
        self.pattern = pattern
        self.frame = frame
        self.sources = pattern.role_sources
        self.tables: list[Rows] = [frame.tables[s.type] for s in self.sources]
        self.many = len(pattern.rules) > 1
        self.finder = Finder(pattern, frame, self.tables)

    # -- columns of matches ------------------------------------------------------------------------------------------
    def column(self, matches: Matches, leaf: Expr) -> Column:
        if isinstance(leaf, Ref):
            assert leaf.scope is not None
            role = int(leaf.scope)
            return self.tables[role].column(leaf.name).take(matches.rows[role])
        if isinstance(leaf, Slot):
            assert matches.rule is not None
            return self.pattern.constants[leaf.index].take(matches.rule)
        if isinstance(leaf, Windowed):
            return self.aggregate(matches, leaf)
        raise AssertionError(f"no column for {leaf!r}")

    def aggregate(self, matches: Matches, node: Windowed) -> Column:
        """One value per match."""
        found = self.finder.find(matches, node.source, node.keys, node.interval)
        rows, index, mask, left = found.rows, found.index, found.mask, found.left
        lo, hi = found.ranges()
        column = None if node.attribute is None else rows.column(node.attribute)
        # few rows of many are an index of their own, as what is prepared is prepared for a whole index
        few = max(FEW * int((hi - lo).sum()), SHORT) < rows.new
        if mask is NO_MASK and not node.residual and not left and not few:
            return reduced(node.reduced, column, index, lo, hi, partial(self.overflow, matches))
        parts = []
        for block in blocks(lo, hi):
            part = matches.take(block)
            match, row = expand(
                lo[block], hi[block], DIRECT, index.order, index.base, self.rule_of(part), mask, NO_BOUND
            )
            pairs = part.take(match)
            passed = self.keep(pairs, node.residual + left, rows, row)
            if passed is not None:
                match, row = match[passed], row[passed]
            # the rows that passed, match by match, are an index of their own
            cut = np.searchsorted(match, np.arange(len(block) + 1))
            own = Index(row, rows.time[row], cut[:-1], cut[1:])
            parts.append(reduced(node.reduced, column, own, cut[:-1], cut[1:], partial(self.overflow, part)))
        return Column.concat(parts)

    def judge(
        self, matches: Matches, expr: Expr, own: tuple[Rows, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Booleans per match, and the matches for which an overflow leaves the condition undecided (None: none).

        ``own`` gives the row that ``Ref(None, ..)`` speaks of.
        """
        columns = partial(self._leaf, matches, own)
        return select(expr, columns, len(matches), kind=self.frame.kind, dialect=self.frame.dialect)

    def value(
        self, matches: Matches, expr: Expr, type: Type | None = None, own: tuple[Rows, np.ndarray] | None = None
    ) -> Column:
        """The value of an expression per match, as a column of ``type`` (None: of its own)."""
        if isinstance(expr, Windowed) or (isinstance(expr, Ref) and expr.scope is not None):
            column = self.column(matches, expr)
            return column if type is None else column.cast(type)
        if isinstance(expr, Literal) and expr.value is None:
            return Column.nulls(type or Type.NULL, len(matches))
        columns = partial(self._leaf, matches, own)
        got = evaluate(expr, columns, len(matches), kind=self.frame.kind, dialect=self.frame.dialect)
        if got.overflow is not None:
            self.overflow(matches, int(np.flatnonzero(got.overflow)[0]))
        return Column.computed(got.values, type or got.type)

    def _leaf(self, matches: Matches, own: tuple[Rows, np.ndarray] | None, leaf: Expr) -> pa.Array:
        if own is not None and isinstance(leaf, Ref) and leaf.scope is None:
            return own[0].column(leaf.name).take(own[1]).arrow
        return self.column(matches, leaf).arrow

    def keep(self, matches: Matches, conditions: Sequence[Expr], rows: Rows, row: np.ndarray) -> np.ndarray | None:
        """The numbers of the matches that pass all conditions; None without conditions.

        Judged together, so that an overflow in one does not matter where another is false.
        """
        joint = conjunction(list(conditions))
        if joint is None:
            return None
        passed, undecided = self.judge(matches, joint, (rows, row))
        if undecided is not None:
            self.overflow(matches, int(undecided[0]))
        return np.flatnonzero(passed)

    def overflow(self, matches: Matches, at: int) -> None:
        rule = 0 if matches.rule is None else int(matches.rule[at])
        raise overflow(self.pattern, int(self.tables[0].time[matches.rows[0][at]]), rule)

    def bound_rows(self, matches: Matches, rows: Rows) -> np.ndarray:
        """(m, n): the rows of this type that each match has bound."""
        same = [r for r, t in zip(matches.rows, self.tables) if t is rows]
        return np.stack(same) if same else NO_BOUND

    def rule_of(self, matches: Matches) -> np.ndarray:
        return np.zeros(len(matches), np.int64) if matches.rule is None else matches.rule

    # -- steps -------------------------------------------------------------------------------------------------------
    def start(self) -> Matches:
        """The new terminators that pass the constraints of role 0, rule by rule."""
        table = self.tables[0]
        source = self.sources[0]
        n_rules = len(self.pattern.rules)
        rows = np.arange(table.new, len(table), dtype=np.int64)
        fresh = table if table.new == 0 else table.slice(table.new)
        try:
            if self.many:
                mask = rule_mask(self.frame, fresh, source.filters, self.pattern.constants, n_rules)
                if mask is NO_MASK:
                    return Matches(np.repeat(np.arange(n_rules), len(rows)), [np.tile(rows, n_rules)])
                rule, at = passing(mask)
                return Matches(rule, [at if table.new == 0 else at + table.new])
            keep = self.frame.filter(fresh, source.filters)
            return Matches(None, [rows if keep is None else rows[keep]])
        except UndecidedOverflow:
            matches = Matches(None, [rows])
            if self.many:
                matches = Matches(np.repeat(np.arange(n_rules), len(rows)), [np.tile(rows, n_rules)])
            passed = self.keep(matches, source.filters, table, matches.rows[0])
            return matches if passed is None else matches.take(passed)

    def all(self) -> list[Matches]:
        """The complete matches of all new terminators."""
        first = self.first_step() if self.many else None
        return self.run(self.start()) if first is None else self.run(first, 1)

    def first_step(self) -> Matches | None:
        """Start and first selection in one, with the rules as bits; None if this pattern is not made for it."""
        if not self.pattern.steps or len(self.pattern.rules) > MOST:
            return None
        s = self.pattern.steps[0]
        if not isinstance(s, Select) or s.residual or s.source.strict or any(k.role for k in s.keys):
            return None
        if s.k > 1 and s.policy != "each":
            return None
        table, n_rules = self.tables[0], len(self.pattern.rules)
        fresh = table if table.new == 0 else table.slice(table.new)
        try:
            starts = rule_bits(self.frame, fresh, self.sources[0].filters, self.pattern.constants, n_rules)
        except UndecidedOverflow:
            return None
        if not self.sources[0].filters:
            starts = np.full(len(fresh), np.uint64(2**n_rules - 1))
        # many past rows have an index, which the next call has only if this one asks for it
        if self.frame.tables[s.source.type].new <= SHORT and not starts.any():
            return Matches(np.zeros(0, np.int64), [np.zeros(0, np.int64)] * 2)
        found = self.finder.linked(s.source, s.keys, 0, s.within, bits=True)
        guard = self.guard_of(s, 1)
        if guard is not None and not found.left:
            found = narrow(found, self.finder.linked(guard.source, guard.keys, 0, s.within - 1))
        if found.left or (s.policy == "each" and n_rules * found.pairs() > BLOCK):
            return None
        passes = np.zeros(0, np.uint64) if found.mask is NO_MASK else found.mask
        rule, rows, chosen = first_step(
            starts, table.new, found.lo, found.hi, found.index.order, found.index.base, passes,
            POLICIES.index(s.policy), found.rows is table, n_rules,
        )  # fmt: skip
        return Matches(rule, [rows, chosen])

    def run(self, matches: Matches, step: int = 0) -> list[Matches]:
        """The complete matches, in blocks, in the order of the terminators."""
        for at in range(step, len(self.pattern.steps)):
            if len(matches) == 0:
                return []
            s = self.pattern.steps[at]
            if isinstance(s, Select):
                bound = self.select(matches, s)
                if bound is None:
                    half = len(matches) // 2
                    first = np.arange(half)
                    second = np.arange(half, len(matches))
                    return self.run(matches.take(first), at) + self.run(matches.take(second), at)
                matches = bound
            elif isinstance(s, Absent):
                matches = self.absent(matches, s)
            elif isinstance(s, Extra):
                age = self.tables[s.ref].time[matches.rows[s.ref]] - self.tables[s.role].time[matches.rows[s.role]]
                matches = matches.take(np.flatnonzero((age >= 0) & (age <= s.within)))
            else:
                passed, undecided = self.judge(matches, s.condition)
                if undecided is not None:
                    self.overflow(matches, int(undecided[0]))
                matches = matches.take(np.flatnonzero(passed))
        return [matches] if len(matches) else []

    def select(self, matches: Matches, s: Select) -> Matches | None:
        """None: too many pairs at once, halve the matches."""
        found = self.finder.find(matches, s.source, s.keys, Within(s.ref, s.within), masked=True)
        guard = self.guard_of(s, len(matches.rows))
        if guard is not None and not found.left:
            by = self.finder.find(matches, guard.source, guard.keys, Within(s.ref, s.within), open_low=True)
            found = narrow(found, by)
        rule = self.rule_of(matches)
        bound = self.bound_rows(matches, found.rows)
        residual = s.residual + found.left
        if (residual or s.policy == "each") and len(matches) > 1 and found.pairs() > BLOCK:
            return None
        candidates = found.lo, found.hi, found.at, found.index.order, found.index.base
        if not residual and s.policy != "each":
            match, row = choose(*candidates, rule, found.mask, bound, s.k, s.policy == "last")
        else:
            match, row = expand(*candidates, rule, found.mask, bound)
        out = Matches(None if matches.rule is None else matches.rule[match], [r[match] for r in matches.rows] + [row])
        joint = conjunction(list(residual))
        if joint is None:
            return out
        passed, undecided = self.judge(out, joint, (found.rows, row))
        if undecided is not None:
            self.check_undecided(out, match, passed, undecided, s)
        fit = np.flatnonzero(passed)
        if s.policy != "each":
            fit = fit[nth_per_match(match[fit], s.k, s.policy == "last")]
        return out.take(fit)

    def guard_of(self, s: Select, role: int) -> Absent | None:
        """A negation that rules out all candidates of an ``each`` but those after its own last event.

        Candidates that it rules out need not be paired at all, so that the cost does not grow with the window.  Only
        where nothing is judged pair by pair, as what is never judged can have no overflow.
        """
        if s.policy != "each" or any(isinstance(t, Select) and t.residual for t in self.pattern.steps):
            return None
        types = {source.type for source in self.sources}
        for t in self.pattern.steps:
            if (
                isinstance(t, Absent)
                and isinstance(t.interval, Between)
                and (t.interval.early, t.interval.late) == (role, s.ref)
                and all(k.role == s.ref for k in t.keys)
                and not t.residual
                and not t.source.strict
                and t.source.type not in types
            ):
                return t
        return None

    def check_undecided(
        self, pairs: Matches, match: np.ndarray, passed: np.ndarray, undecided: np.ndarray, s: Select
    ) -> None:
        """An undecided candidate matters unless k certain ones come before it in the order of choice."""
        for at in undecided:
            same = np.flatnonzero(match == match[at])
            before = same[same > at] if s.policy == "last" else same[same < at]
            if s.policy == "each" or int(passed[before].sum()) < s.k:
                self.overflow(pairs, int(at))

    def absent(self, matches: Matches, s: Absent) -> Matches:
        found = self.finder.find(matches, s.source, s.keys, s.interval, open_low=True)
        rows, order, base = found.rows, found.index.order, found.index.base
        lo, hi = found.ranges()
        bound = self.bound_rows(matches, rows)
        if found.mask is NO_MASK and not s.residual and not found.left:
            present = any_unbound(lo, hi, order, base, bound) if len(bound) else hi > lo
            return matches.take(np.flatnonzero(~present))
        present = np.zeros(len(matches), np.bool_)
        for block in blocks(lo, hi):
            part = matches.take(block)
            known = self.bound_rows(part, rows)
            match, row = expand(lo[block], hi[block], DIRECT, order, base, self.rule_of(part), found.mask, known)
            pairs = part.take(match)
            joint = conjunction([*s.residual, *found.left])
            if joint is None:
                present[block[match]] = True
                continue
            passed, undecided = self.judge(pairs, joint, (rows, row))
            present[block[match[passed]]] = True
            if undecided is not None:
                # an undecided event matters only where no certain one blocks
                matter = undecided[~present[block[match[undecided]]]]
                if len(matter):
                    self.overflow(pairs, int(matter[0]))
        return matches.take(np.flatnonzero(~present))

    # -- output ------------------------------------------------------------------------------------------------------
    def outputs(self, matches: Matches) -> dict[str, Column]:
        return {name: self.value(matches, expr, type) for name, expr, type in self.pattern.outputs}


def overflow(pattern: Pattern, time: int, rule: int = 0) -> InputProblem:
    """What one of the rules of a pattern needs at a terminator of this time does not fit into 64 bits."""
    info = pattern.rules[rule]
    return InputProblem(
        Problem(
            "overflow",
            f"a number overflows 64-bit integers in the rule for `{info.output}`, "
            f"at the terminator `{pattern.terminator.type}` at time {time}",
            file=info.file,
            span=info.span,
            source=info.source,
            definition=info.definition,
            value=time,
            hint="use floats (multiply by 1.0), or a condition that excludes such values",
        )
    )


def narrow(found: Candidates, by: Candidates) -> Candidates:
    """``found`` without what lies before the last candidate of a negation, match by match."""
    if by.mask is not NO_MASK or by.left:
        return found
    (lo, hi), (first, last) = found.ranges(), by.ranges()
    lo = narrowed(lo, hi, found.index.time, first, last, by.index.order, by.index.base, by.rows.time)
    return replace(found, lo=lo, hi=hi, at=DIRECT)


def blocks(lo: np.ndarray, hi: np.ndarray) -> list[np.ndarray]:
    """Matches cut into runs whose ranges hold at most BLOCK rows together (one match at least)."""
    total = np.cumsum(hi - lo)
    if len(total) == 0 or total[-1] <= BLOCK:
        return [np.arange(len(lo))]
    out = []
    begin = 0
    while begin < len(lo):
        base = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, base + BLOCK, side="right")))
        out.append(np.arange(begin, end))
        begin = end
    return out


# -- where the candidates of partial matches lie: ranges of an index by key and time, shared by all rules --------------
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
        masked: bool = False,
    ) -> Candidates:
        """``masked``: the caller goes through the candidates one by one, and a mask costs it little."""
        if (
            isinstance(interval, Within)
            and not source.strict
            and all(k.role == interval.role for k in keys)
            and len(matches) > len(self.tables[interval.role])
        ):
            # more matches than rows they can refer to: one range per row, shared by all rules
            found = self.linked(source, keys, interval.role, interval.length - open_low)
            return replace(found, at=matches.rows[interval.role] - self._first(interval.role))
        rows = self.frame.tables[source.type]
        mask, keep, name, left = self._constraints(rows, source)
        if masked and keep is not None and DENSE * np.count_nonzero(keep) >= len(keep):
            # one index for all rules that read this type by these keys
            # it has a row for every rule, since matches look theirs up by the number of their rule
            n_rules = len(self.pattern.rules)
            mask, keep, name = np.ascontiguousarray(np.broadcast_to(keep, (n_rules, len(keep)))), None, None
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
        bits: bool = False,
    ) -> Candidates:
        """One range per row of a role's table (per new row if it is the terminator's): at most ``length`` ticks before
        it; all ``keys`` are of that role.

        ``bits``: the mask is uint64 (rows), the set of the rules (of at most 64) that each row passes.
        """
        rows = self.frame.tables[source.type]
        mask, keep, name, left = self._constraints(rows, source, bits)
        table, first = self.tables[role], self._first(role)
        names, time = [k.attribute for k in keys], table.time[first:]
        code = self.frame.joined_codes(table, names)[first:] if keys else np.zeros(len(time), np.int64)
        index = self.frame.index(rows, [k.own for k in keys], keep, name)
        what = ("link", table.type, tuple(names), length, first)
        made = index.links.get(what)
        if made is None or made[0] is not table:  # the table of a recursive type grows
            made = index.links[what] = (table, *index.ranges(code, ticks_before(time, length), time))
        return Candidates(rows, index, *made[1:], DIRECT, mask, left)

    def _first(self, role: int) -> int:
        """The first row of a role's table that a match may have: terminators are new."""
        return 0 if role else self.tables[0].new

    def _constraints(
        self, rows: Rows, source: Source, bits: bool = False
    ) -> tuple[np.ndarray, np.ndarray | None, object, tuple[Expr, ...]]:
        """(mask of rules and rows, rows to keep in the index, its name, constraints left for pairs)."""
        n_rules = len(self.pattern.rules)
        try:
            if n_rules > 1 and any(isinstance(n, Slot) for f in source.filters for n in f.walk()):
                make = rule_bits if bits else rule_mask
                return make(self.frame, rows, source.filters, self.pattern.constants, n_rules), None, None, ()
            keep = self.frame.filter(rows, source.filters)
            return NO_MASK, keep, source.filters or None, ()
        except UndecidedOverflow:
            return NO_MASK, None, None, source.filters

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
    out = COMPARE[op](column.values[None, :], limit.values[:, None])
    if column.valid is not None:
        out &= column.valid[None, :]
    return out


def rule_bits(
    frame: Frame, rows: Rows, filters: Sequence[Expr], constants: Sequence[Column], n_rules: int
) -> np.ndarray:
    """uint64 (rows): the set of the rules that each row passes, of at most 64; no entries: every row passes all.

    A comparison of a number with a constant per rule is a binary search among the constants.
    """
    if not filters:
        return np.zeros(0, np.uint64)

    def judged(first: int) -> np.ndarray:
        new = rows.slice(first) if first else rows
        parts = [_threshold_bits(new, f, constants) for f in filters]
        sets = [
            rule_sets(rule_mask(frame, new, [f], constants, n_rules)) if part is None else part
            for f, part in zip(filters, parts)
        ]
        return reduce(np.bitwise_and, sets)

    return frame.of_rows(rows, ("bits", n_rules, *filters, *constants), judged)


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
