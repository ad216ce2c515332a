"""Columns of Spark DataFrames in the types of Occurs, as :mod:`occurs.model.attribute_types` reads and refuses them.

Instants never depend on the session's time zone: a naive timestamp or date is read as UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.model.timeformat import MONTHS, TimeFormat
from occurs.model.types import Type, arrow_type

if TYPE_CHECKING:
    from pyspark.sql import Column

#: how Spark holds a value of each type on its way to an engine; a timestamp is microseconds since 1970 UTC
SPARK = {
    Type.INT: "long",
    Type.FLOAT: "double",
    Type.STRING: "string",
    Type.BOOL: "boolean",
    Type.TIMESTAMP: "long",
    Type.DURATION: "long",
    Type.NULL: "string",
}
#: columns that say where a row is from, if the DataFrame was made of files: the file, and the number of the row
PLACE = ("__occurs_file", "__occurs_row")
#: where Spark notes the delay of a watermark, in milliseconds, in the metadata of a column
DELAY = "spark.watermarkDelayMs"
#: of what was no row at all: its text, and why it is none (null for rows), if whoever made the DataFrame could tell
POISON = ("__occurs_broken", "__occurs_reason")
_ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?)?\s?(Z|[+-]\d\d(:?\d\d)?)?$"
_ZONED = r"\d\d:\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_WHOLE = r"^\s*[+-]?\d{1,19}\s*$"
_DAY = 86_400_000_000


def type_of(spark_type: Any) -> Type | None:
    """The type of a Spark column, or None if Occurs has none for it."""
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
    if isinstance(spark_type, T.NullType):
        return Type.NULL
    return None


def list_of(spark_type: Any) -> pa.DataType | None:
    """The type in which a column of lists is read, as :func:`occurs.model.lists.list_type` has it; None if Occurs has
    none for it."""
    from pyspark.sql import types as T

    return _part(spark_type) if isinstance(spark_type, T.ArrayType) else None


def _part(spark_type: Any) -> pa.DataType | None:
    from pyspark.sql import types as T

    if isinstance(spark_type, T.ArrayType):
        inner = _part(spark_type.elementType)
        return None if inner is None else pa.list_(inner)
    if isinstance(spark_type, T.StructType):
        fields = [(f.name, _part(f.dataType)) for f in spark_type.fields]
        return None if any(k is None for _, k in fields) else pa.struct(fields)
    found = type_of(spark_type)
    return None if found is None else arrow_type(found)


def inside(found: tuple[Column, Any], step: str | int) -> tuple[Column, Any] | None:
    """An element of a list, a map or a struct, null if it is not there, and its type; None if there can be no such.
    ``found``: a column and its type."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    column, t = found
    if isinstance(step, int):
        return (F.get(column, F.lit(step)), t.elementType) if isinstance(t, T.ArrayType) else None
    if isinstance(t, T.StructType):
        return (column.getField(step), t[step].dataType) if step in t.names else None
    keyed = isinstance(t, T.MapType) and type_of(t.keyType) is Type.STRING
    return (F.try_element_at(column, F.lit(step)), t.valueType) if keyed else None


def convert_list(column: Column, spark_type: Any) -> Column:
    """A column of lists with all that is inside of them in the types of Occurs, times as timestamps."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if isinstance(spark_type, T.ArrayType):
        return F.transform(column, lambda x: convert_list(x, spark_type.elementType))
    if isinstance(spark_type, T.StructType):
        fields = (convert_list(column.getField(f.name), f.dataType).alias(f.name) for f in spark_type.fields)
        return F.when(column.isNotNull(), F.struct(*fields))
    found = type_of(spark_type)
    if found is Type.TIMESTAMP:
        stamped = isinstance(spark_type, T.TimestampType)
        return column if stamped else F.timestamp_micros(micros(column, spark_type))
    return column.cast(SPARK[found or Type.NULL])


def convert(
    column: Column, spark_type: Any, wanted: Type, *, text: bool = False, written: TimeFormat | None = None
) -> tuple[Column, Column]:
    """(the value, null where there is none; is there a value that does not fit ``wanted`` without loss?).

    ``text``: whole numbers may be spelled as text.  ``written``: times in text, or in whole numbers as digits, are in
    this format.
    """
    from pyspark.sql import functions as F

    observed = type_of(spark_type)
    nothing, fits = F.lit(None).cast(SPARK[wanted]), F.lit(False)
    if observed is Type.NULL or wanted is Type.NULL:
        return nothing, fits
    if observed is Type.FLOAT:
        column = _number(column, spark_type)
    if written is not None and wanted is Type.TIMESTAMP and observed in (Type.STRING, Type.INT, Type.FLOAT):
        whole = column
        if observed is Type.FLOAT:
            whole = F.when(column.try_cast("long") == column, column.try_cast("long"))
        value = _instant(_iso(whole.cast("string"), written))
        return value, column.isNotNull() & value.isNull()
    if observed is wanted:
        return (micros(column, spark_type) if wanted is Type.TIMESTAMP else column.cast(SPARK[wanted])), fits
    if wanted is Type.FLOAT and observed is Type.INT:
        value = column.cast("double")
    elif wanted is Type.INT and observed is Type.FLOAT:
        value = column.try_cast("long")
    elif wanted is Type.TIMESTAMP and observed is Type.STRING:
        value = _instant(column)
        return value, column.isNotNull() & value.isNull()
    elif wanted is Type.INT and observed is Type.STRING and text:
        value = F.when(column.rlike(_WHOLE), F.trim(column)).try_cast("long")
        return value, column.isNotNull() & value.isNull()
    else:
        return nothing, column.isNotNull()
    back = value.try_cast("long") == column
    exact = F.coalesce(back, F.lit(False))
    if wanted is Type.FLOAT:
        exact = exact & (value < F.lit(2.0**63))
    return F.when(exact, value), column.isNotNull() & ~exact


def _number(column: Column, spark_type: Any) -> Column:
    """A float or decimal column as double, NaN as null; decimals stay what they are for exact comparisons."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if isinstance(spark_type, T.DecimalType):
        return column
    value = column.cast("double")
    return F.when(~F.isnan(value), value)


