"""Patterns of events before a terminator: the operator behind TESLA rules (paper section 4; tesla.md, sections 4, 5).

A pattern starts from the new rows of its terminator's type (role 0) and runs through its steps, each over all partial
matches at once: selections bind further roles, guards drop matches.  It keeps no state: what it needs of the past is in
the tables of the frame.  Rules that are alike but for constants share one pattern (a template): matches carry the
number of their rule, constants are columns over rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem, Span
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Literal, Ref, Slot, conjunction
from occurs.model.types import Type
from occurs.operators.aggregate import Windowed, aggregate
from occurs.operators.columns import Column
from occurs.operators.frame import NO_BOUND, NO_MASK, Frame, Index, UndecidedOverflow
from occurs.operators.kernels.selecting import any_unbound, choose, expand, nth_per_match
from occurs.operators.masks import rule_mask
from occurs.operators.rows import Rows
from occurs.operators.windows import Between, KeyPart, Source, Within

#: the most pairs that are held at once
BLOCK = 4_000_000


@dataclass(frozen=True)
class Select:
    """Bind role ``role`` to candidates no older than ``within`` ticks before role ``ref``, both bounds closed.

    policy: each, first, last; ``k``-th from the start or end.  ``residual``: constraints that are neither about the
    candidate alone nor an equality in ``keys``.
    """

    source: Source
    policy: str
    k: int
    ref: int
    within: int
    keys: tuple[KeyPart, ...]
    residual: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Absent:
    """Drop the matches with a row of ``source`` in the interval (open at its start) that they have not bound."""

    source: Source
    interval: Within | Between
    keys: tuple[KeyPart, ...]
    residual: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Keep:
    """Keep the matches for which ``condition`` is true."""

    condition: Expr


@dataclass(frozen=True)
class Extra:
    """Keep the matches whose role ``role`` is between 0 and ``within`` ticks older than role ``ref``."""

    role: int
    ref: int
    within: int


Step = Select | Absent | Keep | Extra


@dataclass(frozen=True)
class RuleInfo:
    """What tells one rule of a template from the others, and where it stands."""

    output: str
    place: int
    definition: str
    role_names: tuple[str, ...]
    file: str | None = None
    span: Span | None = None
    source: str | None = None
    recursive: bool = False


@dataclass(frozen=True)
class Pattern:
    """A template: ``terminator``, ``steps`` in text order, ``outputs`` (name, expression, type) and its ``rules``.

    ``constants``: one column per slot, with a value per rule.  References are ``Ref("<role number>", attribute)``;
    ``Ref(None, attribute)`` is the candidate's own.
    """

    terminator: Source
    steps: tuple[Step, ...]
    outputs: tuple[tuple[str, Expr, Type], ...]
    rules: tuple[RuleInfo, ...]
    constants: tuple[Column, ...] = field(default=(), compare=False)
    consuming: tuple[int, ...] = ()

    @property
    def role_sources(self) -> tuple[Source, ...]:
        return (self.terminator, *(s.source for s in self.steps if isinstance(s, Select)))


@dataclass
class Matches:
    """Partial matches: per match the number of its rule (None: the only one) and a row per bound role."""

    rule: np.ndarray | None
    rows: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.rows[0])

    def take(self, at: np.ndarray) -> Matches:
        return Matches(None if self.rule is None else self.rule[at], [r[at] for r in self.rows])

    @staticmethod
    def concat(parts: Sequence[Matches]) -> Matches:
        if len(parts) == 1:
            return parts[0]
        rule = None if parts[0].rule is None else np.concatenate([p.rule for p in parts if p.rule is not None])
        return Matches(rule, [np.concatenate(c) for c in zip(*(p.rows for p in parts))])


class Run:
    """One pattern over one frame."""

    def __init__(self, pattern: Pattern, frame: Frame, free: dict[str, np.ndarray] | None = None):
        self.pattern = pattern
        self.frame = frame
        self.sources = pattern.role_sources
        self.tables: list[Rows] = [frame.tables[s.type] for s in self.sources]
        #: by type, booleans per row: not yet consumed by this rule; tested for the roles that consume
        self.free = free or {}
        self.many = len(pattern.rules) > 1

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
            return aggregate(self, matches, leaf)
        raise AssertionError(f"no column for {leaf!r}")

    def judge(
        self, matches: Matches, expr: Expr, own: tuple[Rows, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Booleans per match, and the matches for which an overflow leaves the condition undecided (None: none).

        ``own`` gives the row that ``Ref(None, ..)`` speaks of.
        """

        def columns(leaf: Expr) -> pa.Array:
            if own is not None and isinstance(leaf, Ref) and leaf.scope is None:
                return own[0].column(leaf.name).take(own[1]).arrow
            return self.column(matches, leaf).arrow

        return select(expr, columns, len(matches), kind=self.frame.kind, dialect=self.frame.dialect)

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
        rule = self.pattern.rules[0 if matches.rule is None else int(matches.rule[at])]
        time = int(self.tables[0].time[matches.rows[0][at]])
        raise InputProblem(
            Problem(
                "overflow",
                f"a number leaves the range of 64-bit integers in the rule for `{rule.output}`, "
                f"at its terminator `{self.sources[0].type}` of time {time}",
                file=rule.file,
                span=rule.span,
                source=rule.source,
                definition=rule.definition,
                value=time,
                hint="use floats (multiply by 1.0), or a condition that keeps such values out",
            )
        )

    # -- candidates --------------------------------------------------------------------------------------------------
    def key_codes(self, matches: Matches, rows: Rows, keys: Sequence[KeyPart]) -> np.ndarray:
        """The code that a candidate must have, per match; -1 if a value is null."""
        if not keys:
            return np.zeros(len(matches), np.int64)
        role = keys[0].role
        if all(k.role == role for k in keys):
            table = self.tables[role]
            return self.frame.joined_codes(table, [k.attribute for k in keys])[matches.rows[role]]
        domains = [self.frame.domain(rows.type, k.own) for k in keys]
        codes = [
            self.frame.column_codes(self.tables[k.role], k.attribute)[matches.rows[k.role]] for k in keys
        ]
        return self.frame.codes.join(domains, codes, len(matches))

    def bounds(self, matches: Matches, interval: Within | Between, open_low: bool) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest time per match, both inclusive."""
        if isinstance(interval, Within):
            high = self.tables[interval.role].time[matches.rows[interval.role]]
            low = high - interval.length
        else:
            high = self.tables[interval.late].time[matches.rows[interval.late]]
            low = self.tables[interval.early].time[matches.rows[interval.early]]
        return (low + 1 if open_low else low), high

    def strictly_before(self, matches: Matches, source: Source, high: np.ndarray) -> np.ndarray:
        """``high``, or for sources of the own recursive component at most the tick before the terminator."""
        if not source.strict:
            return high
        return np.minimum(high, self.tables[0].time[matches.rows[0]] - 1)

    def candidates(
        self,
        matches: Matches,
        source: Source,
        keys: Sequence[KeyPart],
        low: np.ndarray,
        high: np.ndarray,
        free: np.ndarray | None = None,
        window: Within | None = None,
    ) -> tuple[Rows, Index, np.ndarray, np.ndarray, np.ndarray, tuple[Expr, ...]]:
        """(rows, index, lo, hi, mask, filters left to judge pair by pair) of the rows that may be candidates.

        ``free``: booleans, rows that are not consumed (only in patterns of one rule).  ``window``: that the bounds are
        those of a closed window before a role.
        """
        high = self.strictly_before(matches, source, high)
        rows = self.frame.tables[source.type]
        left: tuple[Expr, ...] = ()
        mask = NO_MASK
        keep = None
        name: object = None
        # codes of the matches first: an index has as many groups as there are codes when it is made
        by = [k.own for k in keys]
        try:
            if self.many and any(isinstance(n, Slot) for f in source.filters for n in f.walk()):
                mask = rule_mask(self.frame, rows, source.filters, self.pattern.constants, len(self.pattern.rules))
            else:
                keep = self.frame.filter(rows, source.filters)
                name = source.filters or None
        except UndecidedOverflow:
            left = source.filters
        if free is not None:
            mask = free[None, :]
        if (
            window is not None
            and not source.strict
            and all(k.role == window.role for k in keys)
            and len(matches) > len(self.tables[window.role])
        ):
            # more matches than rows they can refer to: one range per row, shared by all rules
            lo, hi, index = self.link(rows, by, keep, name, keys, window)
            at = matches.rows[window.role]
            return rows, index, lo[at], hi[at], mask, left
        code = self.key_codes(matches, rows, keys)
        index = self.frame.index(rows, by, keep, name)
        lo, hi = index.ranges(code, low, high)
        return rows, index, lo, hi, mask, left

    def link(
        self,
        rows: Rows,
        by: Sequence[str],
        keep: np.ndarray | None,
        name: object,
        keys: Sequence[KeyPart],
        window: Within,
    ) -> tuple[np.ndarray, np.ndarray, Index]:
        """For every row of a role's table the range of candidates in a window before it."""
        table = self.tables[window.role]
        code = self.frame.joined_codes(table, [k.attribute for k in keys]) if keys else np.zeros(len(table), np.int64)
        index = self.frame.index(rows, by, keep, name)
        what = ("link", table.type, tuple(k.attribute for k in keys), window.length)
        found = index.cache.get(what)
        if found is None:
            found = index.cache[what] = index.ranges(code, table.time - window.length, table.time)
        return (*found, index)  # type: ignore[misc]

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
                rule, at = np.nonzero(mask)
                return Matches(rule, [rows[at]])
            keep = self.frame.filter(fresh, source.filters)
            return Matches(None, [rows if keep is None else rows[keep]])
        except UndecidedOverflow:
            matches = Matches(None, [rows])
            if self.many:
                matches = Matches(np.repeat(np.arange(n_rules), len(rows)), [np.tile(rows, n_rules)])
            passed = self.keep(matches, source.filters, table, matches.rows[0])
            return matches if passed is None else matches.take(passed)

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
        role = len(matches.rows)
        high = self.tables[s.ref].time[matches.rows[s.ref]]
        free = self.free.get(s.source.type) if role in self.pattern.consuming else None
        rows, index, lo, hi, mask, left = self.candidates(
            matches, s.source, s.keys, high - s.within, high, free, Within(s.ref, s.within)
        )
        rule = self.rule_of(matches)
        bound = self.bound_rows(matches, rows)
        residual = s.residual + left
        if (residual or s.policy == "each") and len(matches) > 1 and int((hi - lo).sum()) > BLOCK:
            return None
        if not residual and s.policy != "each":
            match, row = choose(lo, hi, index.order, rule, mask, bound, s.k, s.policy == "last")
        else:
            match, row = expand(lo, hi, index.order, rule, mask, bound)
        out = Matches(None if matches.rule is None else matches.rule[match], [r[match] for r in matches.rows] + [row])
        joint = conjunction(list(residual))
        if joint is None:
            return out
        passed, undecided = self.judge(out, joint, (rows, row))
        if undecided is not None:
            self.check_undecided(out, match, passed, undecided, s)
        fit = np.flatnonzero(passed)
        if s.policy != "each":
            fit = fit[nth_per_match(match[fit], s.k, s.policy == "last")]
        return out.take(fit)

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
        low, high = self.bounds(matches, s.interval, open_low=True)
        rows, index, lo, hi, mask, left = self.candidates(matches, s.source, s.keys, low, high)
        bound = self.bound_rows(matches, rows)
        if mask is NO_MASK and not s.residual and not left:
            present = any_unbound(lo, hi, index.order, bound) if len(bound) else hi > lo
            return matches.take(np.flatnonzero(~present))
        present = np.zeros(len(matches), np.bool_)
        for block in blocks(lo, hi):
            part = matches.take(block)
            known = self.bound_rows(part, rows)
            match, row = expand(lo[block], hi[block], index.order, self.rule_of(part), mask, known)
            pairs = part.take(match)
            joint = conjunction([*s.residual, *left])
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
        out: dict[str, Column] = {}
        for name, expr, type in self.pattern.outputs:
            if isinstance(expr, Ref | Windowed):
                out[name] = self.column(matches, expr).cast(type)
                continue
            if isinstance(expr, Literal) and expr.value is None:
                out[name] = Column.nulls(type, len(matches))
                continue
            got = evaluate(
                expr,
                lambda leaf: self.column(matches, leaf).arrow,
                len(matches),
                kind=self.frame.kind,
                dialect=self.frame.dialect,
            )
            if got.overflow is not None:
                self.overflow(matches, int(np.flatnonzero(got.overflow)[0]))
            raw = Type.INT if pa.types.is_integer(got.values.type) else type
            if pa.types.is_null(got.values.type):
                raw = type
            column = Column.of(got.values, raw if type.numeric else type)
            out[name] = column.cast(type) if column.type.numeric else column
        return out


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

