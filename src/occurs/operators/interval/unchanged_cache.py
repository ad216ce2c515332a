"""Calls in which nothing changes: what was concluded in the call before still holds (phenesthe.md, section 5).

What a relation keeps, gives and says of its frontiers depends on its tables, on what its operands have added, on the
rows of theirs that are open and on their frontiers.  Frontiers are compared with the starts and ends of kept rows (or
the ticks before them): where an operand does not lag they rise with the history, but once all kept rows lie behind
them that decides nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from occurs.operators.interval.frontiers import Frontiers
from occurs.operators.interval.sides import Side
from occurs.operators.interval.signals import NEVER, Held, Intervals, Lag, Lags
from occurs.operators.kernels.blocks import alike

_KEPT_BY = "left"


@dataclass
class Settled:
    """What a call has left behind: its tables, what it saw of its operands (what is open, frontiers), the lags that it
    gave.  It belongs to the table ``left`` and is no state: after a restart the next call does without."""

    tables: tuple[Held, ...]
    left: tuple[Intervals, Frontiers]
    right: tuple[Intervals, Frontiers]
    lags: Sequence[Lag] | Lags
    _latest: int | None = field(default=None)

    @property
    def complete(self) -> int:
        return min(self.left[1].complete, self.right[1].complete)

    def latest(self, state: Mapping[str, Held]) -> int:
        """The last tick of all rows that are kept."""
        if self._latest is None:
            ticks = [t.columns.get("end", t.columns["start"]) for t in state.values() if len(t)]
            self._latest = max((int(t.max()) for t in ticks), default=NEVER)
        return self._latest


def settle(state: Mapping[str, Held], left: Side, right: Side, lags: Sequence[Lag] | Lags) -> None:
    """Notes what a call has concluded."""
    seen = (left.open, left.known), (right.open, right.known)
    state[_KEPT_BY].note = Settled(_others(state), *seen, lags)


def unchanged(state: Mapping[str, Held], left: Side, right: Side) -> Sequence[Lag] | Lags | None:
    """What a call that changes nothing says of its lags; None if it might change something."""
    if len(left.new) or len(right.new):
        return None
    note = state[_KEPT_BY].note
    if not isinstance(note, Settled):
        return None
    same = all(a is b for a, b in zip(note.tables, _others(state)))
    if not (same and note.latest(state) <= note.complete and _seen(note.left, left) and _seen(note.right, right)):
        return None
    return note.lags


def _others(state: Mapping[str, Held]) -> tuple[Held, ...]:
    return tuple([table for name, table in state.items() if name != _KEPT_BY])


def _seen(before: tuple[Intervals, Frontiers], now: Side) -> bool:
    """Whether the same rows are open, and the same bindings lag."""
    (open, known), lags = before, now.known.lags
    if open is not now.open and not _equal((*open.codes, open.start), (*now.open.codes, now.open.start)):
        return False
    if known.lags is lags:
        return True
    if isinstance(known.lags, Lags) and isinstance(lags, Lags):
        same = known.lags.variables == lags.variables and _equal((known.lags.cuts,), (lags.cuts,))
        return same and alike(known.lags.block, lags.block)
    return len(known.lags) == len(lags) and all(
        a is b or (a.variables == b.variables and _equal((*a.codes, a.starts, a.ends), (*b.codes, b.starts, b.ends)))
        for a, b in zip(known.lags, lags)
    )


def _equal(before: Sequence[np.ndarray], now: Sequence[np.ndarray]) -> bool:
    return all(a is b or (len(a) == len(b) and bool((a == b).all())) for a, b in zip(before, now))
