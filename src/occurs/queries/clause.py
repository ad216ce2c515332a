"""One query with MATCH_RECOGNIZE over a table whose columns have any names: as a program, and back.

Inside, the first column of ORDER BY is the time, and all columns have names of their own, so that no name of the table
or of the query means anything to a program.  Only trees are rewritten; nothing becomes text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.checked_texts import Read
from occurs.errors import UsageProblem, did_you_mean, raise_problems
from occurs.expr.text import Text
from occurs.expr.tree import DurationLiteral, Expr, Literal, Param, Ref, rewrite
from occurs.languages.kit.language import Texts
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks import ResolvedQuery, Value, analyse_table
from occurs.languages.match_recognize.checks.names import find
from occurs.languages.match_recognize.syntax import Word
from occurs.model.ticks import time_unit
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Schema, Type, from_arrow
from occurs.model.values import short
from occurs.program import Program

#: the table, and what the query derives
TABLE, OUTPUT = "rows", "matches"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: decimals of more digits are not exact as floats
_DIGITS = 15


@dataclass(frozen=True)
class Column:
    """A column of the result: its name inside and outside, and the type that it shall have (None: as it comes).

    ``source``: the column of the table of which it is a copy.
    """

    inside: str
    name: str
    source: str | None
    value: Value
    type: pa.DataType | None = None


@dataclass(frozen=True)
class Prepared:
    """A query as a program over the type ``TABLE``.

    ``inputs``: the names of the columns of the table, each with its name inside (``time`` for the time).
    """

    program: Program
    inputs: Mapping[str, str]
    columns: tuple[Column, ...]
    kind: TimeKind


def prepared(
    query: syntax.Query, source: Text, fields: pa.Schema, args: Mapping[str, Any], unit: str | None
) -> Prepared:
    """A query over a table with these ``fields``.  ``unit``: of integer times.

    Raises DefinitionProblem.
    """
    types = {f.name: t for f in fields if (t := _readable(f.type)) is not None}
    query = _bound(query, source, args)
    clock = _clock(query, source, fields, types)
    raise_problems(source.problems)
    kind = TimeKind() if types[clock] is Type.TIMESTAMP else TimeKind(False, None if unit is None else time_unit(unit))
    resolved, exact = analyse_table(query, source, Schema(tuple(types.items())), clock, kind)
    _refuse_others(resolved, source, fields, types)
    raise_problems(source.problems)
    # in the order of the names, which breaks ties
    inputs = {name: f"c{i:04}" for i, name in enumerate(sorted(types))} | {clock: "time"}
    inside, columns = _inside(exact, resolved, inputs)
    read = Read({"match_recognize": Texts((syntax.File((inside,), None, source.text),), ())}, {"match_recognize": (0,)})
    read_columns = resolved.needs | {clock}
    used = {name: inner for name, inner in inputs.items() if name in read_columns or resolved.rows != syntax.ONE}
    return Prepared(
        Program(CheckedProgram(read)),
        used,
        tuple(replace(c, type=_type_of(c, fields, clock)) for c in columns),
        kind,
    )


def _readable(t: pa.DataType) -> Type | None:
    """The type of a column, None if row patterns do not read it."""
    if pa.types.is_decimal(t) and t.precision > _DIGITS:
        return None
    return from_arrow(t)


def _clock(query: syntax.Query, source: Text, fields: pa.Schema, types: Mapping[str, Type]) -> str:
    """The column that is the time; reports a query that has none."""
    order = query.clause.order
    if not order:
        message = "the clause has no ORDER BY, so that its rows have no time"
        source.report("unsupported", message, query.clause.span, "write `ORDER BY` and a column of timestamps")
        return next(iter(types), "")
    word = order[0].column
    found = find(word, fields.names)
    if found is None:
        hint = did_you_mean(word.text, fields.names, "columns")
        source.report("unknown-attribute", f"`{query.table}` has no column `{word}`", word.span, hint)
    elif types.get(found) not in (Type.TIMESTAMP, Type.INT):
        message = f"the first column of ORDER BY is the time of a row, but `{found}` is {fields.field(found).type}"
        source.report("type-mismatch", message, word.span, "order by a timestamp or an integer first")
    return found or ""


def _refuse_others(resolved: ResolvedQuery, source: Text, fields: pa.Schema, types: Mapping[str, Type]) -> None:
    """Report a table with columns that are part of the output and cannot be read."""
    left = [f for f in fields if f.name not in types]
    if left and resolved.rows != syntax.ONE:
        message = f"ALL ROWS PER MATCH has all columns, but row patterns cannot read the type of `{left[0].name}`"
        hint = "write ONE ROW PER MATCH, or select the columns that you need from the table first"
        source.report("unsupported", message, resolved.query.clause.rows_span, hint)


def _type_of(column: Column, fields: pa.Schema, clock: str) -> pa.DataType | None:
    """The type that a column shall have: that of the column of the table, times as the table has them."""
    if column.source is not None:
        return fields.field(column.source).type
    of_time = fields.field(clock).type
    return of_time if column.value.type is Type.TIMESTAMP and pa.types.is_timestamp(of_time) else None


# --- names inside -----------------------------------------------------------------------------------------------------


def _inside(
    query: syntax.Query, resolved: ResolvedQuery, inputs: Mapping[str, str]
) -> tuple[syntax.Query, list[Column]]:
    """The query with names of its own, and the columns of its result."""
    measures = {m.name: f"m{i}" for i, m in enumerate(resolved.measures)}
    outer = {**{n: inputs[n] for n, _ in resolved.columns if n in inputs}, **measures}
    variables = {*resolved.variables, *(s.name.text for s in query.clause.subsets)}

    def renamed(names: Mapping[str, str]) -> Any:
        def rule(node: Expr) -> Expr | None:
            if not isinstance(node, syntax.Column):
                return None
            keeps = node.qualifier is not None and node.qualifier.text in variables
            return replace(node, name=Word(names[node.name.text], True), qualifier=node.qualifier if keeps else None)

        return lambda e: rewrite(e, rule)

    within, without = renamed(inputs), renamed(outer)
    clause = query.clause
    columns: list[Column] = []
    items: list[syntax.Item] = []
    outputs = iter(resolved.outputs)
    for item in query.items:
        every = [syntax.Column(Word(n, True)) for n, _ in resolved.columns]
        for expr in every if item.expr is None else [item.expr]:
            value, name = next(outputs), f"o{len(items)}"
            items.append(syntax.Item(without(expr), Word(name, True)))
            read = value.expr.name if isinstance(value.expr, Ref) else ""
            copied = read if read in inputs and read not in measures else None
            columns.append(Column(name, value.name, copied, value))
    return replace(
        query,
        name=Word(OUTPUT, True),
        table=Word(TABLE, True),
        items=tuple(items),
        where=query.where and without(query.where),
        clause=replace(
            clause,
            partition=tuple(Word(inputs[w.text], True) for w in clause.partition),
            order=tuple(replace(o, column=Word(inputs[o.column.text], True)) for o in clause.order),
            measures=tuple(
                replace(m, expr=within(m.expr), name=Word(measures[m.name.text], True)) for m in clause.measures
            ),
            defines=tuple(replace(d, condition=within(d.condition)) for d in clause.defines),
        ),
    ), columns


# --- parameters -------------------------------------------------------------------------------------------------------


def _bound(query: syntax.Query, source: Text, args: Mapping[str, Any]) -> syntax.Query:
    """The query with constants for its parameters; reports those without a value."""

    def rule(node: Expr) -> Expr | None:
        if not isinstance(node, Param):
            return None
        if node.name not in args:
            hint = did_you_mean(node.name, args, "parameters")
            source.report("unknown-name", f"there is no value for the parameter `:{node.name}`", node.span, hint)
            return Literal(None, Type.NULL, span=node.span)
        return constant(node.name, args[node.name], node)

    def of(node: Expr | None) -> Any:
        return None if node is None else rewrite(node, rule)

    clause = query.clause
    return replace(
        query,
        items=tuple(replace(i, expr=of(i.expr)) for i in query.items),
        where=of(query.where),
        clause=replace(
            clause,
            measures=tuple(replace(m, expr=of(m.expr)) for m in clause.measures),
            defines=tuple(replace(d, condition=of(d.condition)) for d in clause.defines),
        ),
    )


def constant(name: str, value: Any, node: Param) -> Expr:
    """The constant that the value of a parameter is.  Raises UsageProblem."""
    span = node.span
    match value:
        case None:
            return Literal(None, Type.NULL, span=span)
        case bool():
            return Literal(value, Type.BOOL, span=span)
        case int() if -(2**63) <= value < 2**63:
            return Literal(value, Type.INT, span=span)
        case float():
            return Literal(value, Type.FLOAT, span=span)
        case str():
            return Literal(value, Type.STRING, span=span)
        case timedelta():
            return DurationLiteral(Duration(Fraction(value // timedelta(microseconds=1))), span=span)
        case datetime() | date():
            at = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
            return Literal((at - _EPOCH) // timedelta(microseconds=1), Type.TIMESTAMP, span=span)
    hint = "use a number, text, a boolean, a datetime, a timedelta or None"
    raise UsageProblem.of("bad-option", f"args: `{name}` cannot be {short(value)}", hint=hint)
