"""History for definitions that are new on a stream: what they would know if they had always been there.

The history is run through an engine of its own, silently, up to the frontier; what that engine then remembers becomes
the past of the lane.  What unchanged definitions have consumed stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.engine import Engine
from occurs.engine.state import State
from occurs.errors import CheckpointProblem
from occurs.hosts.local import calls
from occurs.hosts.spark.task import BUDGET
from occurs.hosts.spark.wide import wide_rows
from occurs.hosts.stream.layout import Layout, Path
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage


def replayed(stage: Stage, path: Path, layout: Layout, history: pa.Table | None, until: int, start: int) -> Engine:
    """An engine that has seen the rows of ``history`` from ``start`` to ``until``."""
    engine = Engine(stage, labelled=layout.labelled)
    if history is not None:
        time = history.column("__time").to_numpy()
        history = history.filter(pa.array((time >= start) & (time <= until)))
        history = history.take(pa.array(np.argsort(history.column("__time").to_numpy(), kind="stable")))
    rows = wide_rows(stage, path.inlets, history, layout.labelled, layout.types)
    for frontier, part in calls(rows, until, BUDGET):
        engine.advance(part, frontier, start)
    return engine


def joined(old: State, engine: Engine, new: set[str]) -> State:
    """The state of a stream with the past that ``engine`` has from history, in which the rows that the stream has kept
    are found again.  ``new``: the definitions without state.

    Raises CheckpointProblem if the history is not that of the stream.
    """
    found = engine.state
    if old.later or found.later:
        text = "rules that read delayed detections cannot take over the past of a running stream"
        hint = "without --replay-from they read only later events; a new checkpoint accepts a history"
        raise CheckpointProblem.of("unsupported", text, hint=hint)
    out = State({}, {}, dict(old.serials), old.frontier)
    out.loaded = {d: tables for d, tables in found.tables().items() if d in new}
    out.loaded |= {d: tables for d, tables in old.tables().items() if d not in new}
    names = engine.definitions
    for t, rows in found.pasts.items():
        assert rows.serial is not None
        first = out.serials.get(t, 0)
        out.serials[t] = first + len(rows)
        out.pasts[t] = replace(rows, serial=np.arange(first, first + len(rows)), cache={})
        have = old.pasts.get(t)
        if have is not None and found.frontier is not None:  # what waited for its next call to be forgotten
            oldest = found.frontier + 1 - engine.stage.retention[t]
            have = have.slice(int(np.searchsorted(have.time, oldest)))
        at = np.zeros(0, np.int64) if have is None else _matches(have, rows)
        for (place, type), gone in old.consumed.items():
            if type == t and have is not None and have.serial is not None:
                out.consumed[(place, t)] = first + at[np.isin(have.serial, gone)]
        for (place, type), gone in found.consumed.items():
            if type == t and names[place] in new and len(rows):
                out.consumed[(place, t)] = gone - int(rows.serial[0]) + first
    return out


def _matches(have: Rows, rows: Rows) -> np.ndarray:
    """Which of ``rows`` each row that was kept is, int64 (len(have)): by time and the values that were kept; the n-th
    of equal ones is the n-th."""
    kept = [n for n, c in have.columns.items() if n in rows.columns and c.is_valid().any()]
    places: dict[tuple[Any, ...], list[int]] = {}
    for number, values in enumerate(_values(rows, kept)):
        places.setdefault(values, []).append(number)
    for found in places.values():
        found.reverse()
    out = []
    for values in _values(have, kept):
        found = places.get(values, [])
        if not found:
            shown = ", ".join(f"{n}: {v!r}" for n, v in zip(kept, values[1:]))
            text = f"the history is not that of this stream: it has no `{have.type}` ({shown}) at {values[0]}"
            raise CheckpointProblem.of("other-history", text, hint="pass all events that the stream has read")
        out.append(found.pop())
    return np.array(out, np.int64)


def _values(rows: Rows, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(rows.time.tolist(), *(rows.columns[n].arrow.to_pylist() for n in names))
