"""An engine whose stage has several segments: each runs at a frontier of its own (see :mod:`occurs.plan.segments`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from occurs.engine.results import Parts, TypeRows
from occurs.engine.state import State
from occurs.engine.tables import concat_rows
from occurs.model.time import NEVER
from occurs.operators.rows import Rows
from occurs.plan.segments import Segment
from occurs.plan.stage import Stage


class Runs(Protocol):
    """The engine of a segment.  After a call ``handed`` has the new rows of the types that it hands on, and
    ``complete`` up to when they are complete."""

    state: State
    handed: dict[str, Rows]
    complete: dict[str, int]

    def advance(
        self, new: Mapping[str, Rows], frontier: int, start: int | None = None, *, closing: bool = False
    ) -> TypeRows: ...


@dataclass
class Several(TypeRows):
    """The reported rows of one call of several segments: ``of`` each type the segment's."""

    of: Mapping[str, TypeRows] | None = None

    def count(self, type: str) -> int:
        found = (self.of or {}).get(type)
        return 0 if found is None else found.count(type)

    def table(
        self, type: str, *, label: bool = False, because: bool = False, final: bool = False,
        wanted: Callable[[pa.Table], pa.ChunkedArray] | None = None,
    ) -> pa.Table:  # fmt: skip
        found = (self.of or {}).get(type)
        found = found or TypeRows(self.stage, self.parts, {})
        return found.table(type, label=label, because=because, final=final, wanted=wanted)

    def joint_tables(
        self, types: AbstractSet[str], *, label: bool = False
    ) -> Iterator[tuple[list[str], np.ndarray, pa.Table]]:
        for found in self._results:
            yield from found.joint_tables({t for t in types if (self.of or {}).get(t) is found}, label=label)

    def found(self) -> set[str]:
        types = set().union(*(found.found() for found in self._results))
        return types & (self.of or {}).keys()

    @property
    def _results(self) -> Collection[TypeRows]:
        """Those of the segments, each once."""
        return {id(found): found for found in (self.of or {}).values()}.values()

    def records(self, type: str, *, label: bool = False, because: bool = False) -> list[dict[str, Any]]:
        found = (self.of or {}).get(type)
        return [] if found is None else found.records(type, label=label, because=because)


@dataclass
class Chain:
    """The engines of the segments, in order."""

    stage: Stage
    segments: Sequence[Segment]
    engines: Sequence[Runs]

    def advance(self, new: Mapping[str, Rows], frontier: int, start: int | None, closing: bool) -> TypeRows:
        """One call: every segment goes on up to where all that it reads is complete; later rows wait."""
        handed: dict[str, Rows] = {}
        complete: dict[str, int] = {}
        of: dict[str, TypeRows] = {}
        counts: dict[str, int] = {}
        for segment, engine in zip(self.segments, self.engines, strict=True):
            for t in segment.stage.inputs:
                rows = (handed if t in segment.takes else new).get(t)
                if rows is not None and len(rows):
                    _wait(engine.state, t, rows)
            reach = frontier if closing else min([frontier, *(complete[t] for t in segment.takes)])
            done = engine.state.frontier
            if not closing and (reach == NEVER or (done is not None and reach <= done)):
                complete |= {t: engine.complete.get(t, NEVER) for t in segment.hands}
                continue
            result = engine.advance(_ready(engine.state, reach), reach, start, closing=closing)
            handed |= engine.handed
            complete |= engine.complete
            of |= dict.fromkeys(segment.reports, result)
            counts |= {what: max(n, counts.get(what, 0)) for what, n in result.counts.items()}
        return Several(self.stage, Parts(self.stage, [], ()), {}, counts, of)


def _wait(state: State, type: str, rows: Rows) -> None:
    """Put rows behind those that wait; they are numbered as they come.

    A definition with a delay may derive a row that is earlier than some that wait: then all are put in order, and
    numbered anew.
    """
    waiting = state.waiting.get(type)
    rows = replace(rows, new=0, serial=None, cache={})
    first, old = state.serials.get(f"waiting {type}", 0), None
    if waiting is not None and len(waiting):
        old = waiting.serial
        rows = concat_rows([replace(waiting, serial=None), rows])
        order = _order(rows)
        if order is not None:
            rows, old = rows.take(order), None
    serial = np.arange(first, first + len(rows) - (0 if old is None else len(old)))
    state.serials[f"waiting {type}"] = first + len(serial)
    state.waiting[type] = replace(rows, serial=serial if old is None else np.concatenate([old, serial]))


def _order(rows: Rows) -> np.ndarray | None:
    """What sorts rows by time and place within the instant, stable; None if they are in that order."""
    later = np.diff(rows.time)
    if rows.at is None:
        return None if (later >= 0).all() else np.argsort(rows.time, kind="stable")
    if ((later > 0) | ((later == 0) & (np.diff(rows.at) >= 0))).all():
        return None
    return np.lexsort((rows.at, rows.time))


def _ready(state: State, frontier: int) -> dict[str, Rows]:
    """The waiting rows up to ``frontier``, which wait no more."""
    out = {}
    for t, rows in list(state.waiting.items()):
        at = int(np.searchsorted(rows.time, frontier, side="right"))
        out[t] = replace(rows.slice(0, at), serial=None)
        if at == len(rows):
            del state.waiting[t]
        else:
            state.waiting[t] = rows.slice(at)
    return out
