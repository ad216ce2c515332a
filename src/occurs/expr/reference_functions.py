"""The scalar functions in the reference semantics: plain Python, one value at a time (common.md section 6).

Arguments are never null here: a function of null is null before it is called.  A result of None is null: outside its
domain every function is.  Times are int microseconds since 1970 UTC.  ``re`` stands for RE2: of patterns that both
know they say the same.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from occurs.model.types import Type

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
#: texts are not made longer than this: null
LONGEST = 1 << 20


def partial(f: Callable[..., Any], beyond: Any = math.inf) -> Callable[..., Any]:
    """``f``, null where it raises ValueError (its domain ends), ``beyond`` where float64 does."""

    def apply(*args: Any) -> Any:
        try:
            return f(*args)
        except ValueError:
            return None
        except OverflowError:
            return beyond

    return apply


def extreme(f: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` or ``max``; NaN if a value is."""
    return lambda *values: math.nan if any(v != v for v in values) else f(values)


def power(a: Any, b: Any) -> Any:
    """Float power; null outside the real numbers, infinite beyond float64."""
    try:
        return math.pow(a, b)
    except ValueError:
        return None
    except OverflowError:
        return -math.inf if a < 0 and float(b) % 2 == 1 else math.inf


def stepped(f: Callable[[Any], int]) -> Callable[[Any], Any]:
    """A rounding function: ints stay ints; floats stay floats (so infinities need no rule)."""
    return lambda a: a if not isinstance(a, float) or math.isinf(a) else float(f(a))


