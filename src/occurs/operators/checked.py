"""What a pattern looked at beside the events that it bound: intervals without events, and aggregates over intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from occurs.model.astext import json_objects
from occurs.model.types import Type
from occurs.operators.aggregate import Windowed
from occurs.operators.candidates import ticks_before
from occurs.operators.pattern import Absent, Keep, Matches, Pattern
from occurs.operators.run import Run
from occurs.operators.windows import Between, Source, Within


@dataclass(frozen=True)
class Checked:
    """Per match an interval, closed, in which the rows of ``type`` were looked at.

    ``role``: for what, as text.  ``attributes``: JSON objects with the number of ``rows`` that fit and, of an
    aggregate, its ``value``.
    """

    role: str
    type: str
    start: np.ndarray
    end: np.ndarray
    attributes: pa.Array

    def take(self, at: np.ndarray | slice) -> Checked:
        """The same for some of the matches."""
        numbers = pa.array(np.arange(len(self.start))[at])
        return Checked(self.role, self.type, self.start[at], self.end[at], self.attributes.take(numbers))


def checked(run: Run, matches: Matches) -> list[Checked]:
    """The negations and the aggregates of a pattern, in the order of its text."""
    out = []
    for step in run.pattern.steps:
        if isinstance(step, Absent):
            start, end = _interval(run, matches, step.source, step.interval, open=True)
            none = pa.array(['{"rows": 0}'] * len(matches), pa.string())
            out.append(Checked(f"not {step.source.type}", step.source.type, start, end, none))
    for node in dict.fromkeys(_aggregates(run.pattern)):
        start, end = _interval(run, matches, node.source, node.interval, open=False)
        count = run.column(matches, replace(node, function="count", attribute=None, type=Type.INT))
        value = run.column(matches, node).cast(node.type)
        text = json_objects({"rows": count.output(), "value": value.output()}, len(matches))
        over = node.source.type if node.attribute is None else f"{node.source.type}.{node.attribute}"
        out.append(Checked(f"{node.function}({over})", node.source.type, start, end, text))
    return out


def _aggregates(pattern: Pattern) -> Iterator[Windowed]:
    conditions = [step.condition for step in pattern.steps if isinstance(step, Keep)]
    for e in (*conditions, *(e for _, e, _ in pattern.outputs)):
        yield from (node for node in e.walk() if isinstance(node, Windowed))


def _interval(
    run: Run, matches: Matches, source: Source, interval: Within | Between, *, open: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last tick, match by match; ``open``: its start does not belong to the interval."""

    def time(role: int) -> np.ndarray:
        return run.tables[role].time[matches.rows[role]]

    if isinstance(interval, Within):
        end = time(interval.role)
        start = ticks_before(end, interval.length)
    else:
        start, end = time(interval.early), time(interval.late)
    if source.strict:  # in a recursive rule: strictly before the terminator
        end = np.minimum(end, time(0) - 1)
    return start + open, end
