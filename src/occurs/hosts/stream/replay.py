"""History for definitions that are new on a stream: what they would know if they had always been there.

The history is run through an engine of its own, silently, up to the frontier; what that engine then remembers becomes
the past of the lane.  What unchanged definitions have consumed stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from occurs.engine.engine import Engine
from occurs.engine.state import State
from occurs.errors import CheckpointProblem
from occurs.hosts.local import calls
from occurs.hosts.spark.task import BUDGET
from occurs.hosts.spark.wide import wide_rows
from occurs.hosts.stream.layout import Layout, Path
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
    """The state of a stream with the past that ``engine`` has from history.  ``new``: the definitions without state.

    Raises CheckpointProblem if the history is not that of the stream.
    """
    found = engine.state
    out = State({}, dict(old.consumed), dict(old.serials), old.frontier)
    names = engine.definitions
    for t, rows in found.pasts.items():
        have = old.pasts.get(t)
        if have is not None and found.frontier is not None:  # what waited for its next call to be forgotten
            oldest = found.frontier + 1 - engine.stage.retention[t]
            have = have.slice(int(np.searchsorted(have.time, oldest)))
        assert rows.serial is not None
        first = old.serials.get(t, 0)
        if have is not None and len(have):
            assert have.serial is not None
            same = rows.time[len(rows) - len(have) :] if len(rows) >= len(have) else np.zeros(0, np.int64)
            if not np.array_equal(same, have.time):
                text = (
                    f"the history given is not that of the stream: it has {len(rows):,} rows of `{t}` in the window, "
                )
                text += f"the stream {len(have):,}"
                raise CheckpointProblem.of("other-history", text, hint="give all that the stream has had, and no more")
            first = int(have.serial[-1]) + 1 - len(rows)
        else:
            out.serials[t] = first + len(rows)
        out.pasts[t] = replace(rows, serial=np.arange(first, first + len(rows)), cache={})
        for (place, type), gone in found.consumed.items():
            if type == t and names[place] in new and len(rows):
                out.consumed[(place, t)] = gone - int(rows.serial[0]) + first
    return out
