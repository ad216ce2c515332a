"""The engine against the reference semantics on the user's own events (``occurs verify``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from occurs.errors import LimitProblem
from occurs.languages.tesla.semantics import Occurrence, evaluate
from occurs.model.history import History, InputOptions
from occurs.program import Detections, Program, run_history
from occurs.testing.compare import difference, occurrences_of


@dataclass(frozen=True)
class Verification:
    """``equal``: do engine and reference agree?  ``report``: what was compared, or the differences."""

    equal: bool
    report: str


def occurrences(history: History) -> list[Occurrence]:
    """The rows of a history as the reference takes them; timestamps are int microseconds."""
    out = []
    for t, table in history.tables.items():
        columns = {}
        for name in table.column_names:
            column = table.column(name)
            columns[name] = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
        special = ("time", "sequence", "label", "end")
        names = [n for n in columns if n not in special]
        for i, time in enumerate(columns["time"]):
            sequence = columns["sequence"][i] if "sequence" in columns else None
            out.append(Occurrence(t, time, {n: columns[n][i] for n in names}, sequence))
    return out


def detected(found: Detections) -> list[Occurrence]:
    """Detections as occurrences; times are int ticks, timestamps int microseconds."""
    return occurrences_of({t: found.arrow(t) for t in found})


def expected(program: Program, history: History) -> list[Occurrence]:
    """What the reference semantics derives from a history."""
    bound = program.bind(history.schemas, history.kind)
    analysis = bound.analysis
    start, until = history.clock if history.clock is not None else (None, None)
    return evaluate(
        [r.rule for r in analysis.rules],
        {**history.schemas, **analysis.schemas},
        occurrences(history),
        kind=history.kind,
        subscriptions=analysis.subscriptions,
        start=start,
        until=until,
    )


def verify(program: Program, events: Any, *, max_events: int = 20_000, **options: Any) -> Verification:
    """Run both over ``events`` and compare the detections as multisets.  Raises LimitProblem: the reference is slow."""
    names = {k: v for k, v in options.items() if k in InputOptions.__dataclass_fields__}
    history = program.history(events, InputOptions(**names))
    n = sum(len(t) for t in history.tables.values())
    if n > max_events:
        raise LimitProblem.of(
            "max-events",
            f"{n} events are more than the reference semantics takes ({max_events})",
            hint="--max-events N",
        )
    stage = program.plan(history.schemas, history.kind)
    found = Detections(stage, run_history(stage, history), history, None, False, False, None)
    wanted, got = expected(program, history), detected(found)
    text = difference(wanted, got)
    if text:
        return Verification(False, text)
    return Verification(True, f"engine and reference agree: {n} events, {len(got)} detections")
