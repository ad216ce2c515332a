"""The Spark batch host: a program over DataFrames, with classic Spark and with Spark Connect.

Only the rows and columns that can matter cross into Python.  A keyed program is split by a hash of its key; each
partition is sorted by time in the JVM and streamed through an engine, which keeps no more than the retention.  Without
a key, history is cut into slices of time that overlap by the retention; consuming and recursive programs without a key
run in one partition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from occurs.errors import InputProblem, OccursError, UsageProblem, did_you_mean
from occurs.hosts.pushdown import static_filter
from occurs.hosts.wide import Wide, make_engine_task
from occurs.model.history import InputOptions
from occurs.model.ticks import instant, time_unit
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import RESERVED_INPUT, Schema, Type
from occurs.plan.spread import Group, groups

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from occurs.program import Program

#: hash buckets, or slices of time, of a run
PARTITIONS = 8


def detect(
    program: Program,
    events: Any,
    options: InputOptions,
    *,
    because: bool = False,
    with_label: bool = False,
    only: list[str] | None = None,
    partitions: int = PARTITIONS,
) -> SparkDetections:
    """Everything that ``program`` finds in a DataFrame, or in a mapping from types to DataFrames."""
    source = read(program, events, options)
    found: dict[str, DataFrame] = {}
    stage = program.plan(source.schemas, source.kind)
    everything = program.definitions(source.schemas, source.kind)
    for group in groups(everything, stage):
        outputs = run_group(group, source, partitions, with_label, because)
        found.update(outputs)
    types = tuple(t for t in stage.reported if only is None or t in only)
    for name in only or ():
        if name not in stage.reported:
            hint = did_you_mean(name, stage.reported, "types")
            raise UsageProblem.of("unknown-name", f"`{name}` is not reported", hint=hint)
    return SparkDetections({t: found[t] for t in types}, source.counts)


class SparkDetections(Mapping[str, "DataFrame"]):
    """What was found: type -> DataFrame, in evaluation order.  Evaluated when an action asks for it; the detections of
    definitions that run together are computed once and cached until ``unpersist``."""

    def __init__(self, tables: dict[str, DataFrame], counts: dict[str, int]):
        self._tables = tables
        self.counts = counts
        self.notices: list[Any] = []
        self.bad = None
        self.late = None

    def __getitem__(self, type: str) -> DataFrame:
        return self._tables[type]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


@dataclass
class SparkSource:
    """The input as one wide DataFrame: ``__type``, ``__time`` (long), ``__sequence``, ``__label`` if there are, and a
    column per attribute; ``physical`` says which column an attribute of a type is in."""

    frame: DataFrame
    schemas: dict[str, Schema]
    kind: TimeKind
    clock: tuple[int, int] | None
    physical: Mapping[tuple[str, str], str]
    counts: dict[str, int]
    has_sequence: bool
    has_label: bool
    timed: bool = False


def read(program: Program, events: Any, options: InputOptions) -> SparkSource:
    """The input in one wide DataFrame; refuses what the local host would refuse."""
    from pyspark.sql import functions as F

    reads = sorted(program.reads)
    frames: dict[str | None, DataFrame] = dict(events) if isinstance(events, Mapping) else {None: events}
    names = {str(i): n for i, n in program.assigned.items()}
    schemas: dict[str, Schema] = {}
    kinds: set[TimeKind] = set()
    parts: list[tuple[DataFrame, str | None, dict[str, Type]]] = []
    for name, frame in frames.items():
        fields = {f.name: f.dataType for f in frame.schema.fields}
        if options.time not in fields:
            raise InputProblem.of(
                "missing-column",
                f"there is no time column `{options.time}`" + (f" in the table of `{name}`" if name else ""),
                hint=did_you_mean(options.time, fields, "columns"),
            )
        kinds.add(_kind(fields[options.time], options))
        own: str | None = name
        if name is None and (options.type is None or options.type not in fields):
            if len(reads) != 1:
                raise InputProblem.of(
                    "missing-column",
                    f"there is no type column `{options.type}`, and the program reads several types: "
                    + ", ".join(reads),
                    hint="give one DataFrame per type, or name the column: type=...",
                )
            own = reads[0]
        special = {options.time, options.sequence, options.label, options.end, options.type}
        attributes = {}
        for column, spark_type in fields.items():
            found = None if column in special or column in RESERVED_INPUT else _type(spark_type)
            if found is not None:
                attributes[column] = found
        for t in [own] if own is not None else reads:
            schemas[t] = Schema(tuple(attributes.items()), ordered=own is not None)
        parts.append((frame, own, attributes))
    if len(kinds) > 1:
        raise InputProblem.of("bad-time", "the tables have times of different kinds: timestamps and integers")
    kind = next(iter(kinds))
    declared = program.declared
    for t, schema in declared.items():
        if t in schemas:
            _check_declared(t, schema, schemas[t])
            schemas[t] = schema
    # one column per (attribute, type), so that types may use one name differently
    columns: dict[tuple[str, Type], str] = {}
    physical: dict[tuple[str, str], str] = {}
    for t, schema in schemas.items():
        for attribute, at in schema:
            column_name = columns.setdefault((attribute, at), f"c{len(columns)}")
            physical[(t, attribute)] = column_name
    has_sequence = any(options.sequence in f.columns for f, _, _ in parts)
    has_label = any(options.label in f.columns for f, _, _ in parts)
    wide = None
    for frame, own, attributes in parts:
        type_column: Column = F.lit(own) if own is not None else F.col(f"`{options.type}`").cast("string")
        if own is None:
            for number, assigned in names.items():
                type_column = F.when(type_column == number, F.lit(assigned)).otherwise(type_column)
        selected = [type_column.alias("__type"), _ticks(options.time, frame, kind).alias("__time")]
        if has_sequence:
            present = options.sequence in frame.columns
            value = F.col(f"`{options.sequence}`") if present else F.lit(None)
            selected.append(value.cast("long").alias("__sequence"))
        if has_label:
            present = options.label in frame.columns
            selected.append((F.col(f"`{options.label}`") if present else F.lit(None)).cast("string").alias("__label"))
        for (attribute, at), column_name in columns.items():
            if attribute in attributes:
                selected.append(_value(attribute, at).alias(column_name))
            else:
                selected.append(F.lit(None).cast(_SPARK[at]).alias(column_name))
        piece = frame.select(*selected)
        wide = piece if wide is None else wide.unionByName(piece)
    assert wide is not None
    return _clocked(wide, schemas, kind, physical, options, has_sequence, has_label)


def _clocked(
    wide: DataFrame,
    schemas: dict[str, Schema],
    kind: TimeKind,
    physical: Mapping[tuple[str, str], str],
    options: InputOptions,
    has_sequence: bool,
    has_label: bool,
) -> SparkSource:
    """Count and refuse rows without time or type; find the clock."""
    from pyspark.sql import functions as F

    start = None if options.start is None else instant(options.start, kind, "--start")
    until = None if options.until is None else instant(options.until, kind, "--until")
    bad = F.col("__time").isNull() | F.col("__type").isNull()
    inside = ~bad
    if start is not None:
        inside &= F.col("__time") >= start
    if until is not None:
        inside &= F.col("__time") <= until
    row = wide.select(
        F.count(F.lit(1)),
        F.coalesce(F.sum(bad.cast("long")), F.lit(0)),
        F.coalesce(F.sum(inside.cast("long")), F.lit(0)),
        F.min(F.when(inside, F.col("__time"))),
        F.max(F.when(inside, F.col("__time"))),
    ).first()
    assert row is not None
    rows, n_bad, n_inside, first, last = row
    if n_bad and options.bad_rows == "error":
        raise InputProblem.of(
            "bad-value",
            f"{n_bad} of {rows} rows have no time or no type",
            hint="bad_rows='skip' leaves them out and counts them",
        )
    clock = None
    if n_inside:
        clock = (first if start is None else start, last if until is None else until)
    counts = {"rows": rows, "bad": n_bad, "outside": rows - n_bad - n_inside}
    return SparkSource(wide.where(inside), schemas, kind, clock, physical, counts, has_sequence, has_label)


_SPARK = {Type.INT: "long", Type.FLOAT: "double", Type.STRING: "string", Type.BOOL: "boolean", Type.TIMESTAMP: "long"}


def _type(spark_type: Any) -> Type | None:
    from pyspark.sql import types as T

    if isinstance(spark_type, T.LongType | T.IntegerType | T.ShortType | T.ByteType):
        return Type.INT
    if isinstance(spark_type, T.DoubleType | T.FloatType | T.DecimalType):
        return Type.FLOAT
    if isinstance(spark_type, T.StringType | T.VarcharType | T.CharType):
        return Type.STRING
    if isinstance(spark_type, T.BooleanType):
        return Type.BOOL
    if isinstance(spark_type, T.TimestampType | T.TimestampNTZType | T.DateType):
        return Type.TIMESTAMP
    return None


def _kind(spark_type: Any, options: InputOptions) -> TimeKind:
    t = _type(spark_type)
    if t is Type.TIMESTAMP:
        return TIMESTAMP
    if t is Type.INT:
        return TimeKind(False, time_unit(options.time_unit))
    raise InputProblem.of(
        "bad-time",
        f"the time column `{options.time}` is of type {spark_type.simpleString()}",
        hint="a timestamp, or integers with time_unit=...; cast it in Spark",
    )


def _ticks(name: str, frame: DataFrame, kind: TimeKind) -> Column:
    from pyspark.sql import functions as F

    column = F.col(f"`{name}`")
    return _micros(column) if kind.timestamp else column.cast("long")


def _micros(column: Column) -> Column:
    from pyspark.sql import functions as F

    return F.unix_micros(column.cast("timestamp"))


def _value(attribute: str, t: Type) -> Column:
    from pyspark.sql import functions as F

    column = F.col(f"`{attribute}`")
    if t is Type.TIMESTAMP:
        return _micros(column)
    if t is Type.FLOAT:
        number = column.cast("double")
        return F.when(F.isnan(number), F.lit(None)).otherwise(number)
    return column.cast(_SPARK[t])


def _check_declared(name: str, declared: Schema, observed: Schema) -> None:
    for attribute, t in declared:
        found = observed.get(attribute)
        if found is None:
            raise InputProblem.of(
                "missing-column",
                f"type `{name}` declares `{attribute}`, which its table does not have",
                hint=did_you_mean(attribute, observed.names, "columns"),
            )
        if found is not t and not (found is Type.INT and t is Type.FLOAT):
            raise InputProblem.of("type-mismatch", f"`{name}.{attribute}` is declared {t}, but the column is {found}")


# -- running -----------------------------------------------------------------------------------------------------------
def run_group(
    group: Group, source: SparkSource, partitions: int, label: bool, because: bool
) -> dict[str, DataFrame]:
    """The detections of definitions that run together: one job for all their types."""
    from pyspark.sql import functions as F

    stage = group.stage
    wanted = sorted(stage.inputs)
    frame = source.frame
    condition = F.lit(False)
    for t in wanted:
        keep = F.col("__type") == t
        extra = static_filter(stage, t, source.physical)
        condition = condition | (keep if extra is None else keep & extra)
    frame = frame.where(condition)
    needed = group.columns(label or because)
    physical = {k: v for k, v in source.physical.items() if k[0] in wanted and (needed is None or k in needed)}
    columns = sorted(set(physical.values()), key=lambda c: int(c[1:]))
    special = ["__type", "__time"]
    special += ["__sequence"] if source.has_sequence else []
    special += ["__label"] if source.has_label and (label or because) else []
    selected = [F.col(c) for c in special + columns]
    clock = source.clock
    mode = group.mode
    if mode == "keyed":
        keys = _key_columns(group, source)
        frame = frame.repartition(partitions, *keys).sortWithinPartitions("__time").select(*selected)
        slices = None
    elif mode == "free":
        frame = frame.select(*selected).sortWithinPartitions("__time")
        slices = None
    elif mode == "slices" and clock is not None and clock[1] > clock[0]:
        slices = _slices(clock, group.overlap, partitions)
        frame = _sliced(frame.select(*selected), slices, group.overlap)
        if stage.timers:
            frame = _with_marks(frame, [(number, first) for number, (first, _) in enumerate(slices)])
        frame = frame.repartitionByRange(partitions, "__slice").sortWithinPartitions("__slice", "__time")
    else:
        frame = frame.select(*selected)
        if stage.timers and clock is not None:
            frame = _with_marks(frame, [(None, clock[0])])
        frame = frame.repartition(1).sortWithinPartitions("__time")
        slices = None
    wide = Wide.of(stage, label, because)
    task = make_engine_task(stage, wide, physical, clock, slices, label or because)
    result = frame.mapInArrow(task, wide.ddl)
    if len(stage.reported) > 1:
        result = result.persist()
    return {
        t: result.where(F.col("__type") == t).select(*_output(wide, stage.schemas[t], t)) for t in stage.reported
    }


def _key_columns(group: Group, source: SparkSource) -> list[Column]:
    """Per position of the key one column, whatever the attribute is called in each type."""
    from pyspark.sql import functions as F

    key = {t: a for t, a in group.stage.key.items() if t in group.stage.inputs}
    out = []
    for position in range(len(next(iter(key.values())))):
        types = {source.schemas[t][a[position]] for t, a in key.items() if t in source.schemas}
        column = F.lit(None)
        cast = "double" if len(types) > 1 else _SPARK[next(iter(types))]
        for t, a in key.items():
            if (t, a[position]) in source.physical:
                value = F.col(source.physical[(t, a[position])]).cast(cast)
                # -0.0 and 0.0 are equal, and so must be their buckets
                value = value + F.lit(0.0) if cast == "double" else value
                column = F.when(F.col("__type") == t, value).otherwise(column)
        out.append(column)
    return out


def _slices(clock: tuple[int, int], overlap: int, partitions: int) -> list[tuple[int, int]]:
    """[first, last] of each slice of the clock: not so many that the overlaps are most of the work."""
    first, last = clock
    span = last - first + 1
    n = max(1, min(partitions, span // max(1, overlap)))
    width = -(-span // n)
    return [(first + i * width, min(last, first + (i + 1) * width - 1)) for i in range(n) if first + i * width <= last]


def _sliced(frame: DataFrame, slices: list[tuple[int, int]], overlap: int) -> DataFrame:
    from pyspark.sql import functions as F

    first, width = slices[0][0], slices[0][1] - slices[0][0] + 1
    time = F.col("__time") - F.lit(first)
    low = (time - time % F.lit(width)) / F.lit(width)
    later = time + F.lit(overlap)
    high = (later - later % F.lit(width)) / F.lit(width)
    high = F.least(high, F.lit(len(slices) - 1))
    numbers = F.sequence(low.cast("int"), high.cast("int"))
    return frame.withColumn("__slice", F.explode(numbers))


def _with_marks(frame: DataFrame, marks: list[tuple[int | None, int]]) -> DataFrame:
    """Rows of no type, one per (slice, time), so that timers fire where there are no events at all."""
    from pyspark.sql import functions as F

    session = frame.sparkSession
    parts = [frame]
    for number, time in marks:
        values = {"__type": F.lit(""), "__time": F.lit(time).cast("long")}
        if number is not None:
            values["__slice"] = F.lit(number)
        parts.append(session.range(1).select(*(c.alias(n) for n, c in values.items())))
    out = parts[0]
    for part in parts[1:]:
        out = out.unionByName(part, allowMissingColumns=True)
    return out


def _output(wide: Wide, schema: Schema, type: str) -> list[Column]:
    from pyspark.sql import functions as F

    time = F.col("__time")
    out = [F.lit(type).alias("type"), (F.timestamp_micros(time) if wide.kind.timestamp else time).alias("time")]
    for name, t in schema:
        column = F.col(wide.physical[(type, name)])
        out.append((F.timestamp_micros(column) if t is Type.TIMESTAMP else column).alias(name))
    if wide.label:
        out.append(F.col("__label").alias("label"))
    if wide.because:
        out.append(F.col("__because").alias("because"))
    return out


MARK = "occurs-problems:"


def translate(error: Exception) -> OccursError | None:
    """The error of ours that a worker raised, out of what Spark says about it."""
    from occurs.hosts.wide import problems_from_json

    text = str(error)
    at = text.find(MARK)
    if at < 0:
        return None
    end = text.find("\n", at)
    try:
        return problems_from_json(json.loads(text[at + len(MARK) : end if end >= 0 else None]))
    except json.JSONDecodeError:
        return None


__all__ = ["SparkDetections", "detect", "read", "translate"]
