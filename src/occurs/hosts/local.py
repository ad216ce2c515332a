"""The local host: a history, or events one by one, through an engine in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.engine import Engine, concat_rows
from occurs.engine.order import input_rows
from occurs.engine.results import TypeRows
from occurs.errors import InputProblem
from occurs.model.history import History
from occurs.model.types import Schema, arrow_type
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

#: rows per call of the engine
BUDGET = 2_000_000


def run_history(stage: Stage, history: History, *, labelled: bool = False, budget: int = BUDGET) -> list[TypeRows]:
    """All calls of a history, in order; calls are cut between instants so that each has about ``budget`` rows."""
    if history.clock is None:
        return []
    start, until = history.clock
    rows = history_rows(stage, history, labelled)
    engine = Engine(stage, labelled=labelled)
    out = []
    for frontier, part in calls(rows, until, budget):
        out.append(engine.advance(part, frontier, start))
    return out


def history_rows(stage: Stage, history: History, labelled: bool) -> dict[str, Rows]:
    """The rows of every type that the stage reads, in the total order."""
    return {
        t: input_rows(t, table, stage.schemas.get(t) or history.schemas[t], labelled)
        for t, table in history.tables.items()
        if t in stage.inputs
    }


def calls(rows: Mapping[str, Rows], until: int, budget: int) -> Iterator[tuple[int, dict[str, Rows]]]:
    """(frontier, rows up to it): cut where an instant ends, the last call at ``until``."""
    total = sum(len(r) for r in rows.values())
    if total <= budget:
        yield until, dict(rows)
        return
    times = np.sort(np.concatenate([r.time for r in rows.values()]))
    cuts = np.unique(times[budget - 1 :: budget])
    frontiers = [int(t) for t in cuts if t < until] + [until]
    begin = dict.fromkeys(rows, 0)
    for frontier in frontiers:
        part = {}
        for t, r in rows.items():
            end = int(np.searchsorted(r.time, frontier, side="right"))
            part[t] = r.slice(begin[t], end)
            begin[t] = end
        yield frontier, part


class Live:
    """Push: events one by one, in time order; an instant is judged when a later event, or ``advance``, closes it.

    Events of one instant may come in any order.  ``schemas``: of every type pushed.
    """

    def __init__(self, stage: Stage, *, labelled: bool = False):
        self.stage = stage
        self.engine = Engine(stage, labelled=labelled)
        self.labelled = labelled
        self.start: int | None = None
        self.now: int | None = None
        self.late = 0
        self._waiting: dict[str, list[dict[str, Any]]] = {}

    def on_event(
        self, type: str, time: int, attributes: Mapping[str, Any], sequence: int | None = None
    ) -> list[dict[str, Any]]:
        """Push one event; returns what the instants before it gave.  Late events are counted and left out."""
        if self.engine.state.frontier is not None and time <= self.engine.state.frontier:
            self.late += 1
            return []
        out: list[dict[str, Any]] = []
        if self.now is not None and time > self.now:
            out = self.advance(time - 1)
        if self.start is None:
            self.start = time
        self.now = time if self.now is None else max(self.now, time)
        if type in self.stage.inputs:
            self._waiting.setdefault(type, []).append({"time": time, "sequence": sequence, **attributes})
        return out

    def advance(self, frontier: int) -> list[dict[str, Any]]:
        """Nothing comes any more up to and with ``frontier``: returns what that completes, in key order."""
        ready: dict[str, list[dict[str, Any]]] = {}
        for t, rows in self._waiting.items():
            ready[t] = [r for r in rows if r["time"] <= frontier]
            self._waiting[t] = [r for r in rows if r["time"] > frontier]
        new = {t: self._rows(t, rows) for t, rows in ready.items() if rows}
        done = self.engine.advance(new, frontier, self.start)
        out: list[dict[str, Any]] = []
        for t in self.stage.reported:
            out += done.table(t, label=self.labelled, because=self.labelled).to_pylist()
        return sorted(out, key=lambda r: r["time"])

    def close(self) -> list[dict[str, Any]]:
        """The history ends with the last event."""
        return [] if self.now is None else self.advance(self.now)

    def _rows(self, type: str, rows: list[dict[str, Any]]) -> Rows:
        schema = self.stage.schemas.get(type, Schema())
        fields = [pa.field("time", pa.int64()), *(pa.field(n, arrow_type(t)) for n, t in schema)]
        if any(r["sequence"] is not None for r in rows):
            fields.append(pa.field("sequence", pa.int64()))
        try:
            table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputProblem.of("bad-value", f"an event of type `{type}` does not fit its schema: {error}") from error
        return input_rows(type, table, schema, self.labelled)


__all__ = ["BUDGET", "Live", "calls", "concat_rows", "history_rows", "run_history"]
