"""Intervals that are known before they are given: what operators with a delay share (phenesthe.md, section 5).

Such an operator knows intervals up to some instant and gives them up to an earlier one, ``complete``.  Of what it
knows it keeps the ``ended`` (with ends after ``complete``), and as ``soon`` the starts after it of what has not ended.
"""

from __future__ import annotations

import numpy as np

from occurs.operators.interval.signals import OPEN, Held, Intervals, Spans


class _Ends:
    """``OPEN`` as often as one likes: what is open is given in every call, so this should cost nothing."""

    def __init__(self) -> None:
        self._all = np.zeros(0, np.int64)

    def __call__(self, n: int) -> np.ndarray:
        found = self._all
        if len(found) < n:
            found = np.full(2 * n, OPEN)
            found.flags.writeable = False
            self._all = found
        return found[:n]


#: ``OPEN`` so many times; not to be written to
all_open = _Ends()


def opened(held: Held) -> Intervals:
    """A table of what has not ended (its column ``start``) as intervals; their ends are not to be written to."""
    start = held.columns["start"]
    return Intervals(held.codes, start, all_open(len(start)))


def as_ended(intervals: Intervals) -> Held:
    """Intervals as a table with ``start`` and ``end``."""
    return Held(intervals.codes, {"start": intervals.start, "end": intervals.end})


def as_intervals(held: Held) -> Intervals:
    """A table with ``start`` and ``end`` as intervals."""
    return Intervals(held.codes, held.columns["start"], held.columns["end"])


def began(closed: Intervals, open: Intervals, since: int) -> Intervals:
    """Those of both that began after ``since``."""
    new = [part.take(part.start > since) for part in (closed, open) if len(part)]
    return Intervals.concat(new) if new else closed


def release(running: Intervals, ended: Intervals, soon: Held, since: int, complete: int) -> tuple[Spans, Held, Held]:
    """What is given in (``since``, ``complete``], and the new ``ended`` and ``soon``.

    ``running``: all that is known and has not ended.  ``ended``: all that has, with ends after ``since``.  ``soon``: of
    0 variables, the starts in ``running`` that are after ``since``.
    """
    if not len(ended) and not len(soon):
        nothing = Intervals.empty(len(running.codes))
        return Spans(nothing, nothing, running, since, complete), as_ended(ended), soon
    over = ended.end <= complete
    closed, kept = ended.take(over), ended.take(~over)
    open = running
    if len(soon):
        open = running.take(running.start <= complete)
    if len(kept):
        now = kept.take(kept.start <= complete)
        now = Intervals(now.codes, now.start, all_open(len(now)))
        open = Intervals.concat([open, now])
    new = soon.columns["start"]
    spans = Spans(closed, began(closed, open, since), open, since, complete)
    return spans, as_ended(kept), Held((), {"start": new[new > complete]})
