"""Runs a program over a history in several calls of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from occurs.engine.engine import Engine
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions
from occurs.program import Program


def answer(
    rules: Program, tables: dict[str, Any], cuts: Iterable[int], restart: bool, because: bool = False
) -> dict[str, list[str]]:
    """The detections of each type, sorted, if the history is cut after ``cuts``.

    With ``restart`` every call continues from saved state.  With ``because`` the constituents are compared as well.
    """
    history = rules.checked.history(tables, InputOptions(time_unit="s"))
    stage = rules.checked.plan(history.schemas, history.kind)
    rows = history_rows(stage, history, True)
    assert history.clock is not None
    start, until = history.clock
    engine = Engine(stage, labelled=True)
    out: dict[str, list[str]] = {t: [] for t in stage.reported}
    before = start - 1
    for frontier in sorted({*cuts, until}):
        part = {t: r.take(np.flatnonzero((r.time > before) & (r.time <= frontier))) for t, r in rows.items()}
        done = engine.advance(part, frontier, start, closing=frontier == until)
        for t in stage.reported:
            out[t] += map(repr, done.table(t, label=True, because=because).to_pylist())
        before = frontier
        if restart:
            engine = Engine.restore(stage, engine.save(), labelled=True)
    return {t: sorted(rows) for t, rows in out.items()}
