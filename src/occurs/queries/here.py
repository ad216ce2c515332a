"""Queries with MATCH_RECOGNIZE over tables of this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from occurs.connect.tables import like, to_arrow
from occurs.errors import DefinitionProblem, UsageProblem, did_you_mean, raise_problems
from occurs.expr.text import Text
from occurs.languages.match_recognize.checks.names import find
from occurs.languages.match_recognize.parser import parse
from occurs.queries.clause import OUTPUT, TABLE, Prepared, prepared

_ONE = "write one query; on Spark, `occurs.sql(spark, text)` reads any query"


def sql_here(tables: Mapping[str, Any], text: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """Run one query over the table that it names; the result is of the same kind."""
    file, problems = parse(text)
    raise_problems(problems)
    if len(file.statements) != 1:
        found = f"{len(file.statements)} queries" if file.statements else "no query"
        raise UsageProblem.of("unsupported", f"this text has {found}", hint=_ONE)
    query, source = file.statements[0], Text(text, None)
    name = find(query.table, tables)
    if name is None:
        hint = did_you_mean(query.table.text, tables, "tables")
        raise DefinitionProblem(
            [source.problem("unknown-name", f"there is no table `{query.table}`", query.table.span, hint)]
        )
    table = to_arrow(tables[name], name)
    made = prepared(query, source, table.schema, args, options.get("time_unit"))
    return like(tables[name], _detected(made, table, options))


def _detected(made: Prepared, table: pa.Table, options: Mapping[str, Any]) -> pa.Table:
    given = table.select(list(made.inputs)).rename_columns(list(made.inputs.values()))
    if not made.kind.timestamp:
        at = given.column_names.index("time")
        given = given.set_column(at, "time", given.column("time").cast(pa.int64()))
    found = made.program.detect({TABLE: given}, **options)[OUTPUT]
    columns = []
    for column in made.columns:
        values = found.column(column.inside)
        columns.append(values if column.type is None or column.type == values.type else values.cast(column.type))
    return pa.Table.from_arrays(columns, names=[c.name for c in made.columns])
