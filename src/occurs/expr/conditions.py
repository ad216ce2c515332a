"""Conditions over columns: connectives with null as unknown, tests for null, membership and patterns of text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.columnar import by_groups, spread
from occurs.expr.loose import Slow, Three, as_condition, as_value
from occurs.expr.node import Node, constant, operation
from occurs.model.types import Type

# not pa.scalar, which would import pandas with this module
_FALSE = pa.Array.from_buffers(pa.bool_(), 1, [None, pa.py_buffer(b"\0")])[0]
_AND, _OR, _INVERT = (pc.get_function(n).call for n in ("and_kleene", "or_kleene", "invert"))


def connective(op: str, left: Node, right: Node) -> Node:
    run = _AND if op == "and" else _OR

    def slow(columns: list[pa.Array], n: int) -> Slow:
        a, b = as_condition(left.slow(columns, n)), as_condition(right.slow(columns, n))
        return a.both(b) if op == "and" else a.either(b)

    # a constant on one side: nothing to do, or nothing left to do
    for one, other in ((left, right), (right, left)):
        if one.scalar is not None and not one.null:
            return other if one.value is (op == "and") else one
    return operation(Type.BOOL, lambda x, y: run([x, y]), [left, right], slow=slow)


def inverted(node: Node) -> Node:
    def slow(columns: list[pa.Array], n: int) -> Slow:
        return as_condition(node.slow(columns, n)).inverted()

    return operation(Type.BOOL, lambda x: _INVERT([x]), [node], slow=slow)


def falsified(node: Node) -> Node:
    """With false for null."""

    def run(x: Any) -> Any:
        if isinstance(x, pa.Scalar):
            return x if x.is_valid else _FALSE
        return x.fill_null(False) if x.null_count else x

    def slow(columns: list[pa.Array], n: int) -> Slow:
        return as_condition(node.slow(columns, n)).falsified()

    if node.type is Type.NULL:
        return constant(False, Type.BOOL)
    return operation(Type.BOOL, run, [node], slow=slow)


def is_null(node: Node, negated: bool) -> Node:
    def run(x: Any) -> Any:
        if isinstance(x, pa.Scalar):
            return pa.scalar(x.is_valid is negated)
        return x.is_valid() if negated else x.is_null()

    def slow(columns: list[pa.Array], n: int) -> Slow:
        arg = as_value(node.slow(columns, n))
        null = arg.values.is_null().to_numpy(zero_copy_only=False)
        true, false = (~null, null) if negated else (null, ~null)
        if arg.lost is None:
            return Three(true, false, np.zeros(n, np.bool_))
        # lost is not null, but what it would have been is not known: whoever asks has to wait
        return Three(true | arg.lost, false | arg.lost, np.zeros(n, np.bool_))

    return operation(Type.BOOL, run, [node], slow=slow)


def is_in(x: Any, wanted: pa.Array, missing: pa.Scalar) -> Any:
    if isinstance(x, pa.Scalar):
        return is_in(pa.repeat(x, 1), wanted, missing)[0]
    found = pc.is_in(x, value_set=wanted)
    if not missing.is_valid:
        return pc.if_else(found, found, missing)
    return pc.if_else(x.is_valid(), found, pa.scalar(None, pa.bool_())) if x.null_count else found


def like_each(x: Any, pattern: Any) -> Any:
    scalar = isinstance(x, pa.Scalar) and isinstance(pattern, pa.Scalar)
    n = 1 if scalar else len(pattern if isinstance(x, pa.Scalar) else x)
    run = by_groups(pc.match_like, [spread(x, n), spread(pattern, n)], frozenset((1,)), pa.bool_())
    return run[0] if scalar else run
