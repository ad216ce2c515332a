"""The two ends of the way into Python and back: wide Arrow batches to rows of types, detections to wide batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.engine import concat_rows
from occurs.engine.order import input_rows
from occurs.engine.outputs import because_type
from occurs.engine.results import TypeRows
from occurs.errors import UsageProblem
from occurs.hosts.windows import WindowRows
from occurs.model.astext import plain_text
from occurs.model.lists import fit_lists
from occurs.model.time import TimeKind
from occurs.model.type_table import TypeTable
from occurs.model.types import Schema, Type, from_arrow, widen
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

DDL_TYPES = {
    Type.INT: "bigint",
    Type.FLOAT: "double",
    Type.STRING: "string",
    Type.BOOL: "boolean",
    Type.TIMESTAMP: "bigint",
    Type.DURATION: "bigint",
    Type.NULL: "string",
}
#: what a column holds: a type, or of records their Arrow type
Kind: TypeAlias = Type | Any
_BECAUSE = "array<struct<role:string,type:string,time:{t},end:{t},label:string,attributes:string>>"


#: up to so many types cross into Python as numbers
MOST_NUMBERED = 16
#: rows of a batch
MOST_ROWS = 100_000


def kinds_of(schema: Schema) -> list[tuple[str, Kind]]:
    """The attributes of a schema with what their columns hold; what is of several types is text."""
    found = input_kinds(schema)
    return [(n, Type.STRING if isinstance(k, pa.DataType) and pa.types.is_union(k) else k) for n, k in found]


def input_kinds(schema: Schema) -> list[tuple[str, Kind]]:
    """The attributes of rows that come in with what their columns hold: lists are what they are."""
    return [(n, schema.arrow_of(n, t) if t is Type.RECORD else t) for n, t in schema]


def wide_columns(
    schemas: Mapping[str, Schema], needed: Mapping[str, Collection[str] | None] | None = None
) -> tuple[dict[tuple[str, Kind], str], dict[tuple[str, str], str]]:
    """One column per (attribute, type), so that event types may use one name differently, and (event type, attribute)
    to it.  ``needed``: per event type the attributes that matter (None: all)."""
    columns: dict[tuple[str, Kind], str] = {}
    physical = {}
    for t, schema in schemas.items():
        wanted = None if needed is None else needed.get(t, frozenset())
        for name, kind in input_kinds(schema):
            if kind is not Type.NULL and (wanted is None or name in wanted):
                physical[(t, name)] = columns.setdefault((name, kind), f"c{len(columns)}")
    return columns, physical


def ddl_of(kind: Kind) -> str:
    """Spark's type of a column."""
    if isinstance(kind, Type):
        return DDL_TYPES[kind]
    if pa.types.is_list(kind):
        return f"array<{ddl_of(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{ddl_of(kind.key_type)}, {ddl_of(kind.item_type)}>"
    if pa.types.is_binary(kind):
        return "binary"
    if pa.types.is_struct(kind):
        parts = ("`{}`:{}".format(f.name.replace("`", "``"), ddl_of(f.type)) for f in kind)
        return f"struct<{', '.join(parts)}>"
    return "timestamp" if pa.types.is_timestamp(kind) else DDL_TYPES[from_arrow(kind) or Type.NULL]


def arrow_of(kind: Kind) -> pa.DataType:
    """The Arrow type of a column on its way."""
    return ARROW[kind] if isinstance(kind, Type) else kind


def joint(one: Kind, other: Kind) -> Kind | None:
    """The least kind that holds both, or None."""
    if isinstance(one, Type) and isinstance(other, Type):
        return widen(one, other)
    return one if one == other else None


