"""Change feeds in one table, as Debezium and others write them, in the form that triggers read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from occurs.connect.tables import kind_of, like, to_arrow
from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.model.attribute_types import fit
from occurs.model.nesting import read_json
from occurs.model.types import Schema, Type
from occurs.model.values import short

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Declares(Protocol):
    """A program, of which its declared schemas are used."""

    @property
    def declared(self) -> Mapping[str, Schema]: ...


#: how Spark calls the types of columns
_SPARK = {Type.INT: "long", Type.FLOAT: "double", Type.STRING: "string", Type.BOOL: "boolean",
          Type.TIMESTAMP: "timestamp"}  # fmt: skip


def changes(
    frame: Any,
    *,
    time: str = "time",
    table: str = "table",
    op: str = "op",
    row: str = "row",
    old: str | None = None,
    sequence: str | None = None,
    program: Declares | None = None,
) -> Any:
    """Convert a database change feed to input for :meth:`occurs.Program.detect`.

    The feed has one row per change, as Debezium and similar tools write it (temporal-logic.md).

    Args:
        frame: A pandas, Arrow, Polars or Spark table (Spark also streaming).
        time: The column with the time of the change.
        table: The column with the name of the changed table.
        op: The column with the operation: insert, update, delete, ... or c, u, d, r, I, U, D.
        row: The column with the row after the change: a struct, a map or JSON text.
        old: The column with the row before the change, in the same form.  None: there is none.
        sequence: The column that orders simultaneous changes.  None: there is none.
        program: A program whose table declarations define the columns and their types.  Required on Spark unless the
            rows are structs.  Without it, the text values of a map are read as int, float or boolean if all values of a
            column are.

    Returns:
        In this process, a mapping from table names to tables of the same kind as ``frame``.  On Spark, one DataFrame
        with a column ``type``, in which JSON text that cannot be read becomes a bad row.

    Raises:
        InputProblem: If a column is missing (``missing-column``) or a row is invalid (``bad-value``).
        UsageProblem: If the columns are unknown (``missing-schema``) or have different types in different tables.

    Examples:
        >>> import pyarrow as pa
        >>> from occurs import changes
        >>> feed = pa.table({"time": [1], "table": ["T"], "op": ["c"], "row": ['{"k": "a", "v": 1}']})
        >>> changes(feed)["T"].to_pylist()
        [{'time': 1, 'op': 'c', 'k': 'a', 'v': 1}]
    """
    names = [time, table, op, row, *(n for n in (old, sequence) if n is not None)]
    have = list(frame.columns) if kind_of(frame) != "arrow" else frame.column_names
    for name in names:
        if name not in have:
            hint = did_you_mean(name, have, "columns")
            raise InputProblem.of("missing-column", f"the feed has no column `{name}`", hint=hint)
    if kind_of(frame) == "spark":
        return _on_spark(frame, time, table, op, row, old, sequence, program)
    given = to_arrow(frame)
    parts: dict[str, list[dict[str, Any]]] = {}
    columns = [given.column(n).to_pylist() for n in names]
    for number, values in enumerate(zip(*columns, strict=True), 1):
        one = dict(zip(names, values, strict=True))
        made = {"op": one[op]}
        if old is not None:
            before = _object(one[old], old, number)
            made["old"] = None if before is None else json.dumps(before, default=str)
        if sequence is not None:
            made["sequence"] = one[sequence]
        made |= {n: v for n, v in (_object(one[row], row, number) or {}).items() if n not in made}
        parts.setdefault(one[table], []).append({"time": number, **made})
    times = given.column(time)
    out = {t: _table(t, own, times) for t, own in parts.items() if t is not None}
    kind = given.schema.field(row).type
    if pa.types.is_map(kind) and pa.types.is_string(kind.item_type):
        declared = {} if program is None else program.declared
        out = {t: _read(found, declared.get(t, Schema())) for t, found in out.items()}
    return {t: like(frame, found) for t, found in out.items()}


def _object(value: Any, column: str, number: int) -> dict[str, Any] | None:
    """A row: a struct, a map or JSON."""
    if isinstance(value, str | bytes):
        try:
            value = read_json(value)
        except ValueError:
            raise InputProblem.of(
                "bad-value", f"row {number}: `{column}` is not valid JSON: {short(value)}", row=number
            ) from None
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, list) and all(isinstance(v, tuple) and len(v) == 2 for v in value):
        return dict(value)
    raise InputProblem.of(
        "bad-value", f"row {number}: `{column}` is not a struct, a map or a JSON object: {value!r}", row=number
    )


def _table(name: str, rows: list[dict[str, Any]], times: pa.ChunkedArray) -> pa.Table:
    """The changes of one table; ``time`` is the number of the row, from 1, in ``times``."""
    names = list(dict.fromkeys(n for r in rows for n in r if n != "time"))
    columns: dict[str, pa.Array] = {}
    for column in names:
        values = [r.get(column) for r in rows]
        try:
            columns[column] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            first: dict[type, str] = {}
            for r in rows:
                if (v := r.get(column)) is not None:
                    first.setdefault(type(v), f"row {r['time']}: {v!r}")
            text = f"`{column}` of `{name}` has values of different types: {', '.join(first.values())}"
            raise InputProblem.of("bad-value", text) from error
    for special in ("op", "old"):
        if special in columns:
            columns[special] = columns[special].cast(pa.string())
    return pa.table({"time": times.take(pa.array([r["time"] - 1 for r in rows])), **columns})


def _read(table: pa.Table, declared: Schema) -> pa.Table:
    """The columns of texts as what they are declared, or look like; as they are if a value is otherwise."""
    for at, name in enumerate(table.column_names):
        column = table.column(at)
        if name in ("time", "op", "old", "sequence") or not pa.types.is_string(column.type):
            continue
        for kind in (declared[name],) if name in declared else (Type.INT, Type.FLOAT, Type.BOOL):
            found = fit(column, kind, text=True)
            if found is None or not found.null_count == column.null_count < len(column):
                continue
            # `01` is a number only where one is declared
            if name in declared or kind is not Type.INT or found.cast(pa.string()) == column.cast(pa.string()):
                table = table.set_column(at, name, found)
            break
    return table


def _on_spark(
    frame: DataFrame, time: str, table: str, op: str, row: str, old: str | None, sequence: str | None,
    program: Declares | None,
) -> DataFrame:  # fmt: skip
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    from occurs.connect.kafka.source import deep
    from occurs.connect.sparkcolumns import POISON

    def quoted(name: str) -> Column:
        return F.col("`{}`".format(name.replace("`", "``")))

    kind = frame.schema[row].dataType
    wanted = _columns(program)
    if isinstance(kind, T.StructType):
        value = quoted(row)
        columns = {f.name: value.getField(f.name) for f in kind.fields}
    elif not wanted:
        hint = "use occurs.changes(frame, program=program); the tables that the program declares have the columns"
        raise UsageProblem.of("missing-schema", f"the columns of the rows in `{row}` are unknown", hint=hint)
    elif isinstance(kind, T.MapType):
        columns = {n: quoted(row).getItem(n).try_cast(t) for n, t in wanted.items()}
    else:
        broken, reason = POISON
        names = {**wanted, broken: "string"}
        fields = ", ".join("`{}` {}".format(n.replace("`", "``"), t) for n, t in names.items())
        text = quoted(row).cast("string")
        value = F.from_json(text, fields, {"columnNameOfCorruptRecord": broken})
        columns = {n: value.getField(n) for n in wanted}
        torn = deep(text) | value.isNull() | value.getField(broken).isNotNull()
        torn = text.isNotNull() & F.coalesce(torn, F.lit(False))
        columns[broken] = F.when(torn, text)
        columns[reason] = F.when(torn, F.lit("the row is not JSON of the declared columns"))
    out = [quoted(table).alias("type"), quoted(time).alias("time"), quoted(op).cast("string").alias("op")]
    if sequence is not None:
        out.append(quoted(sequence).alias("sequence"))
    if old is not None:
        before = quoted(old)
        written = isinstance(frame.schema[old].dataType, T.StringType)
        out.append((before if written else F.to_json(before)).alias("old"))
    special = ("type", "time", "op", "sequence", "old")
    return frame.select(*out, *(c.alias(n) for n, c in columns.items() if n not in special))


def _columns(program: Declares | None) -> dict[str, str]:
    """The columns of all declared tables; UsageProblem if one name has several types."""
    declared: Mapping[str, Schema] = {} if program is None else program.declared
    out: dict[str, str] = {}
    for name, schema in declared.items():
        for column, kind in (c for c in schema if c[0] not in schema.optional):
            if out.setdefault(column, _SPARK.get(kind, "string")) != _SPARK.get(kind, "string"):
                text = f"`{column}` has different types in the tables of the program, such as in `{name}`"
                raise UsageProblem.of("bad-option", text, hint="make one feed per table")
    return out
