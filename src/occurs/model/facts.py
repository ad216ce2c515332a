"""Facts: tables without time (common.md, section 1; phenesthe.md, section 2)."""

from __future__ import annotations

import pyarrow as pa

from occurs.errors import InputProblem, did_you_mean
from occurs.model.natural import clean, fit
from occurs.model.source import column_of
from occurs.model.types import Schema, Type, from_arrow


def fact_table(name: str, table: pa.Table, schema: Schema) -> pa.Table:
    """The declared columns of ``table``, under their declared names and in their types (NULL: as they come), and if
    the schema is open all others.

    Columns are found by their names, else ignoring case if one only fits.  Raises InputProblem (``missing-column``,
    ``bad-value``).
    """
    columns, taken = {}, set()
    for attribute, declared in schema:
        found = column_of(attribute, table.column_names, loose=True)
        if found is None:
            hint = did_you_mean(attribute, table.column_names, "columns")
            text = f"column `{attribute}` of the fact `{name}` is declared but missing"
            raise InputProblem.of("missing-column", text, hint=hint)
        before = clean(table.column(found))
        after = fit(before, None if declared is Type.NULL else declared, text=True)
        if after is None or after.null_count > before.null_count:
            text = (
                f"column `{found}` of the fact `{name}` is {before.type}, but `{attribute}` is declared as {declared}"
            )
            raise InputProblem.of("bad-value", text, hint="change the type of the attribute in the declaration")
        columns[attribute] = after
        taken.add(found)
    if schema.rest:
        others = [n for n in table.column_names if n not in taken and n not in columns]
        cleaned = {n: clean(table.column(n)) for n in others}
        columns |= {n: c for n, c in cleaned.items() if from_arrow(c.type) is not None}
    return pa.table(columns)


def schema_of_table(table: pa.Table) -> Schema:
    """The columns of a table of facts."""
    return Schema(tuple((f.name, from_arrow(f.type) or Type.NULL) for f in table.schema))
