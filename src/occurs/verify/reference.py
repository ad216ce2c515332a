"""The engine against the reference semantics on the user's own events (``occurs verify``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.errors import LimitProblem
from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import run_history
from occurs.model.history import History, InputOptions, Made
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import difference, occurrences_of


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    Attributes:
        equal: Whether all sides have the same detections.
        report: The counts that were compared, or the differences.
    """

    equal: bool
    report: str


def detected(found: LocalDetections) -> list[Occurrence]:
    """Detections as occurrences; times are int ticks, timestamps int microseconds."""
    return occurrences_of({t: found.arrow(t) for t in found})


def expected(program: CheckedProgram, history: History) -> list[Occurrence]:
    """What the reference semantics derive from a history, each language's in turn."""
    bound = program.bind(history.schemas, history.kind)
    tables = dict(history.tables)
    derived: dict[str, pa.Table] = {}
    made: tuple[Made, ...] = ()
    places: dict[str, int] = {}
    for (_, _, node), slot in zip(bound.entries, bound.slots, strict=True):
        places[node.defines] = min(slot.place, places.get(node.defines, slot.place))
    for name, numbers in bound.turns:
        found = bound.parts[name].reference(numbers, replace(history, tables=tables, made=made), program.facts)
        made += tuple(Made(name, t, places[t], table) for t, table in found.items())
        for t, table in found.items():
            derived[t] = _together(derived.get(t), table)
            tables[t] = _together(tables.get(t), table)  # rows of the input stand beside derived ones
    asked = {n: part.asked(replace(history, tables=tables)) for n, part in bound.parts.items()}
    out: dict[str, pa.Table] = {}
    for name, part in bound.parts.items():
        given = asked[name]
        out |= {t: derived[t] for t in part.defined} if given is None else given
    return occurrences_of({t: table.drop_columns(_special(table)) for t, table in out.items()})


def _together(one: pa.Table | None, other: pa.Table) -> pa.Table:
    return other if one is None else pa.concat_tables([one, other], promote_options="permissive")


def _special(table: pa.Table) -> list[str]:
    return [n for n in ("sequence", "label") if n in table.column_names]


def verify(
    program: CheckedProgram, events: Any, options: InputOptions, *, max_events: int = 20_000
) -> Verification:
    """Run the engine and the reference semantics over the same events and compare the detections as multisets.

    Args:
        program: The program.
        events: The events, in any form that :meth:`occurs.Program.detect` accepts.
        options: How the events are read.
        max_events: The maximum number of events; the reference semantics is slow.

    Returns:
        Whether both agree, and a report.

    Raises:
        LimitProblem: There are more than ``max_events`` events.
    """
    history = program.history(events, options)
    n = sum(len(t) for t in history.tables.values())
    if n > max_events:
        raise LimitProblem.of(
            "max-events",
            f"{n} events are more than the limit of {max_events} for the reference semantics",
            hint="raise the limit with --max-events N",
        )
    stage = program.plan(history.schemas, history.kind)
    found = LocalDetections(stage, run_history(stage, history), history, None, False, False, None)
    wanted, got = expected(program, history), detected(found)
    text = difference(wanted, got)
    if text:
        return Verification(False, text)
    read, detections = (f"{m} {what}{'s' * (m != 1)}" for m, what in ((n, "event"), (len(got), "detection")))
    return Verification(True, f"engine and reference agree: {read}, {detections}")
