"""The engine against the reference semantics on the user's own events (``occurs verify``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.errors import LimitProblem
from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import run_history
from occurs.model.history import History, InputOptions, Made
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import difference, first_difference, occurrences_of

#: the names of the sides
ENGINE, REFERENCE = "engine", "reference"


#: called with the number of sides that are done and that of all
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Difference:
    """The first instant at which a side differs from the reference in a type.

    Attributes:
        type: The output type.
        side: The side.
        time: The instant, in ticks.
        text: The detections that are missing, and those that are unexpected.
        why: What the run of a net says of it.
    """

    type: str
    side: str
    time: int
    text: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    Attributes:
        equal: Whether all sides have the same detections.
        report: The counts that were compared, or the differences.
        sides: The names of the sides.
        counts: For each output type the numbers of detections, in the order of the sides.
        differences: How sides differ from the reference.
        firings: The numbers of firings of the nets, by side.
        without: Why there is no net, or only one.
    """

    equal: bool
    report: str
    sides: tuple[str, ...] = ()
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    firings: Mapping[str, int] = field(default_factory=dict)
    without: str | None = None


def counted(answers: Mapping[str, Sequence[Occurrence]]) -> dict[str, tuple[int, ...]]:
    """The numbers of detections of every type, in the order of the sides."""
    types = sorted({e.type for found in answers.values() for e in found})
    each = [Counter(e.type for e in found) for found in answers.values()]
    return {t: tuple(counts[t] for counts in each) for t in types}


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
    program: CheckedProgram,
    events: Any,
    options: InputOptions,
    *,
    max_events: int = 20_000,
    progress: Progress | None = None,
) -> Verification:
    """Run the engine and the reference semantics over the same events and compare the detections as multisets.

    Args:
        program: The program.
        events: The events, in any form that :meth:`occurs.Program.detect` accepts.
        options: How the events are read.
        max_events: The maximum number of events; the reference semantics is slow.
        progress: A function that is called when a side is done.

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
    got = detected(found)
    if progress is not None:
        progress(1, 2)
    wanted = expected(program, history)
    if progress is not None:
        progress(2, 2)
    answers = {ENGINE: got, REFERENCE: wanted}
    counts = counted(answers)
    text = difference(wanted, got)
    if text:
        firsts = ((t, first_difference(wanted, got, t)) for t in counts)
        differ = tuple(Difference(t, ENGINE, *first) for t, first in firsts if first is not None)
        return Verification(False, text, tuple(answers), counts, differ)
    read, detections = (f"{m} {what}{'s' * (m != 1)}" for m, what in ((n, "event"), (len(got), "detection")))
    return Verification(True, f"engine and reference agree: {read}, {detections}", tuple(answers), counts)
