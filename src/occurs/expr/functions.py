"""The one catalogue of functions (common.md, section 6): of numbers, of conditions, casts; text and time beside it.

Functions are total: outside their domain they are null, as they are if an argument is null (except ``coalesce`` and
``if``).  They work on whole Arrow columns.  Each language names those it offers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr import functions_text, functions_time
from occurs.expr import reference_functions as plain
from occurs.expr.columnar import floats, from_numpy, halves_away, ints, validity
from occurs.expr.signature import (
    AMOUNT,
    ANY,
    BOOL,
    CATALOGUE,
    FLOAT,
    INT,
    NUMBER,
    ORDERED,
    STRING,
    Function,
    reference,
)
from occurs.expr.signature import function as declare
from occurs.model.types import Type

__all__ = ["CATALOGUE", "Function", "functions_text", "functions_time"]

LEAST, GREATEST = -(2**63), 2**63 - 1
#: the mean radius of the Earth in metres
EARTH = 6_371_008.8


def _nan_outside(values: Any, arg: Any) -> Any:
    """Null where ``values`` is NaN although ``arg`` was a number: outside the domain."""
    bad = pc.and_(pc.is_nan(values), pc.invert(pc.is_nan(arg)))
    return pc.if_else(bad, pa.scalar(None, pa.float64()), values) if pc.any(bad).as_py() else values


# --- numbers ----------------------------------------------------------------------------------------------------

function = partial(declare, topic="numbers")


@function(AMOUNT, result=0, example=((-3,), 3))
@reference(abs)
def _abs(x: pa.Array) -> pa.Array:
    """The absolute value."""
    return pc.abs_checked(x)


@function(AMOUNT, result=Type.INT, example=((-2.5,), -1))
@reference(lambda a: (a > 0) - (a < 0))
def sign(x: pa.Array) -> pa.Array:
    """-1, 0 or 1; null for NaN."""
    if pa.types.is_floating(x.type):
        x = pc.if_else(pc.is_nan(x), pa.scalar(None, x.type), x)
    return pc.sign(x).cast(pa.int64())


@function(NUMBER, INT, result=0, least=1, literal=(1,), example=((2.345, 2), 2.35))
@reference(plain.rounded)
def _round(x: pa.Array, digits: int = 0) -> pa.Array:
    """Rounded to ``digits`` decimal places (default 0, or negative); halves away from zero.  Ints stay ints."""
    if pa.types.is_integer(x.type):
        return x if digits >= 0 else _round_ints(x, -digits)
    if digits == 0:
        return halves_away(x)
    if digits > 308:
        return x
    if digits < -308:
        return pc.if_else(pc.is_inf(x), x, pc.multiply(x, 0.0))
    values, valid = floats(x), validity(x)
    size, unit = np.abs(values), 10.0 ** abs(digits)
    with np.errstate(all="ignore"):
        scaled = size * unit if digits > 0 else size / unit
        base = np.floor(scaled)
        # a number that reads 2.345 is a half, though its binary value lies beside it
        below, half = ((n / unit if digits > 0 else n * unit) for n in (base, base + 0.5))
        whole = base + ((size >= half) & (size != below))
        out = np.copysign(whole / unit if digits > 0 else whole * unit, values)
    # from 2**52 on there is nothing behind the point
    return from_numpy(np.where(scaled < 2.0**52, out, values), valid)


def _round_ints(x: pa.Array, places: int) -> pa.Array:
    if places > 19:
        return pc.multiply(x, 0)
    unit, values, valid = np.uint64(10**places), ints(x), validity(x)
    size = np.where(values < 0, np.uint64(0) - values.astype(np.uint64), values.astype(np.uint64))
    whole = size // unit
    whole += size - whole * unit >= unit // np.uint64(2)
    beyond = whole > np.uint64(GREATEST) // unit
    if (beyond if valid is None else beyond & valid).any():
        raise pa.ArrowInvalid("overflow")
    out = (whole * unit).astype(np.int64)
    return from_numpy(np.where(values < 0, -out, out), valid)


@function(NUMBER, result=0, example=((-2.5,), -3.0))
@reference(plain.stepped(math.floor))
def floor(x: pa.Array) -> pa.Array:
    """The largest whole number that is not greater; ints stay ints, floats stay floats."""
    return x if pa.types.is_integer(x.type) else pc.floor(x)


@function(NUMBER, result=0, example=((2.1,), 3.0))
@reference(plain.stepped(math.ceil))
def ceil(x: pa.Array) -> pa.Array:
    """The smallest whole number that is not less; ints stay ints, floats stay floats."""
    return x if pa.types.is_integer(x.type) else pc.ceil(x)


@function(NUMBER, result=0, example=((-2.9,), -2.0))
@reference(plain.stepped(math.trunc))
def trunc(x: pa.Array) -> pa.Array:
    """The number without its fractional part."""
    return x if pa.types.is_integer(x.type) else pc.trunc(x)


@function(FLOAT, result=Type.FLOAT, example=((2.25,), 1.5))
@reference(plain.partial(math.sqrt))
def sqrt(x: pa.Array) -> pa.Array:
    """The square root; null for negative numbers."""
    return _nan_outside(pc.sqrt(x), x)


@function(FLOAT, FLOAT, result=Type.FLOAT, example=((2, 10), 1024.0))
@reference(plain.power)
def power(x: pa.Array, y: pa.Array) -> pa.Array:
    """``x`` to the power ``y`` as a float; null if it is not a real number, infinite beyond float64."""
    a, b = floats(x), floats(y)
    with np.errstate(all="ignore"):
        out = np.power(a, b)
    outside = (np.isnan(out) & ~np.isnan(a) & ~np.isnan(b)) | ((a == 0) & (b < 0))
    return from_numpy(out, validity(x, y, also=~outside))


@function(FLOAT, result=Type.FLOAT, example=((0,), 1.0))
@reference(plain.partial(math.exp))
def exp(x: pa.Array) -> pa.Array:
    """e to the power ``x``; infinite beyond float64."""
    return pc.exp(x)


def _logarithm(kernel: Any, x: pa.Array) -> pa.Array:
    """Null for zero and below."""
    outside = pc.less_equal(x, 0.0)
    return kernel(pc.if_else(outside, pa.scalar(None, pa.float64()), x))


@function(FLOAT, result=Type.FLOAT, example=((1,), 0.0))
@reference(plain.partial(math.log))
def ln(x: pa.Array) -> pa.Array:
    """The natural logarithm; null for zero and negative numbers."""
    return _logarithm(pc.ln, x)


@function(FLOAT, result=Type.FLOAT, example=((1000,), 3.0))
@reference(plain.partial(math.log10))
def log10(x: pa.Array) -> pa.Array:
    """The logarithm to base 10; null for zero and negative numbers."""
    return _logarithm(pc.log10, x)


@function(FLOAT, result=Type.FLOAT, example=((8,), 3.0))
@reference(plain.partial(math.log2))
def log2(x: pa.Array) -> pa.Array:
    """The logarithm to base 2; null for zero and negative numbers."""
    return _logarithm(pc.log2, x)


@function(FLOAT, result=Type.FLOAT, example=((0,), 0.0))
@reference(plain.partial(math.sin))
def sin(x: pa.Array) -> pa.Array:
    """The sine of an angle in radians; null for infinities."""
    return _nan_outside(pc.sin(x), x)


@function(FLOAT, result=Type.FLOAT, example=((0,), 1.0))
@reference(plain.partial(math.cos))
def cos(x: pa.Array) -> pa.Array:
    """The cosine of an angle in radians; null for infinities."""
    return _nan_outside(pc.cos(x), x)


@function(FLOAT, result=Type.FLOAT, example=((0,), 0.0))
@reference(plain.partial(math.tan))
def tan(x: pa.Array) -> pa.Array:
    """The tangent of an angle in radians; null for infinities."""
    return _nan_outside(pc.tan(x), x)


@function(FLOAT, FLOAT, result=Type.FLOAT, example=((0, 1), 0.0))
@reference(math.atan2)
def atan2(y: pa.Array, x: pa.Array) -> pa.Array:
    """The angle of the point (x, y) in radians."""
    return pc.atan2(y, x)


@function(FLOAT, FLOAT, FLOAT, FLOAT, result=Type.FLOAT, example=((0, 0, 0, 90), EARTH * math.pi / 2))
@reference(plain.distance)
def distance(latitude: pa.Array, longitude: pa.Array, latitude2: pa.Array, longitude2: pa.Array) -> pa.Array:
    """The great-circle distance in metres between two places (latitude, longitude, latitude, longitude in degrees), on
    a sphere of the Earth's mean radius; null if a latitude is beyond 90 degrees."""
    columns = (latitude, longitude, latitude2, longitude2)
    (a, b), (c, d) = (floats(x) for x in columns[:2]), (floats(x) for x in columns[2:])
    with np.errstate(all="ignore"):
        inside = (np.abs(a) <= 90) & (np.abs(c) <= 90) & np.isfinite(b) & np.isfinite(d)
        a, b, c, d = (np.radians(np.where(inside, x, 0.0)) for x in (a, b, c, d))
        half = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
        out = 2 * EARTH * np.arcsin(np.sqrt(np.minimum(half, 1.0)))
    return from_numpy(out, validity(*columns, also=inside))


