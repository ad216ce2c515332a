"""Time: int64 ticks, and durations with units (common.md, sections 1 and 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

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

TimeUnit = Literal["us", "ms", "s", "min", "h", "d"]


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


def floor_ticks(ticks: Fraction) -> int:
    """For closed bounds: ages of whole ticks at most ``ticks``."""
    return math.floor(ticks)


def ceil_ticks(ticks: Fraction) -> int:
    """For open bounds: ages of whole ticks less than ``ticks`` are those less than its ceiling."""
    return math.ceil(ticks)
