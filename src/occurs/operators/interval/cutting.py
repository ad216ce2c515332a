r"""Complement of intervals (phenesthe.md, sections 4.4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.bindings import Groups, as_spans, earlier, find, joint, later, member, pick, shifted
from occurs.operators.interval.delayed_release import as_intervals, opened, release
from occurs.operators.interval.signals import NEVER, OPEN, Call, Held, Intervals, Signal, Spans, State


@dataclass(frozen=True)
class Cut:
    r"""``phi \ psi``: what is left of each interval of phi when the ticks of psi are taken out of it.

    An interval of psi may begin at the next tick and so decide what has been left at this one: the signal is one tick
    behind its operands.  ``running``: of each interval of phi that is open and not cut at the moment, where what is
    left began: at most the tick after what is known.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return self.left

    def fresh(self) -> State:
        n = len(self.left)
        return {
            "running": Held.empty(n, "start"),
            "ended": Held.empty(n, "start", "end"),
            "soon": Held.empty(0, "start"),
        }

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Spans]:
        left, right = as_spans(inputs[0]), as_spans(inputs[1])
        running, ended, soon = state["running"], as_intervals(state["ended"]), state["soon"]
        since, complete = shifted(left.since, -1), shifted(left.complete, -1)
        phi = self._affected(left, right)
        if len(phi):
            key, mine = joint([(running.codes, len(running)), (phi.codes, len(phi))])
            found = self._rest(phi, _carried(phi, mine, running, key), right, since)
            now = found.end == OPEN
            rest = found.take(now)
            running = Held.concat([running.take(~member(key, mine)), Held(rest.codes, {"start": rest.start})])
            ended = Intervals.concat([ended, found.take(~now)])
            soon = Held.concat([soon, Held((), {"start": rest.start[rest.start > since]})])
        spans, held, soon = release(opened(running), ended, soon, since, complete)
        return {"running": running, "ended": held, "soon": soon}, spans

    def _affected(self, left: Spans, right: Spans) -> Intervals:
        """The active intervals of phi that are new or have ended, or that a change of psi is about."""
        parts = [left.closed, left.began.take(left.began.end == OPEN)]
        new = [part for part in (right.closed, right.began) if len(part)]
        old = left.open
        if new and len(old):
            key, *keys = joint(
                [(pick(old.codes, self.left, self.right), len(old))] + [(part.codes, len(part)) for part in new]
            )
            parts.append(old.take((old.start <= left.since) & member(key, np.concatenate(keys))))
        return Intervals.concat(parts)

    def _rest(self, phi: Intervals, start: np.ndarray, right: Spans, since: int) -> Intervals:
        """What psi leaves of phi from ``start`` on, without what ended at or before ``since``."""
        key, *others = joint(
            [(pick(phi.codes, self.left, self.right), len(phi))]
            + [(part.codes, len(part)) for part in (right.closed, right.open)]
        )
        near = [member(other, key) for other in others]
        psi = Intervals.concat([right.closed.take(near[0]), right.open.take(near[1])])
        other = np.concatenate([o[m] for o, m in zip(others, near)])
        # intervals of one binding share no point: in order of their starts they are in order of their ends
        starts, ends = Groups(other, psi.start), Groups(other, psi.end)
        lo, _ = ends.between(key, start, np.full(len(key), OPEN))
        _, hi = starts.between(key, np.full(len(key), NEVER), phi.end)
        cuts = np.maximum(hi - lo, 0)
        row = np.repeat(np.arange(len(phi)), cuts + 1)
        number = np.arange(len(row)) - np.repeat(np.cumsum(cuts + 1) - cuts - 1, cuts + 1)
        place = lo[row] + number
        begin, end = start[row], phi.end[row]
        after, before = number > 0, number < cuts[row]
        begin[after] = later(ends.time[place[after] - 1])
        end[before] = earlier(starts.time[place[before]])
        left = (begin < end) & (end > since)
        return Intervals(tuple(c[row[left]] for c in phi.codes), begin[left], end[left])


def _carried(phi: Intervals, mine: np.ndarray, running: Held, key: np.ndarray) -> np.ndarray:
    """Where what is left of each interval of phi began.

    One that was open and is not among ``running`` was cut at that moment; what was left of it before then is over.
    """
    row = find(mine, key)
    start = phi.start.copy()
    known = row >= 0
    start[known] = np.maximum(start[known], running.columns["start"][row[known]])
    return start
