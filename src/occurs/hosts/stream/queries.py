"""Window mode on a stream: the answers of all queries that the frontier has passed (phenesthe.md, section 5).

Between two queries an engine returns the rows that have become final.  They stay here for as long as they reach into
the window of a later query.  At a query, the answer consists of these rows and of those that closing would return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.errors import LimitProblem
from occurs.hosts.spark.wide import MOST_ROWS, Wide
from occurs.hosts.stream.waiting import Waiting
from occurs.model.time import OPEN
from occurs.operators.rows import Rows
from occurs.options import MOST, Window

#: the column of a kept row with the last tick at which a query gives it
REACH = "__reach"


def kept() -> Waiting:
    """No rows that later queries may give."""
    return Waiting(column=REACH, prefix="answers")


def due(window: Window, started: bool, start: int, after: int | None, frontier: int, closing: bool) -> range:
    """The queries after ``after`` (None: all) that the frontier has passed; if ``closing``, also the first one that is
    not before it.

    ``start``: of the clock, ``started`` on purpose or not.  Raises LimitProblem.
    """
    step, first = window.step, window.first(start, started)
    begin = first if after is None or after < first else first + ((after - first) // step + 1) * step
    last = frontier
    if closing:
        last = first if frontier <= first else first - (first - frontier) // step * step
    found = range(begin, last + 1, step)
    if len(found) > MOST:
        text = f"--step {step} leads to {len(found)} queries between two micro-batches"
        raise LimitProblem.of("too-many-queries", text, hint=f"at most {MOST} are allowed; use a longer step")
    return found


def answers(
    engine: Engine, wide: Wide, calls: Iterable[tuple[int, Mapping[str, Rows]]], queries: range, start: int,
    later: Waiting, window: Window,
) -> Iterator[pa.Table]:  # fmt: skip
    """The answers of ``queries`` in order, as wide rows with ``__query``, in tables of bounded size.

    ``calls``: (frontier, the rows up to it) in order of time, instants whole.  ``later``: the rows of before that may
    be in an answer; new ones are added to it, and those of the past are taken out.
    """
    found: list[pa.Table] = []
    number = 0
    for frontier, rows in calls:
        stops = [q for q in queries[number:] if q <= frontier]
        stops += [] if stops and stops[-1] == frontier else [frontier]
        cuts = {t: [0, *np.searchsorted(r.time, stops, side="right").tolist()] for t, r in rows.items()}
        for i, at in enumerate(stops):
            new = {t: r.slice(cuts[t][i], cuts[t][i + 1]) for t, r in rows.items()}
            for table in _reaching(engine.advance(new, at, start), engine, wide, window.length):
                later.add(table)
            if number == len(queries) or at != queries[number]:
                continue
            number += 1
            later.take(at - 1)
            held = _reaching(engine.peek(at, start), engine, wide, window.length)
            answer = [*later.tables, *(t.filter(pc.greater_equal(t.column(REACH), at)) for t in held)]
            found += [_asked(t, at) for t in answer if t.num_rows]
            if sum(t.num_rows for t in found) >= MOST_ROWS:
                yield pa.concat_tables(found)
                found = []
    if found:
        yield pa.concat_tables(found)


def _reaching(found: TypeRows, engine: Engine, wide: Wide, length: int) -> Iterator[pa.Table]:
    """Detections as wide rows, with the last tick at which a query gives them."""
    lasting = np.array([engine.stage.schemas[t].lasting for t in wide.reported], np.bool_)
    for batch in wide.batches(found, engine.stage):
        table = pa.Table.from_batches([batch])
        end = table.column("__time").to_numpy()
        if wide.lasting:
            column = table.column("__end")
            last = lasting[table.column("__type").to_numpy()]
            end = np.where(last, pc.fill_null(column, OPEN).to_numpy(), end)
        # the sum of two ticks may be more than an int64 has room for
        room = np.int64(OPEN) - np.maximum(end, 0)
        reach = np.where(room < length, np.int64(OPEN), end + np.minimum(room, min(length, OPEN)) - 1)
        yield table.append_column(REACH, pa.array(reach))


def _asked(table: pa.Table, query: int) -> pa.Table:
    return table.drop_columns([REACH]).append_column("__query", pa.array(np.full(len(table), query, np.int64)))
