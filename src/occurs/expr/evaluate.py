"""Evaluating expressions on whole columns (common.md, section 6).

An expression is compiled once for the types of its columns (:mod:`occurs.expr.compile`) into closures over
``pyarrow.compute``; ints are exact: checked first, and only if that fails the rows that overflow are looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.columnar import bools, spread
from occurs.expr.compile import Compiler, decoded, leaves
from occurs.expr.dialect import TESLA, Dialect
from occurs.expr.loose import as_condition, as_value
from occurs.expr.node import Node
from occurs.expr.shape import as_threshold, constant_value, fill, shape
from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type, from_arrow

__all__ = ["Column", "Columns", "as_threshold", "constant_value", "evaluate", "fill", "select", "shape"]

#: the column (or the scalar, if it is the same on all rows) of a reference, parameter, slot or node of a language
Columns = Callable[[Expr], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of an expression.

    ``values``: length n; times and durations as int64, null where an int64 overflowed on the way and the value depends
    on it.  ``overflow``: booleans (n) of these rows, None if there are none.  ``type``: what the values are.
    """

    values: pa.Array
    overflow: np.ndarray | None
    type: Type


def evaluate(node: Expr, columns: Columns, length: int, *, kind: TimeKind, dialect: Dialect = TESLA) -> Column:
    """The value of ``node`` on every row.

    ``columns`` gives the Arrow column (``length`` rows) of every leaf: int64, float64, string (also as a dictionary),
    bool, null or timestamp; other widths are cast.  A duration that is not whole in ticks comes out as the nearest tick
    (comparisons are exact).  Raises DefinitionProblem if the types do not fit.

    >>> from occurs.expr.tree import Binary, Literal, Ref
    >>> x = pa.array([1, 2**62, None])
    >>> got = evaluate(Binary("*", Ref(None, "x"), Literal(2, Type.INT)), lambda _: x, 3, kind=TimeKind())
    >>> got.values.to_pylist(), got.overflow.tolist()
    ([2, None, None], [False, True, False])
    """
    program, given = _program(node, columns, kind, dialect, condition=False)
    try:
        return Column(spread(program.fast(given), length), None, program.type)
    except pa.ArrowInvalid:
        found = as_value(program.slow(_all_columns(given, length), length))
        return Column(found.values, found.lost, program.type)


def select(
    node: Expr, columns: Columns, length: int, *, kind: TimeKind, dialect: Dialect = TESLA
) -> tuple[np.ndarray, np.ndarray | None]:
    """Booleans (n): the rows where the condition ``node`` is true; and the numbers of the rows of which an overflow
    hides whether it is, None if there are none (they count as not selected).

    >>> from occurs.expr.tree import Binary, Literal, Ref
    >>> x = pa.array([1, 7, None])
    >>> select(Binary(">", Ref(None, "x"), Literal(2, Type.INT)), lambda _: x, 3, kind=TimeKind())
    (array([False,  True, False]), None)
    """
    program, given = _program(node, columns, kind, dialect, condition=True)
    try:
        found = program.fast(given)
    except pa.ArrowInvalid:
        outcome = as_condition(program.slow(_all_columns(given, length), length))
        hidden = outcome.true & outcome.open
        return outcome.true & ~hidden, np.flatnonzero(hidden) if hidden.any() else None
    if isinstance(found, pa.Scalar):
        return np.full(length, found.as_py() is True), None
    return bools(found), None


# --- compiled expressions are kept ------------------------------------------------------------------------------


class _Entry:
    """An expression with what has been compiled of it; ``held``: what its keys name by identity."""

    __slots__ = ("by_types", "held", "leaves", "numbers")

    def __init__(self, node: Expr) -> None:
        self.held: list[Any] = []
        self.leaves = leaves(node)
        self.numbers = {leaf: i for i, leaf in enumerate(self.leaves)}
        self.by_types: dict[str, Node] = {}


#: more entries than this, and all are dropped
MOST_ENTRIES = 20_000
_by_identity: dict[tuple[int, int, int], _Entry] = {}
_by_value: dict[tuple[Expr, TimeKind, Dialect], _Entry] = {}


def _program(node: Expr, columns: Columns, kind: TimeKind, dialect: Dialect, condition: bool) -> tuple[Node, list[Any]]:
    """The compiled expression, and its columns."""
    entry = _by_identity.get((id(node), id(kind), id(dialect)))
    # the entry holds these objects, so that their identities are not given to others while it is there
    if entry is None:
        entry = _entry(node, kind, dialect)
    given, codes = [], "!" if condition else ""
    for leaf in entry.leaves:
        column, code = _leaf(columns(leaf))
        given.append(column)
        codes += code
    program = entry.by_types.get(codes)
    if program is None:
        compiler = Compiler(entry.numbers, codes.lstrip("!"), kind, dialect)
        program = compiler.condition(node) if condition else compiler.value(node)
        entry.by_types[codes] = program
    return program, given


def _entry(node: Expr, kind: TimeKind, dialect: Dialect) -> _Entry:
    if len(_by_identity) > MOST_ENTRIES:
        _by_identity.clear()
        _by_value.clear()
    entry = _by_value.get((node, kind, dialect))
    if entry is None:
        entry = _by_value[(node, kind, dialect)] = _Entry(node)
    entry.held.append((node, kind, dialect))
    _by_identity[(id(node), id(kind), id(dialect))] = entry
    return entry


# --- the columns that come in -----------------------------------------------------------------------------------

_CODE = {
    pa.int64().id: "i",
    pa.float64().id: "f",
    pa.string().id: "s",
    pa.bool_().id: "b",
    pa.null().id: "n",
}
_MICROSECONDS = pa.timestamp("us").id


def _leaf(x: Any) -> tuple[Any, str]:
    """The column of a leaf as one of the types that are computed with, and the letter for it."""
    if isinstance(x, pa.ChunkedArray):
        x = x.combine_chunks()
        x = pa.concat_arrays(x.chunks) if isinstance(x, pa.ChunkedArray) else x
    code = _CODE.get(x.type.id)
    if code is not None:
        return x, code
    type = x.type
    if pa.types.is_timestamp(type) or pa.types.is_date(type):
        if not (pa.types.is_timestamp(type) and type.unit == "us"):
            x = x.cast(pa.timestamp("us"))
        return (pa.scalar(x.value, pa.int64()) if isinstance(x, pa.Scalar) else x.view(pa.int64())), "t"
    if pa.types.is_dictionary(type):
        if isinstance(x, pa.Scalar):
            return _leaf(x.value)
        if pa.types.is_string(type.value_type):
            return x, "d"
        return _leaf(x.dictionary_decode())
    if pa.types.is_duration(type):
        return _leaf(x.cast(pa.int64()))
    known = from_arrow(type)
    if known is None:
        raise TypeError(f"an expression cannot read a column of type {type}")
    plain = {Type.INT: pa.int64(), Type.FLOAT: pa.float64(), Type.STRING: pa.string()}[known]
    return _leaf(x.cast(plain))


def _all_columns(given: list[Any], length: int) -> list[pa.Array]:
    return [spread(decoded(x), length) for x in given]
