"""Constituents of what definitions over instants and intervals find (common.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from occurs.engine.outputs import because_array
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.operators.attributes import attributes_of
from occurs.operators.contract import Reasons
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
    """Per row that a definition reports the list of the constituents of one derivation.  ``others``: by
    the types they derive; ``labels``: of rows of a definition."""
    answer = definition.answer
    columns = {a.value: a.name for a in answer.head if isinstance(a.value, str)}
    codes = [call.values.encode(rows.column(columns[v])).tolist() for v in answer.variables]
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
    own, attributes = _rows(parts, others, labels, call)
    made = Reasons(
        np.cumsum([0, *map(len, found)]),
        pa.array([p.role for p in parts], pa.string()),
        pa.array([p.type for p in parts], pa.string()),
        time,
        own.hex(),
        pa.array(attributes, pa.string()),
        end,
        ~none,
    )
    return because_array(made, kind)


def _rows(
    parts: Sequence[Part],
    others: Mapping[str, NetDefinition],
    labels: Callable[[NetDefinition, Rows], Labels],
    call: Call,
) -> tuple[Labels, list[str]]:
    """The labels and the attributes of parts: of input rows as they were, of what definitions derive by its values."""
    texts = [part.attributes for part in parts]
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
        for i, text in zip(at, attributes_of(rows, chosen).to_pylist()):
            texts[i] = text
    return out, texts


def _row(part: Part, sort: str) -> tuple[tuple[int, ...], int, int]:
    """By what a row of a definition is known."""
    return part.codes, part.time, OPEN if part.end is None or sort != "dynamic" else part.end