def micros(column: Column, spark_type: Any) -> Column:
    """Microseconds since 1970 UTC of a timestamp, a naive timestamp or a date."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if isinstance(spark_type, T.TimestampType):
        return F.unix_micros(column)
    days = F.unix_date(column.cast("date")).cast("long") * F.lit(_DAY)
    if isinstance(spark_type, T.DateType):
        return days
    minutes = F.hour(column).cast("long") * F.lit(60) + F.minute(column)
    seconds = (F.date_part(F.lit("SECOND"), column) * F.lit(1_000_000)).cast("long")
    return days + minutes * F.lit(60_000_000) + seconds


def _iso(column: Column, written: TimeFormat) -> Column:
    """Text in a format as ISO 8601 text, null where it does not fit: :meth:`TimeFormat.iso` on Spark."""
    from pyspark.sql import functions as F

    text = F.lower(column)
    part = {name: F.regexp_extract(text, written.pattern, n + 1) for n, name in enumerate(written.parts)}
    two = {name: F.lpad(value, 2, "0") for name, value in part.items()}
    nothing = F.lit("00")
    if "year" in part:
        year = part["year"]
    else:
        digits = part["short year"]
        year = F.concat(F.when(digits < "69", "20").otherwise("19"), digits)
    month = two.get("month")
    if month is None:
        number = F.array_position(F.array(*map(F.lit, MONTHS)), F.substring(part["month name"], 1, 3))
        month = F.lpad(number.cast("string"), 2, "0")
    hour = two.get("hour", nothing)
    if "half" in part:
        number = part["hour of 12"].try_cast("int")
        late = F.when(part["half"] == "p", 12).otherwise(0)
        number = F.when(number.between(1, 12), F.when(number == 12, 0).otherwise(number) + late)
        hour = F.lpad(number.cast("string"), 2, "0")
    pieces = [year, F.lit("-"), month, F.lit("-"), two["day"], F.lit("T")]
    pieces += [hour, F.lit(":"), two.get("minute", nothing), F.lit(":"), two.get("second", nothing)]
    pieces += [F.lit("."), part["fraction"]] if "fraction" in part else []
    pieces += [F.upper(part["zone"])] if "zone" in part else []
    return F.when(text.rlike(written.pattern), F.concat(*pieces))


def _instant(column: Column) -> Column:
    """Microseconds of ISO 8601 text, without a zone in UTC; null if it is none or finer than a microsecond."""
    from pyspark.sql import functions as F

    text = F.when(column.rlike(_ISO), F.regexp_replace(F.regexp_replace(column, ",", "."), r"\s(?=Z|[+-]|$)", ""))
    text = F.regexp_replace(text, r"(\.\d{6})0{1,3}", "$1")
    text = F.when(~text.rlike(r"\.\d{7}"), text)
    day = F.substring(text, 1, 10)
    clock = F.regexp_extract(text, r"[T ](\d\d:\d\d)", 1)
    rest = F.regexp_extract(text, r"[T ]\d\d:\d\d(:\d\d(?:\.\d+)?)", 1)
    zone = F.when(text.rlike(_ZONED), F.regexp_extract(text, r"(Z|[+-]\d\d(?::?\d\d)?)$", 1)).otherwise(F.lit("Z"))
    zone = F.regexp_replace(zone, r"^([+-]\d\d)$", "$1:00")
    zone = F.regexp_replace(zone, r"^([+-]\d\d)(\d\d)$", "$1:$2")
    full = F.concat(
        day,
        F.lit("T"),
        F.when(clock == "", F.lit("00:00")).otherwise(clock),
        F.when(rest == "", F.lit(":00")).otherwise(rest),
        zone,
    )
    return F.unix_micros(full.try_cast("timestamp"))
