"""Conditions in which facts stand beside comparisons, below ``or`` and ``not`` (phenesthe.md, section 4.3).

A fact is true or false of a binding, a comparison may be unknown; the connectives are Kleene's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import PHENESTHE
from occurs.expr.evaluate import select
from occurs.expr.tree import Expr, Ref, Unary
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import Type
from occurs.operators.interval.bindings import joined, joint, member, pairs, pick, shared
from occurs.operators.interval.conditions import FactRows, OfBindings, overflow
from occurs.operators.interval.signals import Call, Codes


@dataclass(frozen=True)
class Member(Expr):
    """That a row of ``fact`` agrees with the binding, which has all its variables."""

    fact: FactRows

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True)
class Exists(Expr):
    """That there are values of further variables under which ``condition`` is true.

    They are tried out as they stand in the rows of ``facts``, all joined; ``types``: of the variables it looks at.
    """

    facts: tuple[FactRows, ...]
    condition: Expr
    types: tuple[tuple[str, Type], ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True)
class Judged(OfBindings):
    """Keeps the bindings of which ``condition`` is true: references to variables, :class:`Member`, :class:`Exists`.

    ``types``: of the ``variables``.  ``name``: of the definition, for errors.
    """

    variables: tuple[str, ...]
    types: tuple[Type, ...]
    condition: Expr
    name: str
    kind: TimeKind = TIMESTAMP

    @property
    def _width(self) -> int:
        return len(self.variables)

    @cached_property
    def _typed(self) -> dict[str, Type]:
        return dict(zip(self.variables, self.types))

    def _mapped(self, codes: Codes, n: int, call: Call) -> tuple[np.ndarray, Codes]:
        passed = self._true(self.condition, dict(zip(self.variables, codes)), self._typed, n, call)
        at = np.flatnonzero(passed)
        return at, tuple(c[at] for c in codes)

    def _true(
        self, condition: Expr, codes: dict[str, np.ndarray], types: dict[str, Type], n: int, call: Call
    ) -> np.ndarray:
        """Booleans (n).  Raises InputProblem if an overflow hides one."""

        def column(leaf: Expr) -> pa.Array:
            if isinstance(leaf, Ref):
                return call.values.decode(codes[leaf.name], types[leaf.name]).arrow
            if isinstance(leaf, Member):
                return pa.array(_agrees(leaf.fact, codes, n, call))
            assert isinstance(leaf, Exists)
            return self._exists(leaf, codes, types, n, call)

        passed, undecided = select(condition, column, n, kind=self.kind, dialect=PHENESTHE)
        if undecided is not None:
            raise overflow(self.name, f"a binding of {', '.join(codes)}")
        return passed

    def _exists(
        self, leaf: Exists, codes: dict[str, np.ndarray], types: dict[str, Type], n: int, call: Call
    ) -> pa.Array:
        """Booleans (n), null where no values make it true and some leave it unknown."""
        row = np.arange(n)
        bound = dict(codes)
        for fact in leaf.facts:
            rows, many = fact.encoded(call.values)
            names = tuple(bound)
            on = shared(names, fact.variables)
            mine = tuple(bound.values())
            key, other = joint([(pick(mine, names, on), len(row)), (pick(rows, fact.variables, on), many)])
            i, j = pairs(key, other)
            union = tuple(sorted({*names, *fact.variables}))
            bound = dict(zip(union, joined(union, (names, mine, i), (fact.variables, rows, j))))
            row = row[i]
        known = {**types, **dict(leaf.types)}
        true = self._true(leaf.condition, bound, known, len(row), call)
        false = self._true(Unary("not", leaf.condition), bound, known, len(row), call)
        some = np.bincount(row[true], minlength=n) > 0
        unknown = np.bincount(row[~true & ~false], minlength=n) > 0
        return pa.array(some, mask=unknown & ~some)


def _agrees(fact: FactRows, codes: dict[str, np.ndarray], n: int, call: Call) -> np.ndarray:
    rows, many = fact.encoded(call.values)
    key, other = joint([(pick(tuple(codes.values()), tuple(codes), fact.variables), n), (rows, many)])
    return member(key, other)