@function(FLOAT, result=Type.FLOAT, example=((180,), math.pi))
@reference(math.radians)
def radians(x: pa.Array) -> pa.Array:
    """Converts degrees to radians."""
    return from_numpy(np.radians(floats(x)), validity(x))


@function(FLOAT, result=Type.FLOAT, example=((math.pi,), 180.0))
@reference(math.degrees)
def degrees(x: pa.Array) -> pa.Array:
    """Converts radians to degrees."""
    return from_numpy(np.degrees(floats(x)), validity(x))


# --- conditions -------------------------------------------------------------------------------------------------

function = partial(declare, topic="values")


@function(ORDERED, result="alike", least=1, repeats=True, scalars=True, example=((3, 1, 2), 1))
@reference(plain.extreme(min))
def least(*args: Any) -> Any:
    """The smallest of the arguments; null if one of them is null."""
    return _with_nan(pc.min_element_wise(*args, skip_nulls=False), args)


@function(ORDERED, result="alike", least=1, repeats=True, scalars=True, example=((3, 1, 2), 3))
@reference(plain.extreme(max))
def greatest(*args: Any) -> Any:
    """The largest of the arguments; null if one of them is null."""
    return _with_nan(pc.max_element_wise(*args, skip_nulls=False), args)


def _with_nan(found: Any, args: tuple[Any, ...]) -> Any:
    """NaN where an argument is NaN, which Arrow passes over."""
    if pa.types.is_floating(found.type):
        for arg in args:
            nan = pc.is_nan(arg)
            if pc.any(nan).as_py():
                found = pc.if_else(pc.and_(nan, pc.is_valid(found)), math.nan, found)
    return found


