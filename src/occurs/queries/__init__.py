"""SQL with MATCH_RECOGNIZE over tables: :func:`occurs.sql` (match-recognize.md, section 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from occurs.errors import UsageProblem
from occurs.model.values import short


def sql(where: Any, text: str, *, args: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Run a SQL query with row patterns over tables and return a table.

    Unlike a program, the query knows nothing of types of events: the result has exactly the columns of its SELECT.  The
    time of a row is the first column of ORDER BY in its MATCH_RECOGNIZE clause, which must be a timestamp or an
    integer.

    Args:
        where: A SparkSession, or a mapping from names to tables of this process (pandas, Polars, Arrow, DuckDB).
        text: The query.  On Spark, any query of Spark SQL with any number of MATCH_RECOGNIZE clauses, in FROM, joins,
            common table expressions and subqueries, over batch or streaming tables; everything but the clauses is read
            by Spark.  In this process, one statement ``SELECT .. FROM table MATCH_RECOGNIZE ( .. ) [WHERE ..]``.
        args: Values of the named parameters (``:name``), inside and outside the clauses.
        options: Options of :meth:`occurs.Program.detect`, such as ``time_unit`` for integer times, ``partitions`` on
            Spark or ``watermark`` on a stream.

    Returns:
        A Spark DataFrame, or a table of the kind that the mapping has (of DuckDB an Arrow table).

    Raises:
        SyntaxProblem: If a clause is not in the grammar.
        DefinitionProblem: If its names or types are wrong, or it has no ORDER BY.
        InputProblem: If rows of a table cannot be used, or a match cannot be followed by another.  Spark finds that
            when an action computes the DataFrame: run the action within :func:`occurs.spark_errors`.
        UsageProblem: If a streaming table has no watermark on the time.

    Examples:
        >>> import occurs, pyarrow as pa
        >>> quotes = pa.table({"day": [1, 2, 3, 4], "price": [12, 9, 7, 10]})
        >>> occurs.sql({"quotes": quotes}, '''
        ...     SELECT * FROM quotes MATCH_RECOGNIZE (
        ...       ORDER BY day
        ...       MEASURES FIRST(day) AS began, MIN(price) AS low
        ...       PATTERN (S DOWN+ UP)
        ...       DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))
        ... ''').to_pylist()
        [{'began': 1, 'low': 7}]
    """
    if not isinstance(text, str):
        raise UsageProblem.of("bad-option", f"the query must be text, not {short(text)}")
    given = dict(args or {})
    if isinstance(where, Mapping):
        from occurs.queries.here import sql_here

        return sql_here(where, text, given, options)
    if hasattr(where, "sql") and hasattr(where, "createDataFrame"):
        from occurs.queries.onspark import sql_on_spark

        return sql_on_spark(where, text, given, options)
    hint = "pass a SparkSession, or a mapping from names to pandas, Polars or Arrow tables"
    raise UsageProblem.of("bad-option", f"occurs.sql cannot run in {short(where)}", hint=hint)
