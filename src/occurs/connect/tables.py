"""Tables of the Python world: pandas, Arrow, Polars, DuckDB, Ibis and narwhals in, the same kind out."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from occurs.errors import InputProblem, UsageProblem
from occurs.model.source import Source
from occurs.model.values import is_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Kind = Literal["arrow", "pandas", "polars", "duckdb", "ibis", "narwhals", "spark"]


def kind_of(obj: Any) -> Kind:
    """Which kind of table ``obj`` is; UsageProblem if it is none.  Imports nothing: whoever made it has imported it."""
    if isinstance(obj, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return "arrow"
    module = sys.modules.get("pandas")
    if module is not None and isinstance(obj, module.DataFrame):
        return "pandas"
    module = sys.modules.get("polars")
    if module is not None and isinstance(obj, module.DataFrame | module.LazyFrame):
        return "polars"
    home, name = type(obj).__module__, type(obj).__name__
    if home.startswith("pyspark.sql") and name == "DataFrame":
        return "spark"
    if name == "DuckDBPyRelation":
        return "duckdb"
    if home.startswith("ibis.expr.types") and hasattr(obj, "to_pyarrow") and hasattr(obj, "schema"):
        return "ibis"
    if home.startswith("narwhals.") and hasattr(obj, "to_native"):
        if _native(obj) == "spark":
            text, hint = "a narwhals frame of a Spark DataFrame", "pass the DataFrame: frame.to_native()"
            raise UsageProblem.of("bad-table", f"unsupported table: {text}", hint=hint)
        return "narwhals"
    if hasattr(obj, "__arrow_c_stream__"):
        return "arrow"
    raise UsageProblem.of(
        "bad-table",
        f"unsupported table: {type(obj).__module__}.{type(obj).__qualname__}",
        hint="pass a table of pandas, Arrow, Polars, DuckDB, Ibis, narwhals or Spark, or a mapping from event types to "
        "such tables",
    )


def to_arrow(obj: Any, name: str | None = None) -> pa.Table:
    """A table of this process as Arrow; ``name`` is for messages.

    NaN of pandas is null.  A named index of pandas becomes a column.  Raises InputProblem (``bad-value``) if a column
    mixes kinds of values.
    """
    kind = kind_of(obj)
    if kind == "pandas":
        return _from_pandas(obj, name)
    if kind == "polars":
        return (obj.collect() if hasattr(obj, "collect") else obj).to_arrow()
    if kind == "spark":
        return _from_spark(obj)
    if kind == "ibis":
        return obj.to_pyarrow()
    if kind == "narwhals":
        return _from_narwhals(obj, name)
    if isinstance(obj, pa.Table):
        return obj
    if isinstance(obj, pa.RecordBatch):
        return pa.Table.from_batches([obj])
    return pa.table(obj) if not isinstance(obj, pa.RecordBatchReader) else obj.read_all()


def to_spark(session: SparkSession, table: pa.Table) -> DataFrame:
    """An Arrow table as a DataFrame: Spark 4 leaves out all rows behind a batch without rows, so it gets none."""
    batches = [batch for batch in table.to_batches() if len(batch)]
    return session.createDataFrame(pa.Table.from_batches(batches, table.schema))


def like(obj: Any, table: pa.Table) -> Any:
    """``table`` as the kind of table that ``obj`` is (None: Arrow).

    On Spark it is a DataFrame of the same session, of DuckDB a relation of the same connection, of Ibis a memtable.
    """
    kind = None if obj is None else kind_of(obj)
    if kind == "spark":
        try:
            return to_spark(obj.sparkSession, table)
        except TypeError:  # Spark before 4 takes no Arrow table
            return obj.sparkSession.createDataFrame(table.to_pandas())
    if kind == "pandas":
        return _to_pandas(table)
    if kind == "polars":
        import polars

        out = polars.DataFrame(table)
        return out.lazy() if isinstance(obj, polars.LazyFrame) else out
    if kind == "duckdb":
        return _to_duckdb(obj, table)
    if kind == "ibis":
        import ibis

        return ibis.memtable(table)
    if kind == "narwhals":
        narwhals = importlib.import_module(".".join(type(obj).__module__.split(".")[:3]).removesuffix(".dataframe"))
        if _native(obj) is None:
            return narwhals.from_arrow(table, backend=obj.implementation)
        return narwhals.from_native(like(obj.to_native(), table))
    return table


def sources_of(events: Any) -> Any:
    """Tables as Arrow, by type (None: all types in one); sources of files as they are."""
    if isinstance(events, Mapping):
        return {t: to_arrow(table, t) for t, table in events.items()}
    if isinstance(events, list | tuple) and all(isinstance(s, Source) for s in events):
        return events
    return {None: to_arrow(events)}


def _from_spark(frame: Any) -> pa.Table:
    """Collect; what is wrong with the data is told as on the local host, not as a failure of Spark."""
    from occurs.connect.sparkerrors import spark_errors

    with spark_errors():
        return frame.toArrow()


def _native(frame: Any) -> Kind | None:
    """The kind of the table in a narwhals frame; None if only narwhals knows it."""
    try:
        return kind_of(frame.to_native())
    except UsageProblem:
        return None


def _from_narwhals(frame: Any, name: str | None) -> pa.Table:
    if _native(frame) is not None:
        return to_arrow(frame.to_native(), name)
    return frame.collect("pyarrow").to_native() if hasattr(frame, "collect") else frame.to_arrow()


def _to_duckdb(relation: Any, found: pa.Table) -> Any:
    """A relation of the connection of ``relation``, which DuckDB shows only to queries on it; DuckDB finds ``found``
    by its name."""
    return relation.query("occurs_events", "from found").set_alias("found")


def _from_pandas(frame: Any, name: str | None) -> pa.Table:
    if any(n is not None and n not in frame.columns for n in frame.index.names):
        frame = frame.reset_index()
    file = f"<{name}>" if name else None
    columns: dict[str, pa.Array] = {}
    names = [str(c) for c in frame.columns]
    for column in frame.columns:
        if not is_text(str(column)):
            raise InputProblem.of("bad-value", f"the name of column {column!r} must be text", file=file)
        if names.count(str(column)) > 1:
            raise InputProblem.of("duplicate-name", f"two columns are called `{column}`", file=file)
        try:
            columns[str(column)] = pa.array(frame[column], from_pandas=True)
        except UnicodeEncodeError as error:
            text = f"column `{column}` has a value that is not text: {error}"
            raise InputProblem.of("bad-value", text, file=file) from error
        except (pa.ArrowException, OverflowError) as error:
            kinds = sorted({type(v).__name__ for v in frame[column].dropna().head(100_000)})
            raise InputProblem.of(
                "bad-value",
                f"column `{column}` has values of different kinds ({', '.join(kinds)}): {error}",
                file=file,
                hint="convert it to one type first: frame[column].astype(...)",
            ) from error
    return pa.table(columns)


def _to_pandas(table: pa.Table) -> Any:
    """pandas with its nullable integers and booleans where there are nulls: floats would lose digits."""
    import pandas as pd

    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    plain = [f.name for f in table.schema if table[f.name].null_count == 0 or f.type not in nullable]
    frame = table.select(plain).to_pandas()
    for at, field in enumerate(table.schema):
        if field.name not in plain:
            series = table[field.name].to_pandas(types_mapper=nullable.get)
            frame.insert(at, field.name, series)
    return frame
