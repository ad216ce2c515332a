"""Queries of Spark SQL with MATCH_RECOGNIZE: the clauses run here, everything else is Spark's.

Each clause becomes a DataFrame that takes the place of the clause and its relation under a made-up name.  DataFrames
are handed to ``spark.sql`` as arguments, so that neither data nor parameters become text; that works on Connect, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.connect.sparkcolumns import DELAY
from occurs.errors import UsageProblem, raise_problems
from occurs.expr.text import Text
from occurs.languages.match_recognize.parser import parse_clause
from occurs.languages.match_recognize.syntax import Word
from occurs.queries.clause import OUTPUT, TABLE, Prepared, prepared
from occurs.queries.sparktext import Found, clauses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAME = "occurs_rows_{}"
#: characters of a relation in a message
_SHOWN = 30


def sql_on_spark(session: SparkSession, text: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> DataFrame:
    """Run a query of Spark SQL in which clauses MATCH_RECOGNIZE may stand.  Raises DefinitionProblem."""
    run = _Run(session, text, args, options)
    for found in clauses(text):
        run.clause(found)
    return run.spark(run.between(0, len(text)))


@dataclass
class _Piece:
    """What stands for offsets ``start`` to ``end`` of the text: the frame ``name``."""

    start: int
    end: int
    name: str


@dataclass
class _Run:
    session: SparkSession
    text: str
    args: Mapping[str, Any]
    options: Mapping[str, Any]
    frames: dict[str, DataFrame] = field(default_factory=dict)
    pieces: list[_Piece] = field(default_factory=list)

    def clause(self, found: Found) -> None:
        """Run one clause; its frame stands for it and its relation from now on."""
        source = Text(self.text, None)
        query = parse_clause(source, *found.clause)
        raise_problems(source.problems)
        assert query is not None
        query = replace(query, table=Word(_short(self.text[slice(*found.relation)])))
        tables = ", ".join(self.between(*span) for span in found.tables)
        start, end = found.relation
        relation = self.spark(f"{f'WITH {tables} ' if tables else ''}SELECT * FROM {self.between(start, end)}")
        made = prepared(query, source, _fields(relation), self.args, self.options.get("time_unit"))
        name = _NAME.format(len(self.frames))
        if relation.isStreaming and self.options.get("watermark") is None:
            _watermarked(relation, made, str(query.table))
        self.frames[name] = _detected(made, relation, self.options)
        inside = [p for p in self.pieces if start <= p.start and p.end <= found.clause[1]]
        self.pieces = [p for p in self.pieces if p not in inside] + [_Piece(start, found.clause[1], name)]

    def between(self, start: int, end: int) -> str:
        """The text between two offsets for ``format``: braces doubled, frames by their names."""
        out, at = [], start
        for piece in sorted(self.pieces, key=lambda p: p.start):
            if start <= piece.start and piece.end <= end:
                out += [_doubled(self.text[at : piece.start]), f"{{{piece.name}}}"]
                at = piece.end
        return "".join([*out, _doubled(self.text[at:end])])

    def spark(self, text: str) -> DataFrame:
        """The frame of a text that was made by :meth:`between`."""
        used = {name: frame for name, frame in self.frames.items() if f"{{{name}}}" in text}
        if not used:
            text = text.replace("{{", "{").replace("}}", "}")
        return self.session.sql(text, dict(self.args) or None, **used)


def _watermarked(relation: DataFrame, made: Prepared, shown: str) -> None:
    """Raise UsageProblem if a stream does not say how late its rows may come."""
    (time,) = (name for name, inside in made.inputs.items() if inside == "time")
    field = next(f for f in relation.schema.fields if f.name == time)
    if DELAY not in field.metadata:
        message = f"`{shown}` is a stream without a watermark on `{time}`, the time of its rows"
        hint = f'call withWatermark("{time}", "10 seconds") on its DataFrame, or pass watermark="10 s"'
        raise UsageProblem.of("bad-option", message, hint=hint)


def _short(relation: str) -> str:
    """A relation, for messages."""
    return relation if len(relation) <= _SHOWN else f"{relation[:_SHOWN]}.."


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


_ARROW = {
    "boolean": pa.bool_(), "tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(),
    "float": pa.float32(), "double": pa.float64(), "string": pa.string(), "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


def _fields(frame: DataFrame) -> pa.Schema:
    """The columns of a frame with the types of Arrow; what row patterns do not read is binary."""
    from pyspark.sql import types as S

    found = []
    for column in frame.schema.fields:
        kind = column.dataType
        if isinstance(kind, S.DecimalType):
            found.append((column.name, pa.decimal128(kind.precision, kind.scale)))
        else:
            word = "string" if isinstance(kind, S.StringType) else kind.simpleString().partition("(")[0]
            found.append((column.name, _ARROW.get(word, pa.binary())))
    return pa.schema(found)


def _detected(made: Prepared, frame: DataFrame, options: Mapping[str, Any]) -> DataFrame:
    from pyspark.sql import functions as F

    types = {f.name: f.dataType for f in frame.schema.fields}
    given = frame.select(*(_column(name).alias(inside) for name, inside in made.inputs.items()))
    if not made.kind.timestamp:
        given = given.withColumn("time", F.col("time").cast("bigint"))
    found = made.program.detect({TABLE: given}, **options)[OUTPUT]
    columns = []
    for column in made.columns:
        value = F.col(column.inside)
        if column.source is not None:
            value = value.cast(types[column.source])
        elif column.type is not None and str(column.type) == "timestamp[us]":
            value = value.cast("timestamp_ntz")
        columns.append(value.alias(column.name))
    return found.select(*columns)


def _column(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")