def rounded(a: Any, digits: int = 0) -> Any:
    """To so many places after the point (negative: before it), halves away from zero.

    A float is a half if it is the float of a decimal half: 2.345 and 0.285 are, though their binary values lie beside
    them.  From 2**52 on (counted in the last place that stays) a float has no halves and stays as it is.
    """
    if isinstance(a, float) and (math.isinf(a) or digits > 308):
        return a
    if digits < -308:
        return a * 0
    if not isinstance(a, float):
        return a if digits >= 0 else _signed(a, (abs(a) + 10**-digits // 2) // 10**-digits * 10**-digits)
    scale = Fraction(10) ** digits
    scaled = abs(Fraction(a)) * scale
    if scaled >= 2**52:
        return a
    whole = math.floor(scaled)
    below, half = float(whole / scale), float((whole + Fraction(1, 2)) / scale)
    if below < abs(a) >= half:
        whole += 1
    return math.copysign(float(whole / scale), a)


def _signed(like: int, amount: int) -> int:
    return -amount if like < 0 else amount


def nearest_float(exact: Any) -> float:
    """The nearest float; infinite beyond float64."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


# --- casts --------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"[ \t\n\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\r]*")
WHOLE = re.compile(r"[ \t\n\r]*[+-]?[0-9]+[ \t\n\r]*")
CLOCK = r"(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)"
ISO = re.compile(rf"(\d{{4}}-\d{{2}}-\d{{2}})(?:[T ]{CLOCK}\s?(Z|z|[+-]\d{{2}}(?::?\d{{2}})?)?)?", re.ASCII)


def to_float(a: Any) -> Any:
    if isinstance(a, str):
        return float(a) if NUMBER.fullmatch(a) else None
    return float(a)


def to_int(a: Any) -> Any:
    if isinstance(a, str):
        value = int(a) if WHOLE.fullmatch(a) else None
    else:
        value = None if isinstance(a, float) and math.isinf(a) else int(a)
    return value if value is not None and -(2**63) <= value < 2**63 else None


def timestamp(a: str) -> int | None:
    found = ISO.fullmatch(a.strip())
    if not found:
        return None
    day, clock, zone = found.groups()
    at = datetime.fromisoformat(f"{day}T{clock or '00:00'}{(zone or 'Z').upper()}")
    return (at - EPOCH) // timedelta(microseconds=1)


def string(a: Any, t: Type | None = None) -> str:
    """A value as text: a time in ISO 8601, a number so that it reads back alike."""
    if t is Type.TIMESTAMP:
        return _at(a).isoformat().replace("+00:00", "Z")
    return str(a).lower() if isinstance(a, bool) else str(a)


# --- text: positions count characters from 1 ----------------------------------------------------------------------


def substring(a: str, start: int, size: int | None = None) -> str:
    """From character ``start`` (from 1; negative: from the end), ``size`` characters or to the end."""
    first = len(a) + start if start < 0 else max(start, 1) - 1
    stop = len(a) if size is None else first + max(0, size)
    return a[max(0, first) : max(0, stop)]


def split_part(a: str, separator: str, n: int) -> str | None:
    if n == 0:
        return None
    parts = a.split(separator) if separator else [a]
    at = n - 1 if n > 0 else len(parts) + n
    return parts[at] if 0 <= at < len(parts) else ""


def padding(a: str, width: int, fill: str) -> str:
    return (fill * max(0, width))[: max(0, width - len(a))]


def padded(f: Callable[[str, int, str], str]) -> Callable[..., Any]:
    return lambda a, width, fill=" ": None if width > LONGEST else f(a[: max(0, width)], width, fill)


def extract(a: str, pattern: str, group: int = 0) -> str | None:
    found = re.search(pattern, a)
    return None if found is None or not 0 <= group <= len(found.groups()) else found[group] or ""


def like(text: str, pattern: str) -> bool:
    """``%`` any text, ``_`` one character, a backslash makes the next character itself."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    return re.fullmatch("".join(wild.get(p, re.escape(p[-1])) for p in parts), text, re.DOTALL) is not None


def digest(name: str) -> Callable[[str], str]:
    return lambda a: hashlib.new(name, a.encode(), usedforsecurity=False).hexdigest()


def bucket(a: str, size: int) -> int | None:
    return int(digest("sha256")(a)[:16], 16) % size if size > 0 else None


def regexp(f: Callable[..., Any]) -> Callable[..., Any]:
    """Null if the pattern is no regular expression."""

    def apply(*args: str) -> Any:
        try:
            return f(*args)
        except re.error:
            return None

    return apply


# --- places -------------------------------------------------------------------------------------------------------

EARTH = 6_371_008.8


def distance(a: float, b: float, c: float, d: float) -> float | None:
    """On a sphere: the haversine formula."""
    if abs(a) > 90 or abs(c) > 90 or math.isinf(b) or math.isinf(d):
        return None
    a, b, c, d = (math.radians(x) for x in (a, b, c, d))
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(min(half, 1.0)))


# --- times, in UTC or a zone --------------------------------------------------------------------------------------


def _at(a: int, zone: str = "UTC") -> datetime:
    """What clocks of a zone show; raises ValueError if there is no such zone."""
    try:
        return (EPOCH + timedelta(microseconds=a)).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, IsADirectoryError) as error:
        raise ValueError(zone) from error


def calendar(f: Callable[[datetime], Any]) -> Callable[..., Any]:
    return partial(lambda a, zone="UTC": f(_at(a, zone)))


def trunc(unit: str, a: int, zone: str = "UTC") -> int | None:
    at = _at(a, zone)
    day = at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    starts = {
        "year": day.replace(month=1, day=1),
        "quarter": day.replace(month=(at.month - 1) // 3 * 3 + 1, day=1),
        "month": day.replace(day=1),
        "week": day - timedelta(days=day.weekday()),
        "day": day,
        "hour": at.replace(minute=0, second=0, microsecond=0),
        "minute": at.replace(second=0, microsecond=0),
        "second": at.replace(microsecond=0),
        "millisecond": at.replace(microsecond=at.microsecond // 1000 * 1000),
    }
    start = starts.get(unit.lower().removesuffix("s"))
    return None if start is None else (start - EPOCH) // timedelta(microseconds=1)
