"""The timers of patterns: nodes that are true at an instant, and what the machine has of them.

A timer has a class here, and its next instant is computed in kernels/pattern_timers.py.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_timers import (
    ALLOWED,
    AT,
    DAY,
    HOUR,
    INTERVAL,
    LAST_DAY,
    LAST_OF,
    LAST_WEEKDAY,
    MICROSECOND,
    MILLISECOND,
    MINUTE,
    MONTH,
    NEAREST,
    SCHEDULE,
    SECOND,
    WEEKDAY,
)
from occurs.operators.sequence.tree import Length, Node, Shift

if TYPE_CHECKING:
    from occurs.operators.sequence.machine_program import Layout


@dataclass(frozen=True)
class Timer(Node):
    """True at an instant.

    ``kind``: its number in the machine.  ``word``: what users call it.  ``stays``: is it true again and again,
    directly below an ``every``?
    """

    kind: ClassVar[int]
    word: ClassVar[str]
    stays: ClassVar[bool] = False

    @abstractmethod
    def fill(self, row: list[int], layout: Layout) -> None:
        """Put what ``due`` of kernels/pattern_timers.py needs into its row of the table of nodes."""


@dataclass(frozen=True)
class Interval(Timer):
    """True ``ticks`` after its start; 0: at once; ``length``: instead of ``ticks``."""

    kind, word = INTERVAL, "timer:interval"
    ticks: int
    shift: Shift | None = None
    length: Length = ()

    @property
    def fixed(self) -> bool:
        """Is it always as long?"""
        return self.shift is None and not self.length

    @property
    def instant(self) -> bool:
        return self.ticks == 0 and self.fixed

    def fill(self, row: list[int], layout: Layout) -> None:
        row[T.ONE] = self.ticks
        row[T.LENGTH] = int(bool(self.length))
        layout.shift(self.shift, row)


@dataclass(frozen=True)
class At(Timer):
    """True at the next instant of a calendar strictly after its start.

    ``fields``: the numbers allowed for second, minute, hour, day of month, month, day of week (0: Sunday), ascending;
    None: all.  ``tick``: microseconds per tick, counted from 1970-01-01 (``zone``).  ``below``: the same for
    millisecond and microsecond.  ``day``: a rule instead of numbers: last (of the month), last_of (n: the last of this
    day of the week), last_weekday (the last of Monday to Friday), weekday (n: the nearest of Monday to Friday).
    """

    kind, word = AT, "timer:at"
    fields: tuple[tuple[int, ...] | None, ...]
    tick: int
    zone: str = "UTC"
    below: tuple[tuple[int, ...] | None, ...] = ((0,), (0,))
    day: tuple[str, int] | None = None

    def fill(self, row: list[int], layout: Layout) -> None:
        layout.calendar(_allowed(self), self.tick, self.zone, row)


@dataclass(frozen=True)
class Schedule(Timer):
    """True at instants that lie a period apart, ``ticks`` behind ``shift``; directly below ``every`` at each of them.

    ``date``: a tick where they begin; None: the start of the instance.  ``leads``: is the date the first of them?
    ``count``: how many there are; None: any number.  Those that are not behind the start of the instance are left out.
    """

    kind, word, stays = SCHEDULE, "timer:schedule", True
    date: int | None
    count: int | None
    leads: bool
    ticks: int
    shift: Shift | None = None

    def fill(self, row: list[int], layout: Layout) -> None:
        row[T.ONE] = self.ticks
        row[T.TWO] = -1 if self.count is None else self.count
        row[T.THREE], row[T.FOUR] = int(self.leads), int(self.date is not None)
        row[T.DATE] = self.date or 0
        layout.shift(self.shift, row)


# -- calendars ---------------------------------------------------------------------------------------------------------
#: fields of a calendar: where their numbers begin in the table of those allowed, and the numbers that there are
_FIELDS = (
    (SECOND, 0, 60),
    (MINUTE, 0, 60),
    (HOUR, 0, 24),
    (DAY, 1, 32),
    (MONTH, 1, 13),
    (WEEKDAY, 0, 7),
    (MILLISECOND, 0, 1000),
    (MICROSECOND, 0, 1000),
)
#: where the numbers of rules for days begin
_RULES = {"last": LAST_DAY, "last_weekday": LAST_WEEKDAY, "weekday": NEAREST, "last_of": LAST_OF}


def _allowed(node: At) -> np.ndarray:
    out = np.zeros(ALLOWED, np.bool_)
    for (begin, low, high), numbers in zip(_FIELDS, (*node.fields, *node.below), strict=True):
        for n in range(low, high) if numbers is None else numbers:
            out[begin + n] = True
    if node.day is not None:
        kind, n = node.day
        out[DAY : DAY + 32] = False
        out[_RULES[kind] + n] = True
    return out
