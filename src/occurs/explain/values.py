"""The values that a comparison meets: its expression over the rows that its roles may have (why.md, section 11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import OccursError
from occurs.explain.world import Outcome, World
from occurs.expr.evaluate import evaluate
from occurs.expr.tree import Expr
from occurs.languages.kit.clauses import Reading
from occurs.model.time import TimeKind

#: rows of a type, in one or more tables
Tables = Mapping[str, Sequence[pa.Table]]


def tables_of(world: World, outcome: Outcome | None, more: Tables) -> dict[str, list[pa.Table]]:
    """The rows of every type that there are: of the input, ``more``, and what ``outcome`` detects."""
    out = {t: [table] for t, table in world.history.tables.items()}
    for t, tables in more.items():
        out.setdefault(t, []).extend(tables)
    for t in sorted(world.defined) if outcome is not None else ():
        if t in {r.defines for r in world.closure} and outcome is not None:
            name = outcome.names.get(t, t)
            if name in outcome.found.types:
                out.setdefault(t, []).append(outcome.found.arrow(name))
    return out


def values_of(reading: Reading, tables: Tables, kind: TimeKind, *, most: int) -> list[Any] | None:
    """The distinct values of an expression for all choices of a row per role.

    None if an attribute is not known, if it cannot be evaluated on columns, or if there are more than ``most`` choices.
    """
    if reading.every is not None:
        observed = _observed(tables, reading.every, most)
        if observed is None:
            return None
        tables = observed
    roles: dict[tuple[str, str | None], dict[Expr, str]] = {}
    for leaf, s in reading.sources.items():
        roles.setdefault((s.role, s.type), {})[leaf] = s.attribute
    choices: list[list[tuple[Any, ...]]] = []
    for (_, type), named in roles.items():
        read = list(dict.fromkeys(named.values()))
        given = tables.get(type, ()) if type is not None else [t for found in tables.values() for t in found]
        having = [t for t in given if all(n in t.column_names for n in read)]
        if given and not having:
            return None
        if not given and type is None:
            return None
        choices.append(sorted(_rows(having, read), key=repr))
    if prod(len(c) for c in choices) > most:
        return None
    chosen = list(product(*choices))
    if not chosen:
        return []
    columns: dict[Expr, pa.Array] = {}
    for i, named in enumerate(roles.values()):
        read = list(dict.fromkeys(named.values()))
        for leaf, attribute in named.items():
            values = pa.array([c[i][read.index(attribute)] for c in chosen])
            if attribute in ("time", "end"):
                values = values.cast(pa.int64()).cast(pa.timestamp("us"))
            columns[leaf] = values
    try:
        found = evaluate(reading.expression, columns.__getitem__, len(chosen), kind=kind, dialect=reading.dialect)
    except OccursError:
        return None
    return list(dict.fromkeys(found.values.to_pylist()))


def _observed(tables: Tables, every: int, most: int) -> Tables | None:
    """The rows with those that are valid at the multiples of ``every`` ticks, from the first row to the last one; None
    if these are more than ``most``."""
    times = [t["time"].cast(pa.int64()).to_numpy() for found in tables.values() for t in found if len(t)]
    if not times:
        return tables
    first, last = min(t.min() for t in times), max(t.max() for t in times)
    if (last - first) // every > most:
        return None
    at = np.arange(-(-first // every) * every, last + 1, every)
    return {name: [part for t in found for part in (t, _valid(t, at))] for name, found in tables.items()}


def _valid(table: pa.Table, at: np.ndarray) -> pa.Table:
    """The last row before each of some times, with that time."""
    time = table["time"].cast(pa.int64()).to_numpy()
    order = np.argsort(time, kind="stable")
    place = np.searchsorted(time[order], at, "right") - 1
    there = place >= 0
    found = table.take(pa.array(order[place[there]], pa.int64()))
    column = pa.array(at[there], pa.int64()).cast(table["time"].type)
    return found.set_column(table.column_names.index("time"), "time", column)


def _rows(tables: Iterable[pa.Table], names: Sequence[str]) -> set[tuple[Any, ...]]:
    """The distinct rows of some columns; times as ticks."""
    out: set[tuple[Any, ...]] = set()
    for table in tables:
        columns = []
        for n in names:
            column = table[n]
            column = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) and n in ("time", "end") else column
            columns.append(column.to_pylist())
        out.update(zip(*columns, strict=True))
    return out