CATALOGUE["coalesce"] = Function(
    "coalesce", "The first argument that is not null.", (ANY,), "alike", 1, None, None, example=((None, 2, 3), 2)
)
CATALOGUE["nullif"] = Function(
    "nullif",
    "The first argument, or null if it equals the second.",
    (ANY, ANY),
    "alike",
    2,
    2,
    None,
    example=((1, 1), None),
)
CATALOGUE["if"] = Function(
    "if",
    "if(c, a, b): a if c is true, else b; more pairs of a condition and a value can precede b.",
    (ANY,),
    "alike",
    3,
    None,
    None,
    example=((False, 1, 2), 2),
)


# --- casts ------------------------------------------------------------------------------------------------------

function = partial(declare, topic="types")


@function(ANY, result=Type.STRING, typed=True, example=((1.0,), "1.0"))
@reference(plain.string)
def string(x: pa.Array, types: tuple[Type, ...] = ()) -> pa.Array:
    """The value as text: numbers in the shortest exact form, times as ``2024-01-05T09:00:00Z``."""
    t = types[0]
    if t is Type.TIMESTAMP:
        text = pc.strftime(x.view(pa.timestamp("us")), format="%Y-%m-%dT%H:%M:%S")
        text = pc.replace_substring_regex(text, r"\.0+$", "")
        return pc.binary_join_element_wise(text, "Z", "")
    if t is Type.FLOAT:
        return pa.array(floats(x).astype(str), pa.string(), mask=invalid(x))
    return x.cast(pa.string())


