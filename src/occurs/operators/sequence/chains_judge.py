"""Conditions on two events that are no equalities: tokens and their candidates pair by pair (common.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence as Many

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem
from occurs.expr.dialect import EPL
from occurs.expr.evaluate import select
from occurs.expr.tree import Expr, Ref, conjunction
from occurs.model.time import TimeKind
from occurs.operators.kernels.chain_lookups import spread
from occurs.operators.merging import Stream
from occurs.operators.sequence.chains_shape import Filter
from occurs.operators.sequence.chains_tokens import Bindings
from occurs.operators.sequence.tree import Sequence

#: the most pairs that are held at once
BLOCK = 1_000_000


def overflow(sequence: Sequence, time: int) -> InputProblem:
    """A condition is undecided for an event of this time."""
    return InputProblem(
        Problem(
            "overflow",
            f"a number overflows 64-bit integers in a condition of `{sequence.name}`, at an event at "
            f"time {time}",
            definition=sequence.name,
            value=time,
            hint="use floats (multiply by 1.0), or a condition that excludes such values",
        )
    )


def doubt(doubtful: np.ndarray, place: np.ndarray, rule: np.ndarray, rules: Many[Sequence], stream: Stream) -> None:
    """An InputProblem if one of the events chosen (-1: none) is among those of which it is hidden whether they fit."""
    hidden = np.flatnonzero((place >= 0) & np.isin(place, doubtful))
    if len(hidden):
        at = int(hidden[0])
        raise overflow(rules[int(rule[at])], int(stream.time[place[at]]))


class Judge:
    """Tries candidates: of token i those with numbers [lo[i], hi[i]) of ``at``, in this order."""

    def __init__(self, bindings: Bindings, rules: Many[Sequence], kind: TimeKind) -> None:
        self._bindings = bindings
        self._rules = rules
        self._kind = kind

    def first(
        self, refs: Many[np.ndarray | None], f: Filter, at: np.ndarray, lo: np.ndarray, hi: np.ndarray
    ) -> np.ndarray:
        """int64: the first candidate that fits, -1 if none does.

        Twice as many candidates are tried in each round, so that at most twice as many as need be.
        """
        out = np.full(len(lo), -1, np.int64)
        left = np.flatnonzero(lo < hi)
        begin, width = lo[left], 1
        while len(left):
            per = max(1, BLOCK // width)
            for part in range(0, len(left), per):
                mine = left[part : part + per]
                frm = begin[part : part + per]
                which, place = spread(frm, np.minimum(hi[mine], frm + width), at)
                passed, undecided = self._judged(refs, f, mine[which], place)
                if undecided is not None:
                    passed[undecided] = True
                good = np.flatnonzero(passed)
                first = good[np.diff(which[good], prepend=-1) != 0]
                if undecided is not None:
                    self._refuse(np.intersect1d(first, undecided), place)
                out[mine[which[first]]] = place[first]
            on = (out[left] < 0) & (begin + width < hi[left])
            left, begin = left[on], begin[on] + width
            width = min(2 * width, BLOCK)
        return out

    def all(
        self, refs: Many[np.ndarray | None], f: Filter, at: np.ndarray, lo: np.ndarray, hi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(token, place) of all candidates that fit, in order."""
        total = np.cumsum(np.maximum(hi - lo, 0))
        whiches, places = [], []
        begin = 0
        while begin < len(lo):
            base = total[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(total, base + BLOCK, side="right")))
            which, place = spread(lo[begin:end], hi[begin:end], at)
            which += begin
            passed, undecided = self._judged(refs, f, which, place)
            if undecided is not None:
                self._refuse(undecided, place)
            whiches.append(which[passed])
            places.append(place[passed])
            begin = end
        if not whiches:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate(whiches), np.concatenate(places)

    def _judged(
        self, refs: Many[np.ndarray | None], f: Filter, which: np.ndarray, place: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """As :func:`select`, for tokens ``which`` and events at ``place``."""

        def columns(leaf: Expr) -> pa.Array:
            assert isinstance(leaf, Ref)
            if leaf.scope is None:
                return self._bindings.events.column(f.types, leaf.name, place).arrow
            of = refs[int(leaf.scope)]
            assert of is not None
            return self._bindings.column(int(leaf.scope), leaf.name, of[which]).arrow

        joint = conjunction(list(f.others))
        assert joint is not None
        return select(joint, columns, len(which), kind=self._kind, dialect=EPL)

    def _refuse(self, undecided: np.ndarray, place: np.ndarray) -> None:
        if len(undecided):
            raise overflow(self._rules[0], int(self._bindings.events.stream.time[place[undecided[0]]]))
