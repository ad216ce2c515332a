"""One DataFrame of the input: its columns as Occurs reads them, and which of its rows are bad."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.connect.sparkcolumns import PLACE, POISON, convert, inside, list_of, type_of
from occurs.errors import InputProblem, UsageProblem
from occurs.model.elements import reached
from occurs.model.source import InputOptions, records, time_column, type_column
from occurs.model.ticks import time_unit
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import RESERVED_INPUT, Schema, Type
from occurs.model.values import short

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


MISFIT = "value does not fit"


@dataclass
class Part:
    """One DataFrame of the input, as it came (``given``) and with numbered columns.  ``columns``: name to (column, its
    Spark type); ``bad``: (reason, column name, the column, condition) of what is judged before the clock.  ``poison``:
    (text, reason, condition) of what is no row."""

    given: DataFrame
    frame: DataFrame
    own: str | None
    columns: dict[str, tuple[Column, Any]]
    attributes: dict[str, Type]
    type: Column
    time: Column
    end: Column
    sequence: Column
    label: Column
    bad: list[tuple[str, str, Column, Column]]
    misfit: list[tuple[str, Column, Column]]
    #: the file and the number of a row, null where they are not known
    place: tuple[Column, Column]
    poison: tuple[Column, Column, Column] | None = None
    #: the types of columns of lists, if they are read
    lists: dict[str, pa.DataType] = field(default_factory=dict)
    #: the columns that are made of elements of others
    elements: frozenset[str] = frozenset()

    @property
    def seen(self) -> Schema:
        """The attributes that it has, under the names of their columns."""
        return Schema(tuple(self.attributes.items()), records=tuple(self.lists.items()))


def kind_of(frames: Mapping[str | None, DataFrame], options: InputOptions) -> TimeKind:
    """The one kind of time of all DataFrames."""
    unit = time_unit(options.time_unit)
    stamped: dict[bool, str] = {}
    for name, frame in frames.items():
        fields = {name: t for name, _, t in flattened(frame.schema)}
        where = f" in the table of `{name}`" if name else ""
        names = [name for name, _, _ in flattened(frame.schema)]
        if len(fields) < len(names):
            twice = next(c for c in names if names.count(c) > 1)
            raise InputProblem.of("duplicate-name", f"two columns are called `{twice}`{where}")
        for text, hint in records(options, names):
            raise InputProblem.of("bad-value", text + where, hint=hint)
        if options.time not in fields:
            stamps = [n for n, t in fields.items() if type_of(t) is Type.TIMESTAMP]
            hint = time_column(options, list(fields), stamps)
            raise InputProblem.of("missing-column", f"there is no time column `{options.time}`{where}", hint=hint)
        t = type_of(fields[options.time])
        written = options.time_format is not None and t in (Type.INT, Type.FLOAT, Type.STRING)
        if t is Type.TIMESTAMP or written or (t is Type.STRING and unit is None):
            stamped[True] = name or "one table"
        elif t in (Type.INT, Type.FLOAT, Type.STRING):
            stamped[False] = name or "one table"
        elif t is not Type.NULL:
            raise InputProblem.of(
                "bad-time",
                f"the time column `{options.time}`{where} is of type {fields[options.time].simpleString()}",
                hint="use a timestamp, or integers with time_unit=...; cast the column in Spark",
            )
    if len(stamped) > 1:
        where = f"{stamped[True]} has timestamps, {stamped[False]} integers"
        raise InputProblem.of("bad-time", f"all tables of a run must have the same kind of time: {where}")
    if True in stamped and unit is not None:
        text = f"time unit `{unit}` is for integer times; column `{options.time}` has timestamps"
        raise UsageProblem.of("bad-option", text)
    return TimeKind(False, unit) if False in stamped or unit is not None else TIMESTAMP


def flattened(schema: StructType) -> list[tuple[str, tuple[int | str, ...], Any]]:
    """The columns of a schema: name, where it is (number of the column, names of fields), type.  The fields of structs
    are columns of their own, called ``a.b``."""
    from pyspark.sql.types import StructType

    def below(name: str, path: tuple[int | str, ...], t: Any) -> Iterator[tuple[str, tuple[int | str, ...], Any]]:
        if not isinstance(t, StructType):
            yield name, path, t
            return
        for f in t.fields:
            yield from below(f"{name}.{f.name}", (*path, f.name), f.dataType)

    return [one for n, f in enumerate(schema.fields) for one in below(f.name, (n,), f.dataType)]


def _inside(path: tuple[int | str, ...]) -> Column:
    """The column at a place that :func:`flattened` names, of a table whose columns are numbered."""
    from pyspark.sql import functions as F

    number, *fields = path
    column = F.col(f"i{number}")
    for name in fields:
        column = column.getField(str(name))
    return column


def part_of(frame: DataFrame, name: str | None, external: Sequence[str], kind: TimeKind, options: InputOptions) -> Part:
    """A DataFrame of the input; ``name``: of its type, None if a column says it.  ``external``: the types that are read
    and that no rule defines; a table without types belongs to the only one.  Raises InputProblem."""
    from pyspark.sql import functions as F

    # by number, so that names that differ in case only, or contain dots, are no trouble
    found_in = flattened(frame.schema)
    types = {name: t for name, _, t in found_in}
    numbered = frame.toDF(*(f"i{n}" for n in range(len(frame.columns))))
    columns = {name: (_inside(path), t) for name, path, t in found_in}
    nowhere = (F.lit(None), None)
    for element in sorted(options.elements - types.keys()):
        value = reached(element, columns, inside)
        if value is not None and type_of(value[1]) is not None:
            columns[element] = value
    place = (columns.pop(PLACE[0], nowhere)[0].cast("string"), columns.pop(PLACE[1], nowhere)[0].cast("long"))
    poison = None
    if POISON[1] in types:
        text, why = (columns.pop(c)[0] for c in POISON)
        poison = (text, why, why.isNotNull())
    own = name
    if name is None and options.type not in types:
        if len(external) > 1:
            raise InputProblem.of(
                "missing-column",
                f"there is no type column `{options.type}`, but the program reads several types: {', '.join(external)}",
                hint=type_column(options, list(types), (), external),
            )
        own = external[0] if external else ""
    bad: list[tuple[str, str, Column, Column]] = []
    if own is not None:
        typed: Column = F.lit(own)
    else:
        raw, t = columns[str(options.type)]
        if type_of(t) is None and t.typeName() != "binary":
            told = f"the type column `{options.type}` is of type {short(t.simpleString())} and cannot name event types"
            hint = "it must be text, or the integers that the rules assign to types"
            raise InputProblem.of("bad-value", told, hint=hint)
        text = raw.cast("string")
        if t.typeName() == "binary":
            lost = F.coalesce(~F.is_valid_utf8(text), F.lit(False))
            bad.append(("unreadable type", str(options.type), F.hex(raw), lost))
            text = F.make_valid_utf8(text)
        bad.append(("null type", str(options.type), raw, F.coalesce(text == "", F.lit(True))))
        typed = text
        for number, assigned in options.type_names.items():
            typed = F.when(text == number, F.lit(assigned)).otherwise(typed)
    wanted = Type.TIMESTAMP if kind.timestamp else Type.INT
    column, t = columns[options.time]
    time, lost = convert(column, t, wanted, text=True, written=options.written)
    bad.append(("unreadable time", options.time, column, lost))
    bad.append(("null time", options.time, column, time.isNull() & ~lost))
    end = F.lit(None).cast("long")
    if options.end in columns:
        column, t = columns[options.end]
        end, lost = convert(column, t, wanted, text=True, written=options.written)
        bad.append(("unreadable end", options.end, column, lost))
        bad.append(("end before time", options.end, column, F.coalesce(end < time, F.lit(False))))
    misfit: list[tuple[str, Column, Column]] = []
    sequence, label = F.lit(None).cast("long"), F.lit(None).cast("string")
    if options.sequence in columns:
        column, t = columns[options.sequence]
        sequence, lost = convert(column, t, Type.INT)
        if type_of(t) is not Type.INT:
            misfit.append((options.sequence, column, lost))
    if options.label in columns:
        column, t = columns[options.label]
        if type_of(t) is Type.INT:
            label = column.cast("string")
        else:
            label, lost = convert(column, t, Type.STRING)
            misfit.append((options.label, column, lost))
    attributes, lists = {}, {}
    for attribute, (_, t) in columns.items():
        if attribute in options.special or attribute in RESERVED_INPUT:
            continue
        found, listed = type_of(t), list_of(t) if options.lists else None
        if listed is not None:
            attributes[attribute], lists[attribute] = Type.RECORD, listed
        elif found is not None:
            attributes[attribute] = found
    return Part(
        frame, numbered, own, columns, attributes, typed, time, end, sequence, label, bad, misfit, place, poison, lists,
        options.elements - types.keys(),
    )  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A part as wide rows: ``columns`` of its frame; ``state``: of a row; ``reasons``: (reason, column name, the
    column, condition) why a row is bad."""

    part: Part
    columns: list[Column]
    state: Column
    reasons: list[tuple[str, str, Column, Column]]

    @property
    def found(self) -> Column:
        """The reasons that hold for a row: array of (r: reason, n: column, v: value)."""
        from pyspark.sql import functions as F

        every = [
            F.when(c, F.struct(F.lit(r).alias("r"), F.lit(n).alias("n"), raw.cast("string").alias("v")))
            for r, n, raw, c in self.reasons
        ]
        found = F.array_compact(F.array(*every))
        if self.part.poison is None:
            return found
        text, why, broken = self.part.poison  # the row has no values: all other reasons come of this one
        one = F.struct(why.alias("r"), F.lit("value").alias("n"), text.alias("v"))
        return F.when(broken, F.array(one)).otherwise(found)

    @property
    def data(self) -> Column:
        """A row as it came, as JSON text."""
        from pyspark.sql import functions as F

        came = {n: c for n, (c, _) in self.part.columns.items() if n not in self.part.elements}
        return F.to_json(F.struct(*(c.alias(n) for n, c in came.items())))

    @property
    def file(self) -> Column:
        from pyspark.sql import functions as F

        own = self.part.own
        return F.coalesce(self.part.place[0], F.lit(f"<{own}>" if own else None).cast("string"))


def left_out(piece: Piece) -> DataFrame:
    """The bad rows of a part, with their reasons; made only if there are some."""
    from pyspark.sql import functions as F

    row = piece.part.place[1].alias("row")
    bad = piece.part.frame.where(piece.state == 2).select(
        F.explode(piece.found).alias("e"), piece.file.alias("file"), row, piece.data.alias("data")
    )
    return bad.select(
        F.col("e.r").alias("reason"),
        F.col("file"),
        F.col("row"),
        F.col("e.n").alias("column"),
        F.col("e.v").alias("value"),
        F.col("data"),
    )


def any_of(conditions: Sequence[Column]) -> Column:
    """Does one of them hold?  Of none: no.  A balanced tree, as Spark walks expressions recursively."""
    from pyspark.sql import functions as F

    if len(conditions) < 2:
        return conditions[0] if conditions else F.lit(False)
    half = len(conditions) // 2
    return any_of(conditions[:half]) | any_of(conditions[half:])
