"""The rows that one may think of as missing: the domain of added rows (why.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.explain.question import Question, distinct
from occurs.explain.world import World
from occurs.model.types import Schema, Type

#: more rows of one type are not tried
MOST = 50_000


@dataclass(frozen=True)
class Domain:
    """The rows of ``type`` that may be added, the nearest to the asked time first.  ``whole``: none was left out."""

    type: str
    table: pa.Table
    whole: bool = True

    def row(self, number: int) -> pa.Table:
        """One row as a table."""
        return self.table.slice(number, 1)


def key_of(value: Any) -> tuple[int, Any]:
    """Values in the total order: null, booleans, numbers, text."""
    if value is None:
        return 0, 0
    if isinstance(value, bool):
        return 1, value
    return (2, value) if isinstance(value, int | float) else (3, str(value))


def domain(
    world: World, question: Question, type: str, *, within: tuple[int, int] | None = None,
    alike: Mapping[str, Callable[[Any], Any]] | None = None, possible: Callable[[int], bool] | None = None,
) -> Domain:  # fmt: skip
    """The domain of a type of the input.

    ``within``, ``possible``: other times than these cannot matter.  ``alike``: per attribute a function that is equal
    for values which no rule tells from one another: of such rows only the first is in the domain.  At an instant that
    has rows of the type all are, as their values decide the order.
    """
    schema = world.history.schemas.get(type) or world.bound.schemas.get(type) or Schema()
    table = world.history.tables.get(type)
    clock = world.history.clock or (question.first, question.last)
    times = _times(world, question, clock)
    if within is not None:
        times = [t for t in times if within[0] <= t <= within[1]]
    times = times if possible is None else [t for t in times if possible(t)]
    read = world.columns.get(type, frozenset(schema.names))
    names = sorted(n for n, _ in schema)
    constants = [c for r in world.cone for c in r.clauses.constants]
    choices = [_values(world, type, n, schema[n], n in read, constants, question) for n in names]
    few = [_firsts(values, (alike or {}).get(n)) for n, values in zip(names, choices, strict=True)]
    ordered = set() if table is None else set(pc.unique(table["time"].cast(pa.int64())).to_pylist())
    lasting = schema.lasting
    rows: list[tuple[int, Any, Any]] = []
    whole = True
    for t in sorted(times, key=lambda t: (abs(t - question.first), t)):
        ends: Iterable[Any] = sorted(e for e in times if e > t) if lasting else (None,)
        for end in ends:
            for values in product(*(choices if t in ordered else few)):
                if len(rows) >= MOST:
                    whole = False
                    break
                rows.append((t, end, values))
    return Domain(type, table_of_rows(rows, names, schema, table, lasting), whole)


def _firsts(values: Sequence[Any], side: Callable[[Any], Any] | None) -> list[Any]:
    """Of values on one side the first."""
    if side is None:
        return list(values)
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault(side(value), value)
    return list(found.values())


def _times(world: World, question: Question, clock: tuple[int, int]) -> list[int]:
    found = [np.array([question.first, question.last], np.int64)]
    for t in world.inputs:
        table = world.history.tables.get(t)
        if table is not None:
            for name in ("time", "end"):
                if name in table.column_names:
                    at = pc.unique(table[name].drop_null()).cast(pa.int64()).to_numpy()
                    found += [at, _moved(at, -1), _moved(at, 1)]
    base = np.unique(np.concatenate(found))
    durations = {d for r in world.cone for d in r.clauses.durations}
    out = np.unique(np.concatenate([base, *(_moved(base, -d) for d in durations)]))
    low, high = max(clock[0], 1 - 2**63), min(clock[1], 2**63 - 2)
    return out[(low <= out) & (out <= high)].tolist()


def _moved(times: np.ndarray, by: int) -> np.ndarray:
    """Times moved by ``by`` ticks, without those that leave the range of ticks."""
    low, high = max(-(2**63) - by, -(2**63)), min(2**63 - 1 - by, 2**63 - 1)
    if low > high:
        return times[:0]
    return times[(low <= times) & (times <= high)] + by


def _values(
    world: World, type: str, name: str, kind: Type, read: bool, constants: Sequence[Any], question: Question
) -> list[Any]:
    seen: list[Any] = []
    for t in sorted(world.inputs):
        table = world.history.tables.get(t)
        if table is None or name not in table.column_names:
            continue
        # what an attribute of this name is elsewhere, such as a key, may be missing here
        if t == type or (read and world.history.schemas[t].get(name) is kind and name in world.columns.get(t, ())):
            seen += [v for v in distinct(table[name]) if t == type or v is not None]
    if not read:  # nothing depends on it
        return sorted(seen, key=key_of)[:1] or [None]
    more = [*constants, *question.where.values()]
    for value in more:
        if isinstance(value, bool):
            if kind is Type.BOOL:
                seen.append(value)
        elif isinstance(value, int | float):
            if kind is Type.FLOAT:
                seen += [float(value) - 1, float(value), float(value) + 1]
            elif kind is Type.INT and value == int(value):
                seen += [int(value) - 1, int(value), int(value) + 1]
            elif kind is Type.TIMESTAMP and isinstance(value, int):
                seen.append(value)
        elif isinstance(value, str) and kind is Type.STRING:
            seen.append(value)
    seen = [v for v in seen if not isinstance(v, int) or -(2**63) <= v < 2**63]
    unique = {key_of(v): v for v in seen}
    return [unique[k] for k in sorted(unique)] or [None]


def table_of_rows(
    rows: Sequence[tuple[int, Any, Sequence[Any]]], names: Sequence[str], schema: Schema, table: pa.Table | None,
    lasting: bool,
) -> pa.Table:  # fmt: skip
    """Rows (time, end, values of ``names``) of a type with this schema, as columns like those of ``table``."""
    columns: dict[str, pa.Array] = {"time": pa.array([t for t, _, _ in rows], pa.int64())}
    if lasting:
        columns["end"] = pa.array([e for _, e, _ in rows], pa.int64())
    for i, name in enumerate(names):
        of = schema.arrow_of(name, schema[name])
        if table is not None and name in table.column_names:
            of = table.schema.field(name).type
        values = [v[i] for _, _, v in rows]
        if pa.types.is_null(of):  # the input has no value of it, but the rules or the question may
            of = None
        columns[name] = (
            pa.array(values, of)
            if not (of is not None and pa.types.is_timestamp(of))
            else (pa.array(values, pa.int64()).cast(of))
        )
    return pa.table(columns)
