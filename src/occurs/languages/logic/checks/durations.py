"""Durations of triggers, judged by what times count (common.md, sections 1 and 6)."""

from __future__ import annotations

from fractions import Fraction

from occurs.errors import Span
from occurs.expr.text import Text
from occurs.languages.logic import syntax
from occurs.model.time import Duration, TimeKind

#: that may be added to a time in int64
LONGEST = 2**62


def check_duration(
    duration: Duration, span: Span | None, source: Text, kind: TimeKind | None, whole: bool = False
) -> Fraction | None:
    """The ticks of a duration, None if they are not known.

    Reports ``missing-unit``, and durations that are not whole in ticks: with ``whole`` as error, as ``bad-duration``,
    and those that are too long to add up.
    """
    ticks = duration.amount if duration.ticks and kind is None else None
    if kind is not None:
        ticks = kind.convert(duration)
        if ticks is None:
            if duration.ticks:
                hint = "write a unit, as in `10 min` or `30 s`"
                source.report("missing-unit", "a duration needs a unit if times are timestamps", span, hint)
            else:
                hint = "set it with `--time-unit s` (or us, ms, min, h, d), or write a number of ticks without a unit"
                source.report("missing-unit", "a duration needs the unit of the integer time column", span, hint)
            return None
    if whole and ticks is not None and ticks > LONGEST:
        source.report("bad-duration", "the duration does not fit in 64 bits", span, "write a shorter duration")
        return ticks
    if ticks is None or ticks.denominator == 1:
        return ticks
    unit = f"one tick is 1 {kind.unit}" if kind is not None and kind.unit else "times are whole numbers of ticks"
    message = "the duration is not a whole number of ticks"
    if whole:
        source.report("bad-duration", message, span, f"{unit}: write a multiple of that")
    else:
        source.warn("inexact-duration", message, span, f"{unit}; the duration is compared exactly")
    return ticks


def check_bound(bound: syntax.Bound, source: Text, kind: TimeKind | None) -> None:
    """Report durations of a bound, one that ends before it begins, and warn of one that needs a state at one time."""
    low = check_duration(bound.first, bound.span, source, kind)
    if bound.second is not None:
        high = check_duration(bound.second, bound.span, source, kind)
        if low is not None and high is not None and low > high:
            source.report("bad-bound", "the bound ends before it begins", bound.span, "write the smaller number first")
    exact = bound.op == "=" or (bound.second is not None and bound.first == bound.second)
    if exact:
        hint = "there may be no state at that time; `[>=c]` takes the first state at that time or later"
        source.warn("exact-bound", "this bound needs a state at exactly that time", bound.span, hint)
