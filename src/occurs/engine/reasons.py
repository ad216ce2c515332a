"""Constituents of what definitions over instants and intervals find (common.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from occurs.engine.outputs import because_type, time_array
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.operators.lasting.derivations import Derivations, Part
from occurs.operators.lasting.signals import OPEN, Call
from occurs.operators.rows import Rows
from occurs.plan.definition import NetDefinition


def reasons_of(
    definition: NetDefinition,
    rows: Rows,
    derivations: Derivations,
    others: Mapping[str, NetDefinition],
    labels: Callable[[NetDefinition, Rows], Labels],
    call: Call,
    kind: TimeKind,
) -> pa.Array:
    """Per row that a definition reports the list of (role, type, time, end, label) of one derivation.  ``others``: by
    the types they derive; ``labels``: of rows of a definition."""
    answer = definition.answer
    attributes = {a.value: a.name for a in answer.head if isinstance(a.value, str)}
    codes = [call.values.encode(rows.column(attributes[v])).tolist() for v in answer.variables]
    ends = rows.time.tolist()
    if answer.lasting and len(rows):
        column = rows.column("end")
        ends = np.where(column.is_valid(), column.values, OPEN).tolist()
    bindings = zip(*codes) if codes else [()] * len(rows)
    found = [
        derivations.of(definition.net.report, binding, start, end)
        for binding, start, end in zip(bindings, rows.time.tolist(), ends)
    ]
    parts = [part for row in found for part in row]
    time = np.array([p.time for p in parts], np.int64)
    end = np.array([0 if p.end is None else p.end for p in parts], np.int64)
    none = np.array([p.end is None for p in parts], np.bool_)
    arrays = [
        pa.array([p.role for p in parts], pa.string()),
        pa.array([p.type for p in parts], pa.string()),
        time_array(time, kind),
        time_array(end, kind, none),
        _labels(parts, others, labels, call).hex().cast(pa.string()),
    ]
    struct = pa.StructArray.from_arrays(arrays, fields=list(because_type(kind).value_type))
    offsets = np.cumsum([0, *map(len, found)])
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), struct)


def _labels(
    parts: Sequence[Part],
    others: Mapping[str, NetDefinition],
    labels: Callable[[NetDefinition, Rows], Labels],
    call: Call,
) -> Labels:
    """Of input rows those they have, of what definitions derive those of its values."""
    hi, lo = np.zeros(len(parts), np.int64), np.zeros(len(parts), np.int64)
    derived: dict[str, list[int]] = {}
    for i, part in enumerate(parts):
        if part.label is None:
            derived.setdefault(part.type, []).append(i)
        else:
            hi[i], lo[i] = part.label
    out = Labels(hi.view(np.uint64), lo.view(np.uint64))
    for type, at in derived.items():
        source = others[type]
        # rows that are alike are one: each is labelled once
        rows_of = [_row(parts[i], source.sort) for i in at]
        numbers = {row: n for n, row in enumerate(dict.fromkeys(rows_of))}
        codes = tuple(np.array(c, np.int64) for c in zip(*(codes for codes, _, _ in numbers)))
        time, end = (np.array([row[k] for row in numbers], np.int64) for k in (1, 2))
        rows = source.answer.made(codes, time, end if source.answer.lasting else None, call)
        found = labels(source, rows)
        chosen = np.array([numbers[row] for row in rows_of], np.int64)
        out.hi[at], out.lo[at] = found.hi[chosen], found.lo[chosen]
    return out


def _row(part: Part, sort: str) -> tuple[tuple[int, ...], int, int]:
    """By what a row of a definition is known."""
    return part.codes, part.time, OPEN if part.end is None or sort != "dynamic" else part.end
