"""The rows of a table by type, their attributes as typed columns, and the schemas that come of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import Problem, did_you_mean
from occurs.model.attribute_types import clean, few_texts, fit
from occurs.model.badrows import MISFIT, BadRows
from occurs.model.grouping import group
from occurs.model.lists import fit_lists, is_list, joint
from occurs.model.source import PLACE, InputOptions, Intake, column_of, places_of
from occurs.model.type_table import TypeTable, picked
from occurs.model.types import OPS, Schema, Type, arrow_type, from_arrow, widen


def by_type(
    one: Intake,
    declared: Mapping[str, Schema],
    inputs: Collection[str] | None,
    read_columns: Mapping[str, Collection[str]] | None,
    options: InputOptions,
    bad: BadRows,
    until: int | None,
) -> dict[str, TypeTable]:
    """The rows of one source by type, in one pass."""
    out: dict[str, TypeTable] = {}
    wanted = [c for c, name in enumerate(one.types) if inputs is None or name in inputs]
    groups: Mapping[int, np.ndarray | None]
    if len(one.types) == 1 and one.whole:
        groups = dict.fromkeys(wanted)
    else:
        groups = group(one.codes, one.counts, wanted)
    merged: dict[str, list[TypeTable]] = {}
    for code, rows in groups.items():
        name = one.types[code]
        read = read_columns and read_columns.get(name)
        merged.setdefault(name, []).append(_rows(one, name, rows, declared.get(name), read, options, bad, until))
    for name, parts in merged.items():  # two ids may have one name
        out[name] = parts[0] if len(parts) == 1 else TypeTable.of(pa.concat_tables([p.table() for p in parts]))
    return out


def _rows(
    one: Intake,
    name: str,
    rows: np.ndarray | None,
    schema: Schema | None,
    read: Collection[str] | None,
    options: InputOptions,
    bad: BadRows,
    until: int | None,
) -> TypeTable:
    """The rows of one type in one source; values that do not fit are noted, and their rows left out.

    Columns of which every value fits are taken from the source when somebody asks for them.
    """
    table = one.source.table
    index = None if rows is None else pa.array(rows)

    def take(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return picked(column, index)

    columns: dict[str, pa.ChunkedArray | None] = {}
    later: dict[str, pa.ChunkedArray] = {}
    columns["time"] = pa.chunked_array([pa.array(one.time if rows is None else one.time[rows])])
    lost: np.ndarray | None = None

    def note(column: str, before: pa.ChunkedArray, after: pa.ChunkedArray, expected: Type | pa.DataType) -> None:
        nonlocal lost
        if after.null_count > before.null_count:
            missed = after.is_null().to_numpy() & ~before.is_null().to_numpy()
            at = np.flatnonzero(missed)
            observed = "list" if is_list(before.type) else from_arrow(before.type) or Type.STRING
            bad.add(
                one.number, MISFIT, "bad-value", column, at if rows is None else rows[at],
                f"{observed} value in column `{column}` of `{name}`, which is {expected}",
            )  # fmt: skip
            lost = missed if lost is None else lost | missed

    if options.places:
        at = np.arange(len(table)) if rows is None else rows
        columns[PLACE] = pa.chunked_array([pa.array(places_of(one.number, at))])
    if one.end is not None:
        end = take(one.end)
        if end.null_count < len(end) or one.source.type is not None:
            columns["end"] = end if until is None else pc.if_else(pc.greater(end, until), None, end)
    for special, expected in ((options.sequence, Type.INT), (options.label, Type.STRING)):
        if special is not None and special in table.column_names:
            before = clean(take(table.column(special)))
            if expected is Type.STRING and from_arrow(before.type) is Type.INT:
                before = before.cast(pa.string())
            after = fit(before, expected, text=one.source.text)
            after = pa.chunked_array([pa.nulls(len(before), arrow_type(expected))]) if after is None else after
            note(special, before, after, expected)
            if before.null_count == len(before):
                continue  # as if there were none
            columns["sequence" if expected is Type.INT else "label"] = after
    for attribute, want, stated, column in readings(schema, one.schema, tuple(table.column_names)):
        if read is not None and attribute not in read:
            continue
        spelled = stated and want is Type.STRING and column in one.source.as_text
        if not spelled and want is not Type.RECORD and table.column(column).type == arrow_type(want):
            columns[attribute], later[attribute] = None, table.column(column)
            continue
        before = take(one.source.as_text[column] if spelled else table.column(column))
        if options.coded and want is Type.STRING and few_texts(before) and (schema is None or not schema.optional):
            columns[attribute] = before
            continue
        before = clean(before)
        if want is Type.RECORD:
            stated_as = {} if schema is None else dict(schema.records)
            kind = stated_as.get(attribute) or dict(one.schema.records)[column]
            columns[attribute] = lists = fit_lists(before, kind)
            note(column, before, lists, kind)
            continue
        after = fit(before, want if stated else None, text=one.source.text)
        if after is None:
            after = pa.chunked_array([pa.nulls(len(before), arrow_type(want))])
        note(column, before, after, want)
        columns[attribute] = after
    if schema is not None and schema.lasting and "end" not in columns:
        columns["end"] = pa.chunked_array([pa.nulls(len(one.time if rows is None else rows), pa.int64())])
    out = TypeTable(columns, later, index, one.increasing)
    if schema is not None and schema.changes and "holds" in columns:
        empty = out.column("holds").is_null().to_numpy()
        empty &= True if lost is None else ~lost
        at = np.flatnonzero(empty)
        bad.add(one.number, "null holds", "bad-value", "holds", at if rows is None else rows[at])
        lost = (empty if lost is None else lost | empty) if len(at) else lost
    if schema is not None and "op" in schema.optional and "op" in columns:
        op = out.column("op")
        unknown = pc.and_(op.is_valid(), pc.invert(pc.is_in(op, pa.array(OPS)))).to_numpy()
        at = np.flatnonzero(unknown)
        bad.add(one.number, "unknown op", "bad-value", "op", at if rows is None else rows[at])
        lost = (unknown if lost is None else lost | unknown) if len(at) else lost
    if lost is None:
        return out
    gone = np.flatnonzero(lost)
    one.leave_out(gone if rows is None else rows[gone])
    return TypeTable.of(out.table().filter(pa.array(~lost)))


@lru_cache(1024)
def readings(
    declared: Schema | None, seen: Schema, columns: tuple[str, ...]
) -> tuple[tuple[str, Type, bool, str], ...]:
    """The attributes of a type in a table: (attribute, type, is it declared so?, column).

    ``seen``: the attributes that the table has, among its ``columns``.  Missing ones are left out.
    """
    if declared is None:
        return tuple((c, t, False, c) for c, t in seen)
    out = []
    for attribute, stated in declared:
        column = column_of(attribute, columns, declared.loose)
        if column is not None:
            # a type that a declaration leaves open is that of the column
            found = stated if stated is not Type.NULL else seen.get(column) or Type.NULL
            out.append((attribute, found, stated is not Type.NULL, column))
    taken = {*(c for *_, c in out), *declared.names}
    return (*out, *((c, t, False, c) for c, t in seen if declared.rest and c not in taken))


def schemas_of(
    intakes: list[Intake],
    declared: Mapping[str, Schema],
    inputs: Collection[str] | None,
    external: Collection[str] | None,
    problems: list[Problem],
    end: str | None = "end",
) -> tuple[dict[str, Schema], list[Problem]]:
    """Schemas of all types; missing columns of declared types go to ``problems``, the rest to notices."""
    seen: dict[str, Schema] = {}
    notices: list[Problem] = []
    present: set[str] = set()
    shared = Schema(ordered=False)
    for one in intakes:
        live = one.counts if one.source.type is None else ()
        for code, name in enumerate(one.types):
            if one.source.type is None and not live[code]:
                continue
            present.add(name)
            lasting = one.end is not None and (
                one.source.type is not None or bool((~one.end.is_null().to_numpy() & (one.codes == code)).any())
            )
            if name in declared:
                names = tuple(one.source.table.column_names)
                seen[name] = completed(declared[name], seen.get(name), one.schema, names)
                if inputs is None or name in inputs:
                    problems += missing(name, declared[name], names, end, one.source.place)
            else:
                seen[name] = union(seen.get(name), one.schema, lasting)
        if one.source.type is None and not one.schema.ordered:
            shared = union(shared, one.schema, False)
    for name in sorted(inputs or ()):
        own = external is not None and name not in external  # what rules define has their schema
        if name not in seen and name not in declared and shared.attributes and not own:
            seen[name] = shared
            notices.append(unknown_type(name, present | set(declared)))
    for name, schema in declared.items():
        seen.setdefault(name, schema)
        if name not in present and (inputs is None or name in inputs):
            text = f"the input has no rows of the declared type `{name}`"
            notices.append(Problem("no-rows", text, severity="notice"))
    seen.pop("", None)
    return seen, notices


def unknown_type(name: str, known: Collection[str]) -> Problem:
    """A type that is read and that nobody declares, defines or has rows of, though one table may have all types."""
    text = f"no event of type `{name}` is declared, defined or present in the input"
    hint = did_you_mean(name, known, "types")
    return Problem("unknown-type", text, hint=hint, severity="warning", value=name)


def missing(name: str, declared: Schema, known: Collection[str], end: str | None, file: str | None) -> list[Problem]:
    """The columns that a table of a declared type must have, and that are not among the ``known`` ones."""
    out = []
    for attribute, _ in declared:
        if column_of(attribute, known, declared.loose) is None and attribute not in declared.optional:
            hint = did_you_mean(attribute, known, "columns")
            text = f"column `{attribute}` of `{name}` is declared but missing"
            out.append(Problem("missing-column", text, file=file, hint=hint))
    if declared.lasting and end not in known:
        hint = did_you_mean(end or "end", known, "columns")
        text = f"`{name}` has intervals, but there is no column `{end or 'end'}`"
        out.append(Problem("missing-column", text, file=file, hint=hint))
    return out


@lru_cache(1024)
def completed(declared: Schema, before: Schema | None, seen: Schema, columns: tuple[str, ...]) -> Schema:
    """A declared schema; types that it leaves open are those of all tables of the type, ``before`` and this one."""
    read = readings(declared, seen, columns)
    lists = dict(seen.records)
    records = tuple((a, lists[c]) for a, t, _, c in read if t is Type.RECORD)
    together = union(before, Schema(tuple((a, t) for a, t, _, _ in read), records=records), False)
    both = dict(together.attributes)
    more = tuple((n, t) for n, t in both.items() if declared.rest and n not in declared)
    known = declared.completed(both)
    found = tuple(a for a in known if a[0] not in declared.optional or a[0] in both)
    return replace(known, attributes=found + more, records=together.records)


def union(one: Schema | None, other: Schema, lasting: bool) -> Schema:
    """The attributes of two tables of a type, int widened to float."""
    if one is None:
        return Schema(other.attributes, other.ordered, lasting, records=other.records)
    found = dict(one.attributes)
    for name, t in other:
        found[name] = widen(found.get(name, t), t) or t
    records = {n: k for n, k in {**dict(other.records), **dict(one.records)}.items() if found[n] is Type.RECORD}
    for name, kind in other.records:
        if name in records:
            records[name] = joint(records[name], kind) or records[name]
    ordered = one.ordered and one.names == other.names
    return Schema(tuple(found.items()), ordered, one.lasting or lasting, records=tuple(records.items()))
