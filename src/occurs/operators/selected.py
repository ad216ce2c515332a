"""The complete matches of a template as a block of derived events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from occurs.operators.attributes import attributes_of
from occurs.operators.checked import Checked
from occurs.operators.columns import Column
from occurs.operators.contract import Block, Identity, Out, Reasons
from occurs.operators.pattern import Matches, Pattern
from occurs.operators.rows import Rows


def block_of(
    pattern: Pattern,
    outs: Sequence[Out],
    tables: Sequence[Rows],
    matches: Matches,
    columns: Mapping[str, Column],
    checks: Sequence[Checked] = (),
) -> Block:
    """The matches of a template, rule after rule in rank order.

    ``outs``: one per rule; ``tables``: the rows of each role; ``checks``: what was looked at beside the matches.
    """

    def identity() -> Identity:
        parts = []
        for table, rows in zip(tables, matches.rows):
            assert table.labels is not None
            parts.append(table.labels.take(rows))
        return Identity(parts)

    def reasons(rows: np.ndarray) -> Reasons:
        rule = 0 if matches.rule is None else int(matches.rule[rows[0]])
        names = pattern.rules[rule].role_names
        return _reasons(names, tables, [r[rows] for r in matches.rows], [c.take(rows) for c in checks])

    cuts = None if matches.rule is None else np.searchsorted(matches.rule, np.arange(len(outs) + 1))
    time = tables[0].time[matches.rows[0]]
    return Block(outs, time, columns, cuts, identity=identity, reasons=reasons)


def _reasons(
    names: Sequence[str], tables: Sequence[Rows], rows: Sequence[np.ndarray], checks: Sequence[Checked]
) -> Reasons:
    """The constituents of matches: their events, then the intervals that were looked at."""
    n, m = len(rows[0]), len(tables)
    types = [t.type.partition("(")[0] if t.type.startswith("Timer(") else t.type for t in tables]
    size = m + len(checks)
    times, ends, labels, attributes = [], [], [], []
    for table, own in zip(tables, rows):
        times.append(table.time[own])
        ends.append(np.zeros(n, np.int64))
        assert table.labels is not None
        labels.append(table.labels.take(own).hex().cast(pa.string()))
        attributes.append(attributes_of(table, own))
    for check in checks:
        times.append(check.start)
        ends.append(check.end)
        labels.append(pa.nulls(n, pa.string()))
        attributes.append(check.attributes)
    role = pa.array(np.tile(np.arange(size), n))
    by_match = np.arange(n * size).reshape(size, n).T.ravel()
    return Reasons(
        np.arange(n + 1) * size,
        pa.array([*names, *(c.role for c in checks)]).take(role),
        pa.array([*types, *(c.type for c in checks)]).take(role),
        np.concatenate(times)[by_match],
        pa.concat_arrays(labels).take(pa.array(by_match)),
        pa.concat_arrays(attributes).take(pa.array(by_match)),
        np.concatenate(ends)[by_match],
        np.tile(np.arange(size) >= m, n),
    )
