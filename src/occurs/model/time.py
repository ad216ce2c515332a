"""Time: int64 ticks, and durations with units (common.md, sections 1 and 6)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

#: microseconds per unit; "tick" has none: it is whatever the time column counts
UNIT_MICROSECONDS: dict[str, int] = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}

_SPELLINGS = {
    "us": ("us", "µs", "μs", "usec", "microsecond"),
    "ms": ("ms", "msec", "millisecond"),
    "s": ("s", "sec", "second"),
    "min": ("min", "minute"),
    "h": ("h", "hr", "hour"),
    "d": ("d", "day"),
    "w": ("w", "week"),
    "tick": ("tick",),
}
#: every spelling, singular or plural, to its unit
UNITS: dict[str, str] = {form: unit for unit, forms in _SPELLINGS.items() for f in forms for form in (f, f + "s")}

#: how many digits a number in a duration may have, and how large its exponent may be
_DIGITS, _EXPONENT = 40, 30
_NUMBER = re.compile(r"(?P<mantissa>\d+(?:\.\d+)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d+))?")


def exact_number(text: str) -> Fraction | None:
    """The exact value of a number in a duration; None if it has so many digits, or so large an exponent, that no
    time is that long.  The limit bounds the work: an exact value has as many digits as its exponent says.

    >>> exact_number("1.5e3"), exact_number("1e999999999")
    (Fraction(1500, 1), None)
    """
    found = _NUMBER.fullmatch(text)
    exponent = (found and found["exponent"]) or "0"
    if found is None or len(found["mantissa"]) > _DIGITS or len(exponent) > 4 or abs(int(exponent)) > _EXPONENT:
        return None
    return Fraction(text)


@dataclass(frozen=True, slots=True)
class Duration:
    """An exact length of time: ``amount`` microseconds, or ticks if ``ticks``."""

    amount: Fraction
    ticks: bool = False


@dataclass(frozen=True, slots=True)
class TimeKind:
    """What the int64 ticks of a run count.

    ``timestamp``: microseconds since 1970 UTC.  Otherwise integers, of ``unit`` (us, ms, s, min, h, d) or of no
    declared unit (None): then durations with units are ``missing-unit``.
    """

    timestamp: bool = True
    unit: str | None = "us"

    @property
    def tick(self) -> int | None:
        """Microseconds per tick, None if unknown."""
        return UNIT_MICROSECONDS[self.unit] if self.unit else None

    def convert(self, duration: Duration) -> Fraction | None:
        """The exact number of ticks; None if the units cannot be related (``missing-unit``)."""
        if duration.ticks:
            # a bare count of ticks over timestamps is refused: nobody counts microseconds by accident
            return None if self.timestamp else duration.amount
        return None if self.tick is None else duration.amount / self.tick


TIMESTAMP = TimeKind()

#: the end of an open interval, and a frontier behind which nothing can change: later than every tick
OPEN = 2**63 - 1
#: a frontier before the first call: before every tick
NEVER = -(2**63)


def floor_ticks(ticks: Fraction) -> int:
    """For closed bounds: ages of whole ticks at most ``ticks``."""
    return math.floor(ticks)


def ceil_ticks(ticks: Fraction) -> int:
    """For open bounds: ages of whole ticks less than ``ticks`` are those less than its ceiling."""
    return math.ceil(ticks)


def duration(ticks: int, kind: TimeKind) -> str:
    """Ticks as text, in the largest units that divide them: ``1 h 30 min``."""
    if kind.tick is None:
        return f"{ticks} ticks"
    left = ticks * kind.tick
    parts = []
    for name in ("d", "h", "min", "s", "ms", "us"):
        size = UNIT_MICROSECONDS[name]
        if left >= size:
            parts.append(f"{left // size} {name}")
            left %= size
    return " ".join(parts) or "0 s"
