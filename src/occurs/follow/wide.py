"""Tables as they come to the wide rows of a stream, by the intake of a history: the same readings, the same refusals.

Runs in the tasks of Spark for files that appear, and in this process for a record that is replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.writers import json_rows
from occurs.errors import InputProblem, Problem
from occurs.follow.expected import Expected
from occurs.model.attributes import by_type, missing
from occurs.model.badrows import BadRows
from occurs.model.source import Intake, Source, input_problem
from occurs.model.special import take_in, time_kind
from occurs.model.types import Type

GOOD, OUTSIDE, BAD = 0, 1, 2
_LASTING = "interval of a type that is declared as an event"
_OWNED = "row of a type that the rules derive"


def wide(sources: Sequence[Source], expected: Expected) -> pa.Table:
    """All rows of some sources with the columns ``expected.schema``, in no particular order.

    ``__state``: good, outside the clock (only type and time), or bad (only ``__bad``: JSON with the reasons, as the
    streaming host reads it).  Rows of types that nobody reads have only type and time: they move the clock.
    Raises InputProblem: ``missing-column``, ``bad-time``, and if bad rows are not to be left out ``bad-value``.
    """
    bad, problems = BadRows(sources), list[Problem]()
    options, parts = expected.options, list[pa.Table]()
    intakes = []
    for number, source in enumerate(sources):
        one = take_in(
            source, number, expected.pinned.schemas, expected.reads, expected.external, options, bad, problems
        )
        if one is not None:
            problems += _complete(one, expected)
            intakes.append(one)
    if problems:
        raise InputProblem(problems)
    _same_kind(intakes, expected)
    for one in intakes:
        parts += _rows(one, expected, bad)
    bad.judge(options.bad_rows)
    parts.append(_left_out(bad, expected.schema))
    return pa.concat_tables(parts)


def _complete(one: Intake, expected: Expected) -> Iterator[Problem]:
    """Columns of declared types that are not there."""
    live = set(np.unique(one.codes).tolist())
    for code, name in enumerate(one.types):
        if name in expected.declared and name in expected.reads and (code in live or one.source.type is not None):
            yield from missing(name, expected.pinned.schemas[name], one, expected.options.end)


def _same_kind(intakes: list[Intake], expected: Expected) -> None:
    """Times count what the times before them counted."""
    kind = time_kind(intakes, expected.options)
    known = next((i for i in intakes if i.stamped is not None), None)
    if known is not None and kind.timestamp != expected.pinned.kind.timestamp:
        now, before = ("timestamps", "integers") if kind.timestamp else ("integers", "timestamps")
        text = f"the times are {now}, but {before} were expected"
        hint = "specify the unit of integer times with --time-unit, and use a new --checkpoint"
        raise InputProblem(input_problem("bad-time", text, known.source, None if kind.timestamp else hint))


def _rows(one: Intake, expected: Expected, bad: BadRows) -> Iterator[pa.Table]:
    """The rows of one source that are not bad; those that are, are noted."""
    options, schemas = expected.options, expected.pinned.schemas
    owned = np.flatnonzero(np.isin(one.codes, [c for c, t in enumerate(one.types) if t in expected.owned]))
    bad.add(one.number, _OWNED, "bad-value", options.type or "", owned)
    one.codes[owned] = -1
    if one.end is not None and one.source.type is None:
        events = [t for t in expected.reads if t not in schemas or not schemas[t].lasting]
        read = np.isin(one.codes, [c for c, t in enumerate(one.types) if t in events])
        lasting = np.flatnonzero(read & ~one.end.is_null().to_numpy())
        bad.add(one.number, _LASTING, "bad-value", options.end or "", lasting)
        one.codes[lasting] = -1
    outside = np.zeros(len(one.time), np.bool_)
    if expected.start is not None:
        outside |= one.time < expected.start
    if expected.until is not None:
        outside |= one.time > expected.until
    outside &= one.codes >= 0
    if outside.any():
        yield _table(expected, one, np.flatnonzero(outside), {}, OUTSIDE)
        one.codes[outside] = -1
    columns = {t: [n for n in s.names if (t, n) in expected.physical] for t, s in schemas.items()}
    found = by_type(one, schemas, expected.reads, columns, options, bad, expected.until)
    for name, table in found.items():
        codes = [c for c, t in enumerate(one.types) if t == name]  # two ids may have one name
        at = np.concatenate([np.flatnonzero(one.codes == c) for c in codes])
        _refuse_unknown(one, name, at, expected)
        yield _table(expected, one, at, _values(name, table, expected), GOOD)
    strange = [c for c, t in enumerate(one.types) if t not in found]
    others = np.flatnonzero(np.isin(one.codes, strange))
    if len(others):
        ends = {} if one.end is None else {"__end": _until(one.end.take(pa.array(others)), expected.until)}
        yield _table(expected, one, others, ends, GOOD)


def _refuse_unknown(one: Intake, name: str, at: np.ndarray, expected: Expected) -> None:
    """Attributes that had no values when the types were settled, and have some now, have no type."""
    needed = expected.needed.get(name, frozenset())
    for column, kind in expected.pinned.schemas[name]:
        if kind is Type.NULL and (needed is None or column in needed) and column in one.source.table.column_names:
            values = one.source.table.column(column).take(pa.array(at))
            if values.null_count < len(values):
                text = f"column `{column}` of `{name}` had no values at the start, so its type is unknown"
                hint = f"declare it in the rules, `event {name}({column}: ..)`, and use a new --checkpoint"
                raise InputProblem(input_problem("bad-value", text, one.source, hint))


def _values(name: str, table: pa.Table, expected: Expected) -> dict[str, pa.ChunkedArray]:
    out = {}
    for column in table.column_names:
        physical = expected.physical.get((name, column))
        if physical is not None:
            values = table.column(column)
            stamp = pa.types.is_timestamp(values.type)
            out[physical] = values.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()) if stamp else values
    out |= {f"__{c}": table.column(c) for c in ("end", "sequence", "label") if c in table.column_names}
    return out


def _until(end: pa.ChunkedArray, until: int | None) -> pa.ChunkedArray:
    """What ends after the clock still holds."""
    return end if until is None else pc.if_else(pc.greater(end, until), None, end)


def _table(expected: Expected, one: Intake, at: np.ndarray, values: dict[str, pa.ChunkedArray], state: int) -> pa.Table:
    """The rows ``at`` of a source; columns without ``values`` are null."""
    names = pa.DictionaryArray.from_arrays(pa.array(one.codes[at]), pa.array(one.types, pa.string()))
    columns = {
        "__type": names.cast(pa.string()),
        "__time": pa.array(one.time[at]),
        "__state": pa.array(np.full(len(at), state, np.int32)),
        **values,
    }
    if expected.late:
        columns["__data"] = json_rows(one.source.table.take(pa.array(at)))
    arrays = [columns[f.name].cast(f.type) if f.name in columns else pa.nulls(len(at), f.type) for f in expected.schema]
    return pa.table(arrays, schema=expected.schema)


def _left_out(bad: BadRows, schema: pa.Schema) -> pa.Table:
    """One row per bad row, with all its reasons."""
    found = bad.table()
    rows: dict[tuple[str | None, int], dict[str, object]] = {}
    for r in [] if found is None else found.to_pylist():
        row = {"file": r["file"], "row": r["row"], "data": r["data"], "found": []}
        reasons = rows.setdefault((r["file"], r["row"]), row)["found"]
        assert isinstance(reasons, list)
        reasons.append({"r": r["reason"], "n": r["column"], "v": r["value"]})
    texts = pa.array([json.dumps(row, ensure_ascii=False) for row in rows.values()], pa.string())
    state = pa.array(np.full(len(texts), BAD, np.int32))
    columns = {"__bad": texts, "__state": state}
    return pa.table([columns.get(f.name, pa.nulls(len(texts), f.type)) for f in schema], schema=schema)
