"""The local host: a history through an engine in this process (events one by one: ``live``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.engine.engine import Engine, concat_rows
from occurs.engine.order import alone, input_rows, row_labels, sorted_rows
from occurs.engine.results import TypeRows
from occurs.hosts.detections import LocalDetections
from occurs.hosts.live import Live
from occurs.hosts.windows import Asked, WindowRows, answers
from occurs.model.history import History
from occurs.model.labels import Labels
from occurs.operators.rows import Part, Rows
from occurs.options import Window
from occurs.plan.notes import placed
from occurs.plan.stage import Stage
from occurs.progress import Progress, Told, watching

#: rows per call of the engine
BUDGET = 2_000_000
#: calls of a run of which somebody wants to see how far it is, and the least rows of each
STEPS, LEAST = 20, 100_000


def detect(
    program: CheckedProgram, history: History, *, sample: Any = None, started: bool = False, ended: bool = True,
    because: bool = False, with_label: bool = False, only: list[str] | None = None, progress: bool | Told | None = None,
) -> LocalDetections:  # fmt: skip
    """What a program with its options detects in a history.

    ``sample``: a table of the kind that the result has (None: Arrow).  ``started``: the start of the clock was given on
    purpose.  The others are options of :meth:`occurs.Program.detect`.
    """
    stage = program.plan(history.schemas, history.kind)
    notices = placed(history.notices, stage)
    program.judge(notices)
    labelled = because or with_label
    done: list[TypeRows]
    if program.window is None:
        with watching(progress, "detecting") as told:
            done = run_history(stage, history, labelled=labelled, ended=ended, told=told)
    else:
        window = Window.of(*program.window, history.kind)
        done = [run_windows(stage, history, window, started=started, labelled=labelled)]
    found = LocalDetections(stage, done, history, sample, labelled, because, only)
    costs = [w for d in stage.definitions for w in d.warnings]
    found.notices = [*program.warnings(history.schemas, history.kind), *costs, *notices]
    return found


def run_history(
    stage: Stage, history: History, *, labelled: bool = False, budget: int = BUDGET, ended: bool = True,
    told: Told | None = None,
) -> list[TypeRows]:  # fmt: skip
    """All calls of a history, in order; calls are cut between instants so that each has about ``budget`` rows.

    ``ended``: nothing comes any more, so the last call gives what still holds, too.  ``told``: how far it is, after
    each call; calls are smaller then.
    """
    if history.clock is None:
        return []
    start, until = history.clock
    rows = history_rows(stage, history, labelled)
    total, seen, found = sum(map(len, rows.values())), 0, 0
    if told is not None:
        budget = min(budget, max(total // STEPS, LEAST))
    engine = Engine(stage, labelled=labelled)
    out = []
    for frontier, part in calls(rows, until, budget):
        out.append(engine.advance(part, frontier, start, closing=ended and frontier == until))
        if told is not None:
            seen += sum(len(part[t]) for t in part)
            found += sum(map(out[-1].count, stage.found))
            told(Progress(seen, total, frontier, found))
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
    out = {}
    for t in history.tables:
        if t in stage.inputs:
            schema = stage.schemas.get(t) or history.schemas[t]
            numbered, loose = t in stage.numbered, t in stage.unordered and not labelled
            rows = input_rows(t, history.rows(t), schema, labelled, numbered=numbered, loose=loose)
            out[t] = alone(rows, stage.sequenced) if history.distinct and t in stage.placed else rows
    return out


@dataclass(frozen=True)
class InputRows:
    """Rows of one type of the input in the total order, with their labels and their places (``History.places``)."""

    type: str
    table: pa.Table
    labels: Labels
    places: np.ndarray


def labelled_input(stage: Stage, history: History) -> Iterator[InputRows]:
    """The rows that detections name as their constituents; the history knows places."""
    for t in history.tables:
        if t in stage.inputs:
            table = history.tables[t]
            order, places = sorted_rows(history.rows(t)), history.places.get(t, np.zeros(0, np.int64))
            if order is not None:
                table, places = table.take(pa.array(order)), places[order]
            yield InputRows(t, table, row_labels(t, table, table["time"].to_numpy()), places)


def cuts(times: Sequence[np.ndarray], until: int, budget: int) -> list[int]:
    """The ends of calls with about ``budget`` rows each, whole instants, the last one ``until``; each of ``times`` is
    sorted."""
    # of every so many rows one stands for them, and a call is wrong by so many for each of ``times``: one in a hundred
    step = max(1, budget // (100 * len(times)))
    some = np.sort(np.concatenate(times)[step - 1 :: step])
    each = budget // step
    return [int(t) for t in np.unique(some[each - 1 :: each]) if t < until] + [until]


def calls(rows: Mapping[str, Rows], until: int, budget: int) -> Iterator[tuple[int, Mapping[str, Rows]]]:
    """(frontier, rows up to it): cut where an instant ends, the last call at ``until``; where there are several, each
    has the types alone of which it has rows."""
    total = sum(len(r) for r in rows.values())
    if total <= budget:
        yield until, dict(rows)
        return
    frontiers = cuts([r.time for r in rows.values()], until, budget)
    # per type where each part begins, and the last ends
    ends = [np.searchsorted(r.time, frontiers, side="right").tolist() for r in rows.values()]
    begins = [[0, *found] for found in ends]
    for frontier, first, last in zip(frontiers, zip(*begins), zip(*ends)):
        yield frontier, Part(rows, {t: (i, j) for t, i, j in zip(rows, first, last) if i < j})


__all__ = ["BUDGET", "Live", "calls", "concat_rows", "cuts", "detect", "history_rows", "run_history", "run_windows"]
