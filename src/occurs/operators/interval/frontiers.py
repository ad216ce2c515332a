"""Up to where a dynamic formula is known, per binding: S for starts, N for ends (phenesthe.md, section 5).

Signals say it by one instant, ``complete``, and by tables of what lags behind it (:class:`Lag`), each over some of the
variables.  What holds of a binding of *other* variables is the least over all rows that agree with it where both have
a variable: a row about one vessel does not touch the bindings of another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.bindings import joint, pick, shared
from occurs.operators.interval.signals import OPEN, Codes, Lag, Lags, all_open
from occurs.operators.kernels.intervals import lower, silent


@dataclass(frozen=True)
class Frontiers:
    """The frontiers S and N of a signal: ``complete``, and less where ``lags`` say so."""

    complete: int
    lags: Sequence[Lag] | Lags = ()

    def starts(self, variables: tuple[str, ...], codes: Codes, rows: int) -> np.ndarray:
        """S (``rows``), the least over all bindings that agree with a row's: nothing starts at or before it that is
        not known yet."""
        return self._least([lag.starts for lag in self.lags], variables, codes, rows)

    def ends(self, variables: tuple[str, ...], codes: Codes, rows: int) -> np.ndarray:
        """N, likewise: nothing that ends at or before it can still appear."""
        return self._least([lag.ends for lag in self.lags], variables, codes, rows)

    def least_end(self) -> int:
        """N, over all bindings."""
        return min([self.complete, *(int(lag.ends.min()) for lag in self.lags if len(lag.ends))])

    def _least(self, ticks: list[np.ndarray], variables: tuple[str, ...], codes: Codes, rows: int) -> np.ndarray:
        out = np.full(rows, self.complete, np.int64)
        if not rows:
            return out
        for lag, values in zip(self.lags, ticks):
            if not len(values) or (values[0] == OPEN and silent(values)):
                continue
            common = shared(lag.variables, variables)
            if not common:
                np.minimum(out, values.min(), out=out)
                continue
            theirs, mine = pick(lag.codes, lag.variables, common), pick(codes, variables, common)
            if len(common) > 1:
                mine, theirs = [(key,) for key in joint([(mine, rows), (theirs, len(values))])]
            lower(out, mine[0], theirs[0], values)
        return out


def lag(
    variables: tuple[str, ...],
    codes: Codes,
    rows: int,
    starts: np.ndarray | None = None,
    ends: np.ndarray | None = None,
) -> Lag:
    """A lag of starts, of ends, or of both, for the bindings in ``codes``."""
    return Lag(variables, codes, all_open(rows) if starts is None else starts, all_open(rows) if ends is None else ends)


def telling(lags: Iterable[Lag]) -> tuple[Lag, ...]:
    """The lags that have rows."""
    return tuple(x for x in lags if len(x.starts))


def projected(lags: Iterable[Lag], variables: tuple[str, ...]) -> tuple[Lag, ...]:
    """The lags of a projection to fewer ``variables``: a binding lags as all those do that are pooled in it."""
    out = []
    for x in telling(lags):
        left = shared(x.variables, variables)
        if left == x.variables:
            out.append(x)
        elif left:
            out.append(Lag(left, pick(x.codes, x.variables, left), x.starts, x.ends))
        else:
            out.append(Lag((), (), x.starts.min(keepdims=True), x.ends.min(keepdims=True)))
    return tuple(out)
