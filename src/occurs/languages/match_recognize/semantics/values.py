"""The values of expressions over the rows of a match (match-recognize.md, section 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from occurs.errors import InputProblem
from occurs.expr import tree
from occurs.expr.aggregates import plain_aggregate
from occurs.expr.dialect import MATCH_RECOGNIZE
from occurs.expr.reference import Evaluator, Undecided, clean
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type
from occurs.operators.rowpattern.tree import Aggregate, At, Label, Number, Value

#: the variable of every mapped row, in order, and whether the row is excluded from the output
Mapped = tuple[tuple[str, bool], ...]


class Waiting(Exception):
    """The answer depends on rows that are not known yet."""


@dataclass(frozen=True)
class Partition:
    """The rows of a partition in their order, known up to the instant ``frontier``; ``closed``: no row follows."""

    rows: Sequence[Occurrence]
    kind: TimeKind
    frontier: int
    closed: bool

    def bound(self, start: int, within: Duration | None) -> int | None:
        """The last time at which a row of the match may be, None if there is no bound."""
        exact = None if within is None else self.kind.convert(within)
        return None if exact is None else self.rows[start].time + int(exact)

    def has(self, at: int, bound: int | None) -> bool:
        """Whether there is a row at this place, not later than the bound.  Raises Waiting if that is not known."""
        if at < len(self.rows):
            return True
        if self.closed or (bound is not None and bound <= self.frontier):
            return False
        raise Waiting

    def beyond(self, at: int, bound: int) -> bool:
        """Whether the row at this place is later than the bound, or none came until then."""
        return at >= len(self.rows) or self.rows[at].time > bound

    def ends_at(self, at: int) -> bool:
        """Whether this place is behind the last row.  Raises Waiting if that is not known."""
        if at >= len(self.rows) and not self.closed:
            raise Waiting
        return at >= len(self.rows)


class _Values(Evaluator):
    """What all expressions here have in common."""

    dialect = MATCH_RECOGNIZE

    def __init__(self, kind: TimeKind) -> None:
        self._kind = kind

    @property
    def kind(self) -> TimeKind:
        return self._kind

    def leaf_type(self, node: tree.Expr) -> Type | None:
        return node.type if isinstance(node, At | Aggregate) else None


class Cells(_Values):
    """Expressions over the columns of one row."""

    def __init__(self, columns: Mapping[str, Any], types: Mapping[str, Type], kind: TimeKind) -> None:
        super().__init__(kind)
        self.columns, self.types = columns, types

    def leaf(self, node: tree.Expr) -> Any:
        assert isinstance(node, tree.Ref)
        return self.columns.get(node.name)

    def clean(self, value: Any) -> Any:
        return value if isinstance(value, Undecided | list) else super().clean(value)

    def leaf_type(self, node: tree.Expr) -> Type | None:
        return self.types.get(node.name) if isinstance(node, tree.Ref) else None


class _Reached(_Values):
    """An expression at one row that a navigation reaches, or that an aggregate is over."""

    def __init__(self, row: Occurrence, label: str | None, number: int | None, kind: TimeKind) -> None:
        super().__init__(kind)
        self.row, self.label, self.number = row, label, number

    def leaf(self, node: tree.Expr) -> Any:
        match node:
            case tree.Ref(name="time"):
                return self.row.time
            case tree.Ref():
                return self.row.attributes.get(node.name)
            case Label():
                return self.label
            case Number():
                return self.number
        raise AssertionError(f"not inside a navigation: {node}")


@dataclass
class Seen(_Values):
    """Expressions evaluated at a mapped row: ``position`` is its place among the rows of the match.

    ``start``: the row of the partition at which the match begins.  ``match``: the mapped rows.  ``number``: of the
    match, None if it has none.  ``defining``: in DEFINE, where the row is the last one mapped so far.
    """

    partition: Partition
    start: int
    match: Mapped
    number: int | None
    position: int = -1
    defining: bool = False
    rows: list[Occurrence] = field(init=False)

    def __post_init__(self) -> None:
        super().__init__(self.partition.kind)
        self.rows = list(self.partition.rows[self.start : self.start + len(self.match)])
        if self.defining:
            self.position = len(self.match) - 1

    def at_position(self, position: int) -> Seen:
        """The same match, seen from another of its rows."""
        return replace(self, position=position)

    def measures(self, measures: Sequence[Value]) -> dict[str, Any]:
        """The values of measures; an overflow stays undecided until somebody needs it.  Raises Waiting."""
        for m in measures:
            self.need_next(m.expr)
        return {m.name: self.value(m.expr) for m in measures}

    # --- rows --------------------------------------------------------------------------------------------------------

    def of(self, variables: tuple[str, ...] | None, final: bool) -> list[int]:
        """The places in the match of the rows that are seen and belong to one of the variables (None: all)."""
        count = len(self.match) if final else self.position + 1
        return [i for i in range(count) if variables is None or self.match[i][0] in variables]

    def reached(self, node: At) -> int | None:
        """The place in the partition of the row that a navigation reaches, None if it has no row to start from."""
        mine = self.of(node.variables, node.final)
        if node.offset >= len(mine):
            return None
        return self.start + mine[node.offset if node.first else -1 - node.offset] + node.move

    def need_next(self, node: tree.Expr) -> None:
        """Raises Waiting if NEXT in an expression reaches a row that is not known yet."""
        for part in node.walk():
            if isinstance(part, At) and part.move > 0 and not self.partition.closed:
                found = self.reached(part)
                if found is not None and found >= len(self.partition.rows):
                    raise Waiting

    def label_of(self, place: int) -> str | None:
        """The variable of a row of the partition: of the whole match, in DEFINE of the rows mapped so far."""
        inside = 0 <= place - self.start < len(self.match)
        return self.match[place - self.start][0] if inside else None

    def row_at(self, place: int) -> _Reached:
        return _Reached(self.partition.rows[place], self.label_of(place), self.number, self.kind)

    # --- values ------------------------------------------------------------------------------------------------------

    def leaf(self, node: tree.Expr) -> Any:
        match node:
            case Number():
                return self.number
            case At():
                found = self.reached(node)
                if found is None or not 0 <= found < len(self.partition.rows):
                    return None
                return self.row_at(found).value(node.arg)
            case Aggregate():
                return self.aggregate(node)
        raise AssertionError(f"not an expression of a clause: {node}")

    def clean(self, value: Any) -> Any:
        return value if isinstance(value, Undecided | list) else super().clean(value)

    def aggregate(self, node: Aggregate) -> Any:
        """An aggregate over the rows of its variables that are seen."""
        rows = [self.row_at(self.start + i) for i in self.of(node.variables, node.final)]
        if not node.args:
            return len(rows)
        values = [tuple(row.value(a) for a in node.args) for row in rows]
        lost = next((v for cells in values for v in cells if isinstance(v, Undecided)), None)
        if lost is not None:
            return lost.lost
        if node.function in ("min_by", "max_by"):
            return extreme_by(values, node.function == "max_by")
        single = [v for (v,) in values]
        if node.function == "array_agg":
            return (distinct(single) if node.distinct else single) or None
        return aggregated(node, [v for v in single if v is not None])


def aggregated(node: Aggregate, values: list[Any]) -> Any:
    """An aggregate of values that are not null; of none: COUNT is 0, all others are null."""
    if node.distinct:
        values = distinct(values)
    if node.function == "count":
        return len(values)
    if not values:
        return None
    if node.function == "stddev_pop":
        return population_deviation(values)
    return clean(plain_aggregate(node.function, values))


def distinct(values: list[Any]) -> list[Any]:
    """The first of equal values."""
    out: list[Any] = []
    for value in values:
        if value not in out:
            out.append(value)
    return out


def extreme_by(pairs: list[tuple[Any, ...]], greatest: bool) -> Any:
    """The first value of the first pair with the least, or greatest, second value that is not null."""
    known = [pair for pair in pairs if pair[1] is not None]
    if not known:
        return None
    return (max if greatest else min)(known, key=lambda pair: pair[1])[0]


def population_deviation(values: list[Any]) -> float | None:
    """The standard deviation of all values, from exact moments; null with an infinite one."""
    if any(isinstance(v, float) and math.isinf(v) for v in values):
        return None
    exact = [Fraction(v) for v in values]
    centre = sum(exact) / len(exact)
    try:
        return math.sqrt(sum((v - centre) ** 2 for v in exact) / len(exact))
    except OverflowError:  # the variance is beyond float64
        return math.inf


def settled(value: Any, definition: str, what: str) -> Any:
    """A value that is needed.  Raises InputProblem if an overflow hides it."""
    if isinstance(value, Undecided):
        if value.problem is not None:
            raise InputProblem([value.problem])
        message = f"{definition}: {what} leaves the range of 64-bit integers"
        raise InputProblem.of("overflow", message, definition=definition)
    return value
