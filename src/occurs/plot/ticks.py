"""Where a time axis has its marks, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from occurs.model.time import TimeKind

_MS, _SECOND = 1_000, 1_000_000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3_600 * _SECOND, 86_400 * _SECOND
_STEPS = (
    *(n * 10**k for k in range(6) for n in (1, 2, 5)),
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)
_MONTH = 30.44 * _DAY
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Tick:
    """A mark at ``at`` (ticks of time), its text, and a second line where what the text leaves out has changed."""

    at: int
    text: str
    below: str = ""


def ticks(start: int, end: int, kind: TimeKind, most: int) -> list[Tick]:
    """About ``most`` marks between two instants, at round times."""
    rough = max(end - start, 1) / max(most, 1)
    if not kind.timestamp:
        step = next(n * 10**k for k in range(20) for n in (1, 2, 5) if n * 10**k >= rough)
        return [Tick(t, f"{t}") for t in range(-(-start // step) * step, end + 1, step)]
    try:
        found = _months(start, end, rough) if rough > 14 * _DAY else _steps(start, end, rough)
    except OverflowError:  # before the year 1, or after 9999
        return []
    return [
        Tick(t, text, below if not i or below != found[i - 1][2] else "") for i, (t, text, below) in enumerate(found)
    ]


def _steps(start: int, end: int, rough: float) -> list[tuple[int, str, str]]:
    step = next((s for s in _STEPS if s >= rough), 14 * _DAY)
    # weeks begin on Mondays: the first day of 1970 was a Thursday
    shift = 4 * _DAY if step % (7 * _DAY) == 0 else 0
    return [(t, *_called(t, step)) for t in range(-(-(start - shift) // step) * step + shift, end + 1, step)]


def _called(t: int, step: int) -> tuple[str, str]:
    at = _EPOCH + timedelta(microseconds=t)
    day = f"{at.day} {_NAMES[at.month - 1]}"
    if step >= _DAY:
        return day, str(at.year)
    text = f"{at:%H:%M}" if step >= _MINUTE else f"{at:%H:%M:%S}"
    if step < _SECOND:
        text += f".{at.microsecond // _MS:03d}" if step >= _MS else f".{at.microsecond:06d}"
    return text, f"{day} {at.year}"


def _months(start: int, end: int, rough: float) -> list[tuple[int, str, str]]:
    step = next((m for m in _MONTHS if m * _MONTH >= rough), _MONTHS[-1])
    first = _EPOCH + timedelta(microseconds=start)
    month = first.year * 12 + first.month - 1
    out = []
    for m in range(-(-month // step) * step, 9999 * 12, step):
        at = datetime(m // 12, m % 12 + 1, 1, tzinfo=UTC)
        t = (at - _EPOCH) // timedelta(microseconds=1)
        if t > end:
            break
        if t >= start:
            out.append((t, str(at.year), "") if step >= 12 else (t, _NAMES[m % 12], str(at.year)))
    return out
