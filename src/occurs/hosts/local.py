"""The local host: a history through an engine in this process (events one by one: ``live``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from occurs.engine.engine import Engine, concat_rows
from occurs.engine.order import input_rows
from occurs.engine.results import TypeRows
from occurs.hosts.live import Live
from occurs.hosts.windows import Asked, WindowRows, answers
from occurs.model.history import History
from occurs.operators.rows import Part, Rows
from occurs.options import Window
from occurs.plan.stage import Stage

#: rows per call of the engine
BUDGET = 2_000_000
#: calls of a run of which somebody wants to see how far it is, and the least rows of each
STEPS, LEAST = 20, 100_000


def run_history(
    stage: Stage, history: History, *, labelled: bool = False, budget: int = BUDGET, ended: bool = True,
    told: Callable[[int, int], None] | None = None,
) -> list[TypeRows]:  # fmt: skip
    """All calls of a history, in order; calls are cut between instants so that each has about ``budget`` rows.

    ``ended``: nothing comes any more, so the last call gives what still holds, too.  ``told``: called with the rows
    that are done and all rows; calls are smaller then.
    """
    if history.clock is None:
        return []
    start, until = history.clock
    rows = history_rows(stage, history, labelled)
    total, seen = sum(map(len, rows.values())), 0
    if told is not None:
        budget = min(budget, max(total // STEPS, LEAST))
    engine = Engine(stage, labelled=labelled)
    out = []
    for frontier, part in calls(rows, until, budget):
        out.append(engine.advance(part, frontier, start, closing=ended and frontier == until))
        if told is not None:
            seen += sum(len(part[t]) for t in part)
            told(seen, total)
    return out


def run_windows(stage: Stage, history: History, window: Window, *, started: bool, labelled: bool = False) -> WindowRows:
    """The answers of all queries over a history; ``started``: the start of its clock was given on purpose.

    All definitions of the stage are nets.
    """
    engine, asked = Engine(stage, labelled=labelled), Asked.over(window, history.clock, started)
    if history.clock is None:
        return WindowRows.nothing(engine, asked)
    rows = history_rows(stage, history, labelled)
    (found,) = answers(engine, [(asked.at[-1], rows)], asked, history.clock[0])
    return found


def history_rows(stage: Stage, history: History, labelled: bool) -> dict[str, Rows]:
    """The rows of every type that the stage reads, in the total order."""
    return {
        t: input_rows(
            t,
            table,
            stage.schemas.get(t) or history.schemas[t],
            labelled,
            numbered=t in stage.numbered,
            loose=t in stage.unordered and not labelled,
        )
        for t, table in history.tables.items()
        if t in stage.inputs
    }


def calls(rows: Mapping[str, Rows], until: int, budget: int) -> Iterator[tuple[int, Mapping[str, Rows]]]:
    """(frontier, rows up to it): cut where an instant ends, the last call at ``until``; where there are several, each
    has the types alone of which it has rows."""
    total = sum(len(r) for r in rows.values())
    if total <= budget:
        yield until, dict(rows)
        return
    # every so many rows of a type one that stands for them: exact for small budgets, and little to sort for large ones
    step = max(1, budget // 100)
    times = np.sort(np.concatenate([r.time[step - 1 :: step] for r in rows.values()]))
    each = budget // step
    cuts = np.unique(times[each - 1 :: each])
    frontiers = [int(t) for t in cuts if t < until] + [until]
    # per type where each part begins, and the last ends
    ends = [np.searchsorted(r.time, frontiers, side="right").tolist() for r in rows.values()]
    begins = [[0, *found] for found in ends]
    for frontier, first, last in zip(frontiers, zip(*begins), zip(*ends)):
        yield frontier, Part(rows, {t: (i, j) for t, i, j in zip(rows, first, last) if i < j})


__all__ = ["BUDGET", "Live", "calls", "concat_rows", "history_rows", "run_history", "run_windows"]
