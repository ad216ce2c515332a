"""The wide rows of a stream: what events are expected to look like, and tables read by the intake of a history.

Tables are read in the tasks of Spark for files that appear, and in this process for a record that is replayed.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.checked_program import CheckedProgram
from occurs.connect.writers import json_rows
from occurs.errors import CheckpointProblem, InputProblem, Problem
from occurs.hosts.spark.wide import Kind, arrow_of, ddl_of, wide_columns
from occurs.model.attributes import by_type, missing
from occurs.model.badrows import BadRows
from occurs.model.history import History
from occurs.model.source import InputOptions, Intake, Source, input_problem
from occurs.model.special import outside, take_in, time_kind
from occurs.model.time import TimeKind
from occurs.model.type_table import TypeTable
from occurs.model.types import Schema, Type
from occurs.plan.partitioning import groups

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
            names = one.source.table.column_names
            yield from missing(name, expected.pinned.schemas[name], names, expected.options.end, one.source.place)


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
    one.leave_out(owned)
    if one.end is not None and one.source.type is None:
        events = [t for t in expected.reads if t not in schemas or not schemas[t].lasting]
        read = np.isin(one.codes, [c for c, t in enumerate(one.types) if t in events])
        lasting = np.flatnonzero(read & ~one.end.is_null().to_numpy())
        bad.add(one.number, _LASTING, "bad-value", options.end or "", lasting)
        one.leave_out(lasting)
    out = outside(one, expected.start, expected.until)
    if out.any():
        yield _table(expected, one, np.flatnonzero(out), {}, OUTSIDE)
        one.leave_out(out)
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


def _values(name: str, table: TypeTable, expected: Expected) -> dict[str, pa.ChunkedArray]:
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


# --- what events look like -------------------------------------------------------------------------------------------

Records = tuple[tuple[str, pa.DataType], ...]
#: the special columns of wide rows, as :class:`occurs.hosts.stream.source.StreamSource` has them
_SPECIAL = {
    "__type": "string", "__time": "bigint", "__end": "bigint", "__sequence": "bigint", "__label": "string",
    "__state": "int",
}  # fmt: skip
_ARROW = {"string": pa.string(), "bigint": pa.int64(), "int": pa.int32()}


@dataclass(frozen=True)
class Pinned:
    """What the first look at the input has settled.

    ``schemas``: of the types that the program reads; ``sequence``, ``label``, ``end``: is there such a column?
    ``notices``: of that look; a checkpoint does not remember them.
    """

    schemas: Mapping[str, Schema]
    kind: TimeKind
    sequence: bool
    label: bool
    end: bool = False
    notices: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, program: CheckedProgram, history: History, sources: Sequence[Source], options: InputOptions) -> Pinned:
        """From a history of what is there.  Raises InputProblem (``missing-schema``) for a type of which nothing is
        known, neither by declaration nor from rows."""
        read = {t: s for t, s in history.schemas.items() if t in program.reads}
        empty = not any(len(s.table) for s in sources)
        missing = sorted(t for t in program.external if t not in read or (empty and _open(read[t])))
        if missing:
            names = ", ".join(f"`{t}`" for t in missing)
            text = f"the attributes of {names} are unknown: there are no events yet, and the types are not declared"
            hint = f"declare them in the rules, `event {missing[0]}(Name: type, ..)`, or start when events have arrived"
            raise InputProblem.of("missing-schema", text, hint=hint)
        columns = {c for s in sources for c in s.table.column_names}
        sequence, label, end = (c in columns for c in (options.sequence, options.label, options.end))
        return cls(read, history.kind, sequence, label, end, tuple(history.notices))

    def with_more(self, schemas: Mapping[str, Schema]) -> Pinned:
        """With these schemas, too; what they leave open is as it was."""
        more = {}
        for t, schema in schemas.items():
            more[t] = schema.completed(dict(self.schemas[t])) if t in self.schemas else schema
        return replace(self, schemas={**self.schemas, **more})

    def entry(self) -> dict[str, Any]:
        """Plain JSON."""
        schemas = {}
        for t, s in self.schemas.items():
            more = [[s.changes, s.rest, s.loose]] if s.changes or s.rest or s.loose else []
            schemas[t] = [s.ordered, s.lasting, [[n, k.value] for n, k in s], *more]
        kind = [self.kind.timestamp, self.kind.unit]
        ends = {"end": True} if self.end else {}
        lists = {t: _to_text(s.records) for t, s in self.schemas.items() if s.records}
        more_of = ends | ({"lists": lists} if lists else {})
        return {"schemas": schemas, "kind": kind, "sequence": self.sequence, "label": self.label, **more_of}

    @classmethod
    def load(cls, entry: Mapping[str, Any]) -> Pinned:
        """What :meth:`entry` gave.  Raises CheckpointProblem for anything else."""
        try:
            schemas = {
                t: Schema(tuple((n, Type(k)) for n, k in attributes), ordered, lasting, *(flags[0] if flags else ()))
                for t, (ordered, lasting, attributes, *flags) in entry["schemas"].items()
            }
            for t, text in entry.get("lists", {}).items():
                schemas[t] = replace(schemas[t], records=_from_text(text))
            kind, end = TimeKind(*entry["kind"]), entry.get("end", False)
            return cls(schemas, kind, entry["sequence"], entry["label"], end)
        except (KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise CheckpointProblem.damaged("the event types in the checkpoint", repr(error)) from error


def _to_text(lists: Records) -> str:
    """The types of columns of lists: an Arrow schema in base64."""
    return b64encode(pa.schema(lists).serialize().to_pybytes()).decode()


def _from_text(text: str) -> Records:
    found = pa.ipc.read_schema(pa.py_buffer(b64decode(text, validate=True)))
    return tuple((f.name, f.type) for f in found)


def _open(schema: Schema) -> bool:
    return any(t is Type.NULL for _, t in schema)


@dataclass(frozen=True)
class Expected:
    """How sources become wide rows.  ``declared``: types whose columns must be there; ``reads``, ``external``: types
    that the program reads, and those of them that no rule makes; ``needed``: per type the attributes that matter (None:
    all); ``start``, ``until``: ends of the clock in ticks; ``late``: with every row as it came, as JSON; ``owned``:
    types of which only rules make rows.
    """

    pinned: Pinned
    declared: frozenset[str]
    reads: tuple[str, ...]
    external: tuple[str, ...]
    options: InputOptions
    needed: Mapping[str, frozenset[str] | None]
    start: int | None = None
    until: int | None = None
    late: bool = False
    owned: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        program: CheckedProgram,
        pinned: Pinned,
        options: InputOptions,
        ends: tuple[int | None, int | None],
        labelled: bool,
    ) -> Expected:
        """``ends``: of the clock.  Plans the program: raises DefinitionProblem."""
        stage = program.plan(pinned.schemas, pinned.kind)
        needed: dict[str, frozenset[str] | None] = {}
        for group in groups(stage.definitions, stage):
            for t, more in group.needs(labelled).items():
                before = needed.get(t, frozenset())
                needed[t] = None if more is None or before is None else before | more
        options = program.input_options(options)
        reads, external = tuple(sorted(program.reads)), tuple(sorted(program.external))
        owned = frozenset(program.owned)
        return cls(pinned, frozenset(program.declared), reads, external, options, needed, *ends, owned=owned)

    def with_late(self) -> Expected:
        return replace(self, late=True)

    @cached_property
    def _wide(self) -> tuple[dict[tuple[str, Kind], str], dict[tuple[str, str], str]]:
        return wide_columns(dict(sorted(self.pinned.schemas.items())), self.needed)

    @property
    def columns(self) -> dict[tuple[str, Kind], str]:
        """One column per (attribute, type), so that event types may use one name differently."""
        return self._wide[0]

    @property
    def physical(self) -> dict[tuple[str, str], str]:
        """(event type, attribute) to its column."""
        return self._wide[1]

    @cached_property
    def schema(self) -> pa.Schema:
        """Of the wide rows; in them timestamps are microseconds."""
        fields = [(n, _ARROW[t]) for n, t in _SPECIAL.items()]
        fields += [("__bad", pa.string())] + [("__data", pa.string())] * self.late
        return pa.schema(fields + [(c, arrow_of(t)) for (_, t), c in self.columns.items()])

    @property
    def ddl(self) -> str:
        """The same for Spark."""
        parts = [f"{n} {t}" for n, t in _SPECIAL.items()] + ["__bad string"] + ["__data string"] * self.late
        return ", ".join(parts + [f"{c} {ddl_of(t)}" for (_, t), c in self.columns.items()])
