"""Exact arithmetic and comparison on columns of numbers, where Arrow's would round or wrap.

Columns are int64 or float64; scalars go wherever columns go, except where a docstring says columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.columnar import floats, from_numpy, ints, spread, validity
from occurs.expr.dialect import Dialect

LEAST, GREATEST = -(2**63), 2**63 - 1
#: floats from here on may stand for several ints
EXACT = 2**53

# not pa.scalar: the first value that comes from Python makes Arrow import pandas, and `import occurs` must not
NULL_FLOAT = pa.nulls(1, pa.float64())[0]
NULL_BOOL = pa.nulls(1, pa.bool_())[0]

COMPARE: dict[str, Callable[[list[Any]], Any]] = {
    op: pc.get_function(name).call
    for op, name in {
        "=": "equal",
        "!=": "not_equal",
        "<": "less",
        "<=": "less_equal",
        ">": "greater",
        ">=": "greater_equal",
    }.items()
}
MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def columns(*args: Any) -> tuple[list[pa.Array], bool]:
    """The arguments as columns of one length; and whether all were scalars (then of length 1)."""
    length = next((len(a) for a in args if not isinstance(a, pa.Scalar)), None)
    return [spread(a, 1 if length is None else length) for a in args], length is None


def widened(x: Any) -> Any:
    """Ints as floats, to the nearest."""
    return x.cast(pa.float64(), safe=False)


# --- constants: an int compared with any number, a float with any int -------------------------------------------


def integer_bound(op: str, bound: Fraction | float) -> tuple[str, int] | bool:
    """The comparison of an int64 with an int that says the same as the one with ``bound``.

    True or False if it says the same of all ints.

    >>> integer_bound("<", Fraction(5, 2)), integer_bound(">=", Fraction(5, 2)), integer_bound("=", 2.5)
    (('<=', 2), ('>=', 3), False)
    >>> integer_bound("<", float("inf")), integer_bound("!=", Fraction(4)), integer_bound(">", Fraction(2**70))
    (True, ('!=', 4), False)
    """
    if isinstance(bound, float) and not math.isfinite(bound):
        if math.isnan(bound):
            return op == "!="
        return op == "!=" or (op != "=" and (op in ("<", "<=")) == (bound > 0))
    low, high = math.floor(bound), math.ceil(bound)
    if op in ("=", "!="):
        return (op, low) if low == high and LEAST <= low <= GREATEST else op == "!="
    limit = {"<": high, ">=": high, "<=": low, ">": low}[op]
    if low != high:
        op = {"<": "<=", "<=": "<=", ">": ">=", ">=": ">="}[op]
        limit = low if op == "<=" else high
    if limit > GREATEST:
        return op in ("<", "<=")
    if limit < LEAST:
        return op in (">", ">=")
    return op, limit


def float_bound(op: str, bound: Fraction) -> tuple[str, float] | bool:
    """The comparison of a float64 with a float that says the same as the one with the exact ``bound``.

    >>> float_bound("<", Fraction(2**53 + 1)), float_bound("=", Fraction(2**53 + 1)), float_bound(">", Fraction(7))
    (('<=', 9007199254740992.0), False, ('>', 7.0))
    """
    try:
        near = bound.numerator / bound.denominator
    except OverflowError:
        near = math.inf if bound > 0 else -math.inf
    if math.isfinite(near) and Fraction(near) == bound:
        return op, near
    if op in ("=", "!="):
        return op == "!="
    below = near if not math.isinf(near) and Fraction(near) < bound else math.nextafter(near, -math.inf)
    if near == -math.inf:
        below = -math.inf
    return ("<=" if op in ("<", "<=") else ">"), below


# --- columns ------------------------------------------------------------------------------------------------------


def compare_mixed(op: str, whole: Any, real: Any) -> Any:
    """int64 ``op`` float64 by exact value; NaN as IEEE has it."""
    try:
        # the safe cast fails if there is an int that may have no float of its own
        return COMPARE[op]([whole.cast(pa.float64()), real])
    except pa.ArrowInvalid:
        pass
    (a, b), scalar = columns(whole, real)
    i, f = ints(a), floats(b)
    with np.errstate(invalid="ignore"):
        rounded = np.floor(f) if op in ("<=", ">") else np.ceil(f)
        above, below = rounded >= 2.0**63, rounded < -(2.0**63)
        inside = ~(above | below | np.isnan(f))
        limit = np.where(inside, rounded, 0.0).astype(np.int64)
    ufunc = {"=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater}
    out = ufunc.get(op, np.greater_equal)(i, limit)
    if op in ("=", "!="):
        out = np.where(inside & (rounded == f), out, op == "!=")
    else:
        out = np.where(inside, out, above if op in ("<", "<=") else below)
    result = from_numpy(out, validity(a, b))
    return result[0] if scalar else result


def divide(a: Any, b: Any, dialect: Dialect) -> Any:
    """The real quotient of two numbers, of ints to the nearest float of the exact value."""
    if a.type.id == b.type.id == pa.int64().id:
        try:
            x, y = a.cast(pa.float64()), b.cast(pa.float64())
        except pa.ArrowInvalid:
            return _divide_long(a, b, dialect)
    else:
        x = a if a.type == pa.float64() else widened(a)
        y = b if b.type == pa.float64() else widened(b)
    return pc.divide(x, without_zeros(y) if dialect.zero_division == "null" else y)


def _divide_long(a: Any, b: Any, dialect: Dialect) -> Any:
    """Ints beyond 2**53 one by one: Python divides them exactly and rounds once."""
    (x, y), scalar = columns(a, b)
    i, j, valid = ints(x), ints(y), validity(x, y)
    with np.errstate(all="ignore"):
        out = i.astype(np.float64) / j.astype(np.float64)
    long = (i > EXACT) | (i < -EXACT) | (j > EXACT) | (j < -EXACT)
    for row in np.flatnonzero(long & (j != 0)).tolist():
        out[row] = int(i[row]) / int(j[row])
    if dialect.zero_division == "null":
        valid = (j != 0) if valid is None else valid & (j != 0)
    result = from_numpy(out, valid)
    return result[0] if scalar else result


def without_zeros(x: Any) -> Any:
    """Null where ``x`` is zero."""
    if isinstance(x, pa.Scalar):
        return pa.scalar(None, x.type) if x.as_py() == 0 else x
    zero = COMPARE["="]([x, pa.scalar(0, x.type)])
    return pc.if_else(zero, pa.scalar(None, x.type), x) if zero.true_count else x


def remainder(op: str, a: Any, b: Any) -> Any:
    """``%`` (the sign of the dividend), ``mod`` and ``div`` (which floor) of two ints or two floats; by zero null.

    Raises ArrowInvalid (overflow) for -2**63 div -1.
    """
    if isinstance(b, pa.Scalar) and not isinstance(a, pa.Scalar) and pa.types.is_integer(b.type) and b.is_valid:
        divisor = b.as_py()
        if divisor not in (0, -1):
            return _remainder_by(op, a, divisor)
    (x, y), scalar = columns(a, b)
    valid = validity(x, y)
    if pa.types.is_integer(x.type):
        i, j = ints(x), ints(y)
        valid = _and(valid, j != 0)
        j = np.where(j == 0, 1, j)
        if op == "div":
            wraps = (i == LEAST) & (j == -1)
            if (wraps if valid is None else wraps & valid).any():
                raise pa.ArrowInvalid("overflow")
            j = np.where(wraps, 1, j)
            out: np.ndarray = i // j
        else:
            j = np.where(j == -1, 1, j)  # remainder 0 either way, and no trap at -2**63
            out = np.fmod(i, j) if op == "%" else np.mod(i, j)
    else:
        f, g = floats(x), floats(y)
        valid = _and(valid, g != 0)
        with np.errstate(all="ignore"):
            g = np.where(g == 0, 1.0, g)
            out = np.fmod(f, g) if op == "%" else np.mod(f, g) if op == "mod" else np.floor_divide(f, g)
    result = from_numpy(out, valid)
    return result[0] if scalar else result


def _remainder_by(op: str, x: pa.Array, divisor: int) -> pa.Array:
    """By one int, neither 0 nor -1: NumPy divides by a constant without dividing."""
    i = ints(x)
    out = i // divisor
    if op != "div":
        with np.errstate(over="ignore"):  # the product may wrap around, and the difference back
            out *= divisor
            np.subtract(i, out, out=out)
        if op == "%":
            other = (out != 0) & ((i < 0) != (divisor < 0))
            if other.any():
                out -= np.where(other, divisor, 0)
    return from_numpy(out, validity(x))


def _and(valid: np.ndarray | None, more: np.ndarray) -> np.ndarray:
    return more if valid is None else valid & more


def wrapped(op: str, a: pa.Array, b: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """``+ - *`` of two int64 columns, and the rows (booleans) where the result is beyond int64: null there."""
    i, j, valid = ints(a), ints(b), validity(a, b)
    with np.errstate(over="ignore"):
        if op == "+":
            out = i + j
            lost = ((i ^ out) & (j ^ out)) < 0
        elif op == "-":
            out = i - j
            lost = ((i ^ j) & (i ^ out)) < 0
        else:
            out = i * j
            safe = np.where((i == 0) | (i == -1), 1, i)
            lost = np.where(i == -1, j == LEAST, (i != 0) & (out // safe != j))
    if valid is not None:
        lost &= valid
    return from_numpy(out, _and(valid, ~lost)), lost


def nan_to_null(x: Any) -> Any:
    """Null where the floats ``x`` are NaN."""
    if isinstance(x, pa.Scalar):
        value = x.as_py()
        return NULL_FLOAT if value is not None and math.isnan(value) else x
    nan = np.isnan(floats(x))
    return pc.if_else(pa.array(nan), NULL_FLOAT, x) if nan.any() else x


def where_valid(x: Any, value: bool) -> Any:
    """``value`` where ``x`` is not null, else null."""
    if isinstance(x, pa.Scalar):
        return pa.scalar(value, pa.bool_()) if x.is_valid else NULL_BOOL
    return (
        pc.if_else(x.is_valid(), pa.scalar(value), NULL_BOOL) if x.null_count else pa.repeat(pa.scalar(value), len(x))
    )
