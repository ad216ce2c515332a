"""The operands of relations: instants, states and dynamic phenomena read alike (phenesthe.md, sections 4.5 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.frontiers import Frontiers
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Lag, Lags, Points, Signal, Spans
from occurs.operators.kernels import emit_once as giving

ROWS = ("start", "end")
#: so many kept rows may be looked at in every call
FEW = 32


@dataclass(frozen=True)
class Side:
    """One operand in one call.

    ``new``: the rows that became final in it; at closing the open ones too, with the end ``OPEN``.  ``open``: all that
    are known to have begun and have not ended; nothing at closing.  ``known``: up to where the rest is known.
    """

    variables: tuple[str, ...]
    new: Intervals
    open: Intervals
    known: Frontiers

    @staticmethod
    def of(variables: tuple[str, ...], signal: Signal, call: Call) -> Side:
        lags: Sequence[Lag] | Lags = ()
        if isinstance(signal, Points):
            new, open = Intervals(signal.codes, signal.time, signal.time), Intervals.empty(len(variables))
        elif isinstance(signal, Spans):
            new, open = signal.closed, signal.open
        else:
            new, open, lags = signal.closed, signal.open, signal.lags
        if call.closing:
            new, open = Intervals.concat([new, open]), Intervals.empty(len(variables))
            return Side(variables, new, open, Frontiers(OPEN))
        return Side(variables, new, open, Frontiers(signal.complete, lags))


def rows_of(table: Held) -> Intervals:
    """The rows of a table of intervals."""
    return Intervals(table.codes, table.columns["start"], table.columns["end"])


def held(rows: Intervals, **more: np.ndarray) -> Held:
    """A table of intervals."""
    return Held(rows.codes, {"start": rows.start, "end": rows.end, **more})


def once(
    given: Held, rows: Intervals, complete: int, lags: Lags, pending: np.ndarray, places: np.ndarray
) -> tuple[Intervals, Held]:
    """The rows that were not given before, each once; and of what has been given now, what could be derived again (see
    the kernel).  ``pending``: the block of the right rows that are not decided."""
    if not (len(given) or len(rows)):
        return rows, given
    found, kept = giving.once(given.block, rows.block, complete, lags.block, lags.cuts, pending, places)
    return Intervals.of(found), Held.of(kept, ROWS)


def split(rows: Intervals) -> tuple[Intervals, Intervals]:
    """Those that have ended, and those that have not."""
    ended = rows.end != OPEN
    if ended.all():
        return rows, Intervals.empty(len(rows.codes))
    return rows.take(ended), rows.take(~ended)
