"""Times that could not be read: the common formats in which they would be, for hints.

Nothing is read by a guess: `05/01/2024` has two readings, and the next file may show another one.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa

from occurs.model.badrows import SKIP
from occurs.model.ticks import parse_timestamps
from occurs.model.timeformat import MONTH, TimeFormat

_DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%y",
    "%m/%d/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d %Y", "%b %d, %Y", "%d/%b/%Y",
    "%a, %d %b %Y", "%a %d %b %Y", "%Y-%m-%d", "%Y %b %d",
)  # fmt: skip
_HOURS = ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%H:%M:%S,%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%H%M%S")
_ZONES = ("", " %z", "%z", " %Z")
_BETWEEN = (" ", "T", ":", ", ")
_WHOLE = ("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y", "%a %b %d %H:%M:%S %z %Y")
_SYSLOG = re.compile(rf"\s*(?:[a-z]{{3}} )?{MONTH}\s+\d+\s+\d\d:\d\d", re.IGNORECASE)


@lru_cache(1)
def _common() -> tuple[str, ...]:
    timed = (f"{d}{b}{h}{z}" for h in _HOURS[1:] for z in _ZONES for b in _BETWEEN for d in _DAYS)
    return (*_DAYS, *timed, *_WHOLE)


def formats_of(values: list[str]) -> list[str]:
    """The common formats in which all of some texts are times, the likeliest first; none of no texts."""
    first = pa.chunked_array([pa.array(values[:1], pa.string())])
    likely = [f for f in _common() if values and re.match(TimeFormat.of(f).pattern, values[0].lower(), re.ASCII)]
    every = pa.chunked_array([pa.array(values, pa.string())])
    fitting = (f for f in likely if not parse_timestamps(TimeFormat.of(f).iso(first)).null_count)
    return [f for f in fitting if not parse_timestamps(TimeFormat.of(f).iso(every)).null_count]


def time_hint(values: list[object], wanted: str | None) -> str | None:
    """What helps to read some times that could not be read; ``wanted``: the format in which they were expected."""
    texts = [v for v in values if isinstance(v, str)]
    found = formats_of(texts)
    if found:
        quoted = [f'"{f}"' for f in found]
        text = f"read them with --time-format {quoted[0]}"
        if len(found) > 1 and (found[0][1], found[1][1]) == ("d", "m"):
            text += f" if the day comes first, or with --time-format {quoted[1]} if the month does"
        return f"{text} (Python: time_format=..)"
    if wanted is not None:
        return f'they do not match --time-format "{wanted}"; {SKIP}'
    if texts and _SYSLOG.match(texts[0]):
        example = f"2024 {texts[0].strip()}"
        return f'they have no year; put it before each time, `{example}`, and use --time-format "%Y %b %d %H:%M:%S"'
    if texts and re.fullmatch(r"\s*\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\s*", texts[0]):
        return "a time of day has no date; put the date before it, as in 2024-01-05T09:00:00"
    numbers = [v for v in values if isinstance(v, float) and abs(v) < 1e12]
    if numbers:
        return f"times must be whole numbers: write {round(numbers[0] * 1000)} with --time-unit ms"
    return None