def invalid(x: pa.Array) -> np.ndarray | None:
    """Booleans (n): the null rows; None if there are none."""
    valid = validity(x)
    return None if valid is None else ~valid


_NUMBER = r"^[ \t\n\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\r]*$"
_WHOLE = r"^[ \t\n\r]*[+-]?[0-9]+[ \t\n\r]*$"


def _parsed(text: pa.Array, pattern: str) -> pa.Array:
    """Text that matches, without blanks and plus sign; else null."""
    text = pc.if_else(pc.match_substring_regex(text, pattern), text, pa.scalar(None, pa.string()))
    return pc.utf8_ltrim(pc.utf8_trim(text, characters=" \t\n\r"), characters="+")


@function(NUMBER | STRING | BOOL, result=Type.FLOAT, example=(("2.5",), 2.5))
@reference(plain.to_float)
def _float(x: pa.Array) -> pa.Array:
    """Converts to a float: text in decimal notation, true to 1.0, false to 0.0; null for other text."""
    if pa.types.is_string(x.type):
        # numpy reads every decimal to the nearest float and gives infinity beyond; "nan" and "inf" do not match
        text = _parsed(x, _NUMBER)
        return from_numpy(pc.fill_null(text, "0").to_numpy(zero_copy_only=False).astype(np.float64), validity(text))
    if pa.types.is_boolean(x.type):
        return x.cast(pa.int64()).cast(pa.float64())
    return x.cast(pa.float64(), safe=False)


@function(NUMBER | STRING | BOOL, result=Type.FLOAT, example=(("x",), None))
@reference(plain.to_float)
def number(x: pa.Array) -> pa.Array:
    """The same as ``float``: text that is not a number is null."""
    return _float(x)


@function(NUMBER | STRING | BOOL, result=Type.INT, example=((-2.9,), -2))
@reference(plain.to_int)
def _int(x: pa.Array) -> pa.Array:
    """Converts to an int; drops the fractional part.  Null beyond int64 and for text that is not a whole number."""
    if pa.types.is_floating(x.type):
        values = floats(x)
        inside = (values >= -(2.0**63)) & (values < 2.0**63)
        return from_numpy(np.trunc(np.where(inside, values, 0.0)).astype(np.int64), validity(x, also=inside))
    if pa.types.is_string(x.type):
        text = pc.replace_substring_regex(_parsed(x, _WHOLE), r"^(-?)0+([0-9])", r"\1\2")
        # up to 18 digits are always an int64; the few longer ones are looked at one by one
        short = pc.less_equal(pc.utf8_length(text), 18)
        out = pc.if_else(short, text, pa.scalar(None, pa.string())).cast(pa.int64())
        rows = np.flatnonzero(pc.fill_null(pc.invert(short), False).to_numpy(zero_copy_only=False))
        if len(rows):
            found = out.to_pylist()
            for row in rows.tolist():
                value = int(text[row].as_py())
                found[row] = value if LEAST <= value <= GREATEST else None
            out = pa.array(found, pa.int64())
        return out
    return x.cast(pa.int64())


@function(STRING, result=Type.TIMESTAMP, example=(("2024-01-05T09:00:00Z",), 1_704_445_200_000_000))
@reference(plain.partial(plain.timestamp, beyond=None))
def timestamp(x: pa.Array) -> pa.Array:
    """Converts text to a time (ISO 8601, UTC if it has no zone); null for other text."""
    return functions_time.read_times(x)
