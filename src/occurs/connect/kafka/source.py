"""Messages as events: one JSON object a message, one row a message, typed columns; what is none is marked, not lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.connect.kafka.place import KafkaPlace
from occurs.connect.kafka.session import kafka_errors, reach
from occurs.connect.sparkcolumns import PLACE, convert
from occurs.errors import InputProblem, UsageProblem
from occurs.model.nesting import DEEPEST, read_json
from occurs.model.types import Type, json_type, widen
from occurs.model.values import flattened

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


#: null for a good message, else its value as text, bytes that are not UTF-8 replaced; empty if it had no value
BROKEN = "__occurs_broken"
#: why it is broken; null for a good message
REASON = "__occurs_reason"
_MARK = "occurs: the end of the message"
_USUAL = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"


def stream(session: SparkSession, place: KafkaPlace, fields: Mapping[str, Type], most: int | None = None) -> DataFrame:
    """The messages of a place as a streaming DataFrame, from the earliest on if ``startingOffsets`` says nothing else.

    Columns, in this order: ``fields``; what the place exposes of key, headers and timestamp; ``__occurs_file``
    (``kafka://topic[partition]``), ``__occurs_row`` (the offset), ``__occurs_broken`` and ``__occurs_reason``.
    A missing name and a JSON null are null.  Of a broken message the other columns hold what could be read.

    ========== ============================ ======================================================
    field      column                       what fits
    ========== ============================ ======================================================
    INT        long                         whole numbers, also as ``3.0``
    FLOAT      double                       numbers, integers if a float holds them exactly
    STRING     string                       text
    BOOL       boolean                      true, false
    TIMESTAMP  timestamp                    ISO 8601 text, without a zone in UTC
    DURATION   long                         whole numbers: ticks
    NULL       string                       everything; numbers as their digits, objects as JSON
    ========== ============================ ======================================================

    A time column whose kind is not known yet is best asked for as ``Type.NULL``: the intake reads ISO 8601 and whole
    numbers from text.  An exposed name is taken from there, not from the JSON; key and headers are text, or INT if
    ``fields`` says so; the timestamp is a timestamp.  ``headers=NAME`` is a JSON object of text, of equal names the
    last.  ``most``: messages of a micro-batch, if the place does not say.  Raises what :func:`reach` raises, and
    UsageProblem (``type-mismatch``).
    """
    reach(session, place)
    start = {} if "startingTimestamp" in place.reading else {"startingOffsets": "earliest"}
    limit = {} if most is None else {"maxOffsetsPerTrigger": str(most)}
    options = {**start, **limit, **place.reading, **place.connection(), "includeHeaders": "true"}
    if not any(name.startswith("header") for name in place.exposed):
        del options["includeHeaders"]
    reader = session.readStream.format("kafka").options(**options)
    return typed(reader.option("subscribe", ",".join(place.topics)).load(), place, fields)


def typed(messages: DataFrame, place: KafkaPlace, fields: Mapping[str, Type]) -> DataFrame:
    """Messages, as the connector gives them, in the columns of :func:`stream`; batch or streaming.

    One step after the other: Spark computes what a later step uses several times once only if it is a column by then.
    """
    from pyspark.sql import functions as F

    outside = {column: origin for origin, column in place.exposed.items()}
    inside = {name: f"v{n}" for n, name in enumerate(fields) if name not in outside}
    text = F.col("value").cast("string")
    # Spark's parser stops behind the first value, whatever follows: as the item of a list it has to end there
    wrapped = F.concat(F.lit("["), text, F.lit(f',"{_MARK}"]'))
    alone = F.coalesce(F.try_variant_get(F.col("list"), "$[1]", "string") == _MARK, F.lit(False))
    measured = messages.withColumn("deep", F.is_valid_utf8(text) & deep(text))
    lists = measured.withColumn("list", F.when(F.is_valid_utf8(text) & ~F.col("deep"), F.try_parse_json(wrapped)))
    parts = lists.select("*", *(_part(name).alias(v) for name, v in inside.items()))
    told = {v: F.coalesce(F.schema_of_variant(v), F.lit("VOID")) for v in inside.values()}
    kinds = parts.select("*", *(kind.alias(f"k{v}") for v, kind in told.items()))
    raws = kinds.select("*", *(_raw(v, fields[n]).alias(f"r{v}") for n, v in inside.items()))
    values: dict[str, tuple[Column, Column]] = {}  # the value, and: is there one that does not fit?
    for name in [*fields, *(n for n in outside if n not in fields)]:
        wanted = fields.get(name, Type.NULL)
        values[name] = _outside(place, outside[name], wanted) if name in outside else _value(inside[name], wanted)
    shown = [value.alias(f"o{n}") for n, (value, _) in enumerate(values.values())]
    wrong = [
        F.when(misfit, F.lit(f"the value of `{name}` is not of type {fields.get(name)}"))
        for name, (_, misfit) in values.items()
    ]
    reason = (
        F.when(F.col("value").isNull(), "the message has no value")
        .when(~F.is_valid_utf8(text), "the value is not UTF-8")
        .when(F.col("deep"), f"the value is nested more than {DEEPEST} levels deep")
        .when(~alone, "the value is not JSON")
        .when(~text.rlike(r"^\s*\{"), "the value is not a JSON object")
        .otherwise(F.coalesce(*wrong, F.lit(None).cast("string")))
    )
    at = F.concat(F.lit("kafka://"), F.col("topic"), F.lit("["), F.col("partition").cast("string"), F.lit("]"))
    rows = raws.select(*shown, at.alias("file"), F.col("offset"), reason.alias("reason"), text.alias("text"))
    broken = F.when(F.col("reason").isNotNull(), F.coalesce(F.make_valid_utf8(F.col("text")), F.lit("")))
    return rows.select(
        *(F.col(f"o{n}").alias(name) for n, name in enumerate(values)),
        F.col("file").alias(PLACE[0]),
        F.col("offset").alias(PLACE[1]),
        broken.alias(BROKEN),
        F.col("reason").alias(REASON),
    )


def deep(text: Column) -> Column:
    """Does a JSON text nest lists and objects deeper than ``DEEPEST``?  As :func:`occurs.model.nesting.too_deep`."""
    from pyspark.sql import functions as F

    plain = F.replace(F.replace(text, F.lit("\\\\"), F.lit("")), F.lit('\\"'), F.lit(""))
    marks = F.regexp_replace(F.regexp_replace(plain, '"[^"]*+"?', ""), r"[^\[\]{}]++", "")
    nothing = F.struct(F.lit(0).alias("level"), F.lit(0).alias("most"))

    def step(before: Column, mark: Column) -> Column:
        level = before["level"] + F.when(mark.isin("[", "{"), 1).when(mark.isin("]", "}"), -1).otherwise(0)
        return F.struct(level.alias("level"), F.greatest(before["most"], level).alias("most"))

    most = F.aggregate(F.split(marks, ""), nothing, step)["most"]
    opened = F.length(text) - F.length(F.translate(text, "[{", ""))
    return F.when(opened > DEEPEST, most > DEEPEST).otherwise(F.lit(False))  # few texts need the second look


def _part(name: str) -> Column:
    """What the first item of ``list`` has under a name, as a variant."""
    from pyspark.sql import functions as F

    if "'" in name or '"' in name:  # a path cannot spell these
        return F.try_element_at(F.try_variant_get(F.col("list"), "$[0]", "map<string,variant>"), F.lit(name))
    found = F.try_variant_get(F.col("list"), f"$[0]['{name}']", "variant")
    if "." in name:
        path = "".join(f"['{part}']" for part in name.split("."))
        found = F.coalesce(found, F.try_variant_get(F.col("list"), f"$[0]{path}", "variant"))
    return found


def _raw(v: str, wanted: Type) -> Column:
    """The variant in column ``v``, of the kind in ``k..``, as Spark's type nearest to what is wanted; null if it is of
    another kind.  Numbers: a struct of ``whole`` and ``real``."""
    from pyspark.sql import functions as F

    def read(t: str) -> Column:
        return F.try_variant_get(F.col(v), "$", t)

    kind = F.col(f"k{v}")
    if wanted is Type.NULL:
        return read("string")
    if wanted is Type.BOOL:
        return F.when(kind == "BOOLEAN", read("boolean"))
    if wanted in (Type.STRING, Type.TIMESTAMP):
        return F.when(kind == "STRING", read("string"))
    real = (kind == "DOUBLE") | kind.startswith("DECIMAL")
    whole = F.when(kind == "BIGINT", read("bigint"))
    return F.struct(whole.alias("whole"), F.when(real, read("double")).alias("real"))


def _value(v: str, wanted: Type) -> tuple[Column, Column]:
    """(the value as the column type of ``wanted``; is there one that does not fit?)."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    value = raw = F.col(f"r{v}")
    if wanted is Type.NULL:
        return value, F.lit(False)
    if wanted in (Type.INT, Type.DURATION):
        # 2^63 is a double, and cast to long one less
        rounded, _ = convert(F.when(raw["real"] < 2.0**63, raw["real"]), T.DoubleType(), Type.INT)
        value = F.coalesce(raw["whole"], rounded)
    elif wanted is Type.FLOAT:
        exact, _ = convert(raw["whole"], T.LongType(), Type.FLOAT)
        value = F.coalesce(raw["real"], exact)
    elif wanted is Type.TIMESTAMP:
        micros, _ = convert(raw, T.StringType(), Type.TIMESTAMP)
        # the usual spelling is read at once; convert has to take several to pieces
        value = F.when(raw.rlike(_USUAL), raw.try_cast("timestamp")).otherwise(F.timestamp_micros(micros))
    return value, (F.col(f"k{v}") != "VOID") & value.isNull()


def _outside(place: KafkaPlace, origin: str, wanted: Type) -> tuple[Column, Column]:
    """(what a place exposes of a message beside its value; is there one that does not fit?)."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    given = Type.TIMESTAMP if origin == "timestamp" else Type.STRING
    if wanted not in (given, Type.NULL) and (wanted is not Type.INT or origin in ("timestamp", "headers")):
        declared = f"`{place.exposed[origin]}` is declared as {wanted}"
        raise UsageProblem.of("type-mismatch", f"{place}: {declared}, but the {origin} of a message is a {given}")
    if origin == "timestamp":
        return F.col("timestamp"), F.lit(False)
    if origin == "headers":
        return _all_headers(), F.lit(False)
    raw = F.col("key")
    if origin.startswith("header."):
        name = origin.removeprefix("header.")
        raw = F.try_element_at(F.filter(F.col("headers"), lambda h: h["key"] == name), F.lit(-1))["value"]
    shown = F.make_valid_utf8(raw.cast("string"))
    if wanted is not Type.INT:
        return shown, F.lit(False)
    return convert(shown, T.StringType(), Type.INT, text=True)


def _all_headers() -> Column:
    """The headers of a message as a JSON object of text; null if it has none."""
    from pyspark.sql import functions as F

    headers = F.col("headers")
    names = F.array_distinct(F.transform(headers, lambda h: h["key"]))

    def last(name: Column) -> Column:
        value = F.try_element_at(F.filter(headers, lambda h: h["key"] == name), F.lit(-1))["value"]
        return F.struct(name.alias("key"), F.make_valid_utf8(value.cast("string")).alias("value"))

    found = F.to_json(F.map_from_entries(F.transform(names, last)), {"ignoreNullFields": "false"})
    return F.when(F.size(headers) > 0, found)


# --- a first look, for programs that do not declare their event types ------------------------------------------------

#: messages of every partition that a schema is inferred from
SAMPLE = 1000


def sample_schema(session: SparkSession, place: KafkaPlace, limit: int = SAMPLE) -> dict[str, Type]:
    """The names in the earliest messages, ``limit`` of each partition, with their types, in order of appearance.

    Integers beside floats are FLOAT; other mixtures, and names that are null throughout, are NULL: text, as ``stream``
    reads it.  Lists and objects are no values of ours and left out, poison messages are passed over.
    Raises what :func:`reach` raises, and InputProblem: ``no-rows`` if there is no message yet, ``bad-value`` if there
    is no JSON object among them.
    """
    reach(session, place)
    options = {**place.connection(), "startingOffsets": "earliest", "subscribe": ",".join(place.topics)}

    def first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = limit
        for batch in batches:
            yield batch.slice(0, left)
            left -= len(batch)
            if left <= 0:  # a partition may hold years: the rest is never read
                return

    with kafka_errors(place):
        messages = session.read.format("kafka").options(**options).load().select("value")
        values = [row.value for row in messages.mapInArrow(first, "value binary").collect()]
    if not values:
        hint = "declare the event types in the rules, or start when there are messages"
        raise InputProblem.of("no-rows", f"{place}: there is no message to infer columns from", hint=hint)
    found: dict[str, Type | None] = {}
    objects = 0
    for value in values:
        item = _object(value)
        objects += item is not None
        for name, inner in flattened(item or {}).items():
            kind = Type.NULL if inner is None else json_type(inner)
            if kind is None:
                continue
            before = found.get(name, Type.NULL)
            found[name] = None if before is None else widen(before, kind)
    if not objects:
        text = f"{place}: none of the first {len(values)} messages is a JSON object"
        raise InputProblem.of(
            "bad-value", text, hint="the value of each message must be one event, as in a line of a .jsonl file"
        )
    return {name: t or Type.NULL for name, t in found.items() if name not in place.exposed.values()}


def _object(value: bytes | bytearray | None) -> dict[str, Any] | None:
    try:
        item = read_json(bytes(value or b""))
    except ValueError:
        return None
    return item if isinstance(item, dict) else None