def joint_kinds(types: Iterable[tuple[str, Schema]]) -> dict[str, Kind]:
    """The attributes of several types side by side.  Raises UsageProblem if attributes of one name differ."""
    kinds: dict[str, Kind] = {}
    first: dict[str, str] = {}
    for type, schema in types:
        for name, kind in kinds_of(schema):
            both = joint(kinds.get(name, kind), kind)
            if both is None:
                text = f"attribute `{name}` is {kinds[name]} in `{first[name]}` but {kind} in `{type}`"
                raise UsageProblem.of("bad-option", text, hint="name types whose attributes agree: together(..)")
            kinds[name] = both
            first.setdefault(name, type)
    return kinds


def because_ddl(kind: TimeKind) -> str:
    """Spark's type of constituents."""
    return _BECAUSE.format(t="timestamp" if kind.timestamp else "bigint")


@dataclass(frozen=True)
class Inlet:
    """Where rows of ``type`` come from: the input, or (``derived``) an earlier stage.  ``labelled``: they bring their
    labels.  ``columns``: (attribute, type, column of the wide batch; empty if all its values are null)."""

    type: str
    derived: bool
    labelled: bool
    columns: tuple[tuple[str, Type, str], ...]


def type_numbers(inlets: Sequence[Inlet]) -> dict[str, int]:
    """The number of every type that comes in, in the order of names."""
    return {t: n for n, t in enumerate(sorted({i.type for i in inlets}))}


@dataclass(frozen=True)
class Wide:
    """Rows of all reported types in the same columns: ``physical`` says which one an attribute of a type is in.  The
    attributes of different types share columns, whatever their names, so that thousands of types need few.  Types are
    numbered as in ``reported``.  ``lasting``: some of them last, so there is a column ``__end``.  ``final``: some
    rows are told before they are, so there is a column ``__final``.  ``step``: in window mode the ticks from query to
    query; a row comes once, with its first query (``__query``) and how many queries give it (``__times``)."""

    reported: tuple[str, ...]
    fields: tuple[tuple[str, Kind], ...]
    physical: Mapping[tuple[str, str], str]
    kind: TimeKind
    label: bool
    because: bool
    lasting: bool = False
    final: bool = False
    step: int | None = None

    @classmethod
    def of(cls, stage: Stage, label: bool, because: bool, final: bool = False, step: int | None = None) -> Wide:
        #: by what a column holds, and which of a type's columns that hold it it is
        columns: dict[tuple[Kind, int], str] = {}
        physical = {}
        for t in stage.reported:
            seen: Counter[Kind] = Counter()
            for name, at in kinds_of(stage.schemas[t]):
                physical[(t, name)] = columns.setdefault((at, seen[at]), f"o{len(columns)}")
                seen[at] += 1
        fields = tuple((c, at) for (at, _), c in columns.items())
        lasting = any(stage.schemas[t].lasting for t in stage.reported)
        return cls(stage.reported, fields, physical, stage.kind, label, because, lasting, final, step)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """The number of every type."""
        return {t: n for n, t in enumerate(self.reported)}

    @property
    def _columns(self) -> list[tuple[str, str, pa.DataType]]:
        """The columns of wide rows: name, Spark's type, Arrow type."""
        found = [("__type", "int", pa.int32()), ("__time", "bigint", pa.int64())]
        found += [("__end", "bigint", pa.int64())] if self.lasting else []
        found += [(c, ddl_of(t), arrow_of(t)) for c, t in self.fields]
        found += [(n, "bigint", pa.int64()) for n in ("__query", "__times") if self.step is not None]
        found += [("__final", "boolean", pa.bool_())] if self.final else []
        found += [("__label", "string", pa.string())] if self.label else []
        return found + ([("__because", because_ddl(self.kind), because_type(self.kind))] if self.because else [])

    def sources(self, types: Collection[str]) -> dict[str, dict[str, tuple[str, ...] | None]]:
        """Per attribute of some types the columns that have it, each with the types whose attribute it is; None if it
        has no other attribute of any of them."""
        wanted = set(types)
        names: dict[str, dict[str, list[str]]] = {}
        for (t, name), column in self.physical.items():
            if t in wanted:
                names.setdefault(column, {}).setdefault(name, []).append(t)
        out: dict[str, dict[str, tuple[str, ...] | None]] = {}
        for column, of in names.items():
            for name, own in of.items():
                out.setdefault(name, {})[column] = None if len(of) == 1 else tuple(own)
        return out

    @property
    def ddl(self) -> str:
        return ", ".join(f"{name} {ddl}" for name, ddl, _ in self._columns)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, type) for name, _, type in self._columns])

    def batches(self, found: TypeRows, stage: Stage) -> Iterator[pa.RecordBatch]:
        """Detections of one call of an engine of ``stage``; types share batches, and the rows of a type stand together.

        Of thousands of types few have rows, and those that one operator has found are one table."""
        filling = Filling(self.schema)
        numbers = self._numbers
        left = numbers.keys() & found.found()
        if not (self.because or self.final or self.step is not None):
            for types, sizes, table in found.joint_tables(left, label=self.label):
                left -= set(types)
                number = np.repeat(np.array([numbers[t] for t in types], np.int32), sizes)
                filling.add(len(table), self._filled(table, types[0], stage.schemas[types[0]], number))
                yield from filling.full()
        for t in sorted(left, key=numbers.__getitem__):
            if found.count(t):
                table = self._table(found, t)
                number = np.full(len(table), numbers[t], np.int32)
                filling.add(len(table), self._filled(table, t, stage.schemas[t], number))
                yield from filling.full()
        yield from filling.batches()

    def _table(self, found: TypeRows, type: str) -> pa.Table:
        if isinstance(found, WindowRows):
            return found.once(type, label=self.label, because=self.because)
        return found.table(type, label=self.label, because=self.because, final=self.final)

    def _filled(
        self, table: pa.Table, type: str, schema: Schema, number: np.ndarray
    ) -> dict[str, pa.Array | pa.ChunkedArray]:
        """Those columns of the rows of a type, or of several with its schema, that are not null throughout; ``number``:
        of the type of each."""
        columns = {"__type": pa.array(number), "__time": table.column("time")}
        if schema.lasting:
            columns["__end"] = table.column("end")
        for name in schema.names:
            column = table.column(name)
            columns[self.physical[(type, name)]] = plain_text(column) if pa.types.is_union(column.type) else column
        if self.step is not None:
            columns |= {"__query": table.column("query"), "__times": table.column("times")}
        asked = ("final", self.final), ("label", self.label), ("because", self.because)
        return columns | {f"__{n}": table.column(n) for n, wanted in asked if wanted}


class Filling:
    """A table that grows by rows that have few of its columns; the others are null."""

    def __init__(self, schema: pa.Schema):
        self.schema = schema
        self._types = {f.name: f.type for f in schema}
        self._empty()

    def _empty(self) -> None:
        self.rows = 0
        self._pieces: dict[str, list[pa.Array]] = {name: [] for name in self._types}
        #: up to which row each column goes
        self._filled = dict.fromkeys(self._types, 0)

    def add(self, rows: int, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> None:
        """Further rows with these columns, in the types of the schema or such that can be cast to them."""
        for name, column in columns.items():
            type, pieces = self._types[name], self._pieces[name]
            self._pad(name, self.rows)
            column = column if column.type == type else column.cast(type)
            pieces += column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            self._filled[name] = self.rows + rows
        self.rows += rows

    def full(self) -> Iterator[pa.RecordBatch]:
        """All rows if they are many: then the table is empty again."""
        if self.rows >= MOST_ROWS:
            yield from self.batches()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, so many at a time; the table is empty again."""
        if self.rows == 0:
            return
        for name in self._types:
            self._pad(name, self.rows)
        columns = [pa.chunked_array(self._pieces[name], type) for name, type in self._types.items()]
        table = pa.Table.from_arrays(columns, schema=self.schema).combine_chunks()
        self._empty()
        yield from table.to_batches(max_chunksize=MOST_ROWS)

    def _pad(self, name: str, rows: int) -> None:
        """Nulls up to the row number ``rows``."""
        if self._filled[name] < rows:
            self._pieces[name].append(pa.nulls(rows - self._filled[name], self._types[name]))
            self._filled[name] = rows


ARROW = {
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.int64(),
    Type.DURATION: pa.int64(),
    Type.NULL: pa.string(),
}


def wide_rows(
    stage: Stage, inlets: Sequence[Inlet], table: pa.Table | None, labelled: bool, types: Sequence[str] = ()
) -> dict[str, Rows]:
    """The rows of each type, in the total order.  ``types``: those behind the numbers, if not the inlets' own."""
    out: dict[str, Rows] = {}
    if table is None or table.num_rows == 0:
        return out
    column = table.column("__type") if "__type" in table.column_names else None
    if column is None:  # there is only one
        codes, names = None, list(type_numbers(inlets))
    elif pa.types.is_integer(column.type):
        codes, names = column, list(types or type_numbers(inlets))
    else:
        encoded = column.combine_chunks().dictionary_encode()
        encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
        codes, names = encoded.indices, encoded.dictionary.to_pylist()
    parts: dict[str, list[Rows]] = {}
    of_type: dict[str, list[Inlet]] = {}
    # derived rows first: they have all columns of their type, which rows of the input may lack
    for inlet in sorted(inlets, key=lambda i: not i.derived):
        of_type.setdefault(inlet.type, []).append(inlet)
    for t, all_rows in by_type(table, codes, names):
        for inlet in of_type.get(t, ()):
            part = all_rows
            if "__derived" in table.column_names:
                part = part.filter(pc.equal(part.column("__derived"), inlet.derived))
            if part.num_rows:
                schema = stage.schemas.get(t, Schema())
                loose = t in stage.unordered and not labelled
                parts.setdefault(t, []).append(_typed(inlet, part, schema, labelled, t in stage.numbered, loose))
    for t, found in parts.items():
        out[t] = found[0]
        if len(found) > 1:
            both = concat_rows(found)
            out[t] = both.take(np.argsort(both.time, kind="stable"))
    return out


def by_type(
    table: pa.Table, codes: pa.Array | pa.ChunkedArray | None, names: Sequence[str]
) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each type that there are rows of, in their order.  ``codes``: per row the number of its name, null or
    one without a name for marks, which have no type (None: all rows are of the first one)."""
    if codes is None:
        yield names[0], table
        return
    number = pc.fill_null(codes, -1).to_numpy()
    if number[0] >= 0 and (number == number[0]).all():
        bounds = [0, len(number)]
    else:
        order = np.argsort(number, kind="stable")
        number = number[order]
        table = table.take(pa.array(order))
        bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    for first, after in pairwise(bounds):
        if 0 <= number[first] < len(names):
            yield names[number[first]], table.slice(first, after - first)


def _typed(inlet: Inlet, part: pa.Table, schema: Schema, labelled: bool, numbered: bool, loose: bool) -> Rows:
    names, arrays = ["time"], [part.column("__time")]
    if "__sequence" in part.column_names and not inlet.derived:
        names.append("sequence")
        arrays.append(part.column("__sequence"))
    if schema.lasting:
        names.append("end")
        there = "__end" in part.column_names
        arrays.append(part.column("__end") if there else pa.nulls(part.num_rows, pa.int64()))
    if inlet.labelled and labelled:
        names.append("label")
        arrays.append(part.column("__label"))
    for name, at, column in inlet.columns:
        names.append(name)
        if not column:
            arrays.append(pa.nulls(part.num_rows))
        elif at is Type.TIMESTAMP:
            arrays.append(part.column(column).cast(pa.timestamp("us", tz="UTC")))
        elif at is Type.RECORD:
            arrays.append(fit_lists(part.column(column), schema.arrow_of(name, at)))
        else:
            arrays.append(part.column(column))
    table = TypeTable.of(pa.table(arrays, names=names))
    return input_rows(inlet.type, table, schema, labelled, numbered=numbered, loose=loose)
