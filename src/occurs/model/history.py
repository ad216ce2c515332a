"""The intake: tables as they come to a :class:`History` of typed events with int64 times (common.md, section 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, Problem, UsageProblem
from occurs.model.attribute_types import clean
from occurs.model.attributes import by_type, schemas_of
from occurs.model.badrows import BadRows
from occurs.model.source import PLACE, InputOptions, Source
from occurs.model.special import bound, clock_of, take_in, time_kind, times_of, unlikely_times
from occurs.model.ticks import clock_ends, time_unit
from occurs.model.time import TimeKind
from occurs.model.type_table import TypeTable, TypeTables
from occurs.model.types import Schema

__all__ = ["History", "InputOptions", "Source", "normalise"]


@dataclass(frozen=True)
class Made:
    """Rows that definitions in ``language`` have made of a type, the first of them at ``place`` of the evaluation
    order."""

    language: str
    type: str
    place: int
    table: pa.Table


@dataclass(frozen=True)
class History:
    """Accepted rows per type, in no particular order.

    ``tables``: columns ``time`` (int64 ticks, no nulls), for lasting types ``end`` (int64, null: still holds), if the
    input has them ``sequence`` (int64) and ``label`` (string), then the attributes (int64, float64, string, bool,
    timestamp[us, UTC]; null if a column has no values and no declared type).  ``schemas``: of every type seen or
    declared.  ``clock``: first and last tick of the history, None without rows.  ``counts``: ``rows`` read,
    ``outside`` [start, until], ``empty`` (end = time), ``bad``, and ``bad: <reason>``.  ``bad``: see ``BadRows``.
    ``made``: what definitions have added so far, which stands behind the rows of the input in ``tables``.  ``places``:
    if they were asked for, where each row of ``tables`` is from (:func:`occurs.model.source.source_and_row`).
    ``times``: the first and the last time of an accepted row, also of types that are not kept.
    """

    tables: Mapping[str, pa.Table]
    schemas: dict[str, Schema]
    kind: TimeKind
    clock: tuple[int, int] | None
    counts: dict[str, int]
    bad: pa.Table | None = None
    notices: list[Problem] = field(default_factory=list)
    made: tuple[Made, ...] = ()
    places: Mapping[str, np.ndarray] = field(default_factory=dict)
    times: tuple[int, int] | None = None

    @property
    def distinct(self) -> bool:
        """Are the times of all rows known to be different?"""
        return isinstance(self.tables, TypeTables) and self.tables.distinct

    def rows(self, type: str) -> TypeTable:
        """The rows of a type, of which the columns are made that somebody asks for."""
        if isinstance(self.tables, TypeTables):
            return self.tables.types[type]
        return TypeTable.of(self.tables[type])


def normalise(
    tables: Mapping[str | None, pa.Table] | Sequence[Source],
    *,
    schemas: Mapping[str, Schema] | None = None,
    inputs: Collection[str] | None = None,
    external: Collection[str] | None = None,
    options: InputOptions | None = None,
    after: int | None = None,
) -> History:
    """Read ``tables`` (type -> table; None: a table with a type column) as ``options`` say.

    ``schemas``: declared types.  ``inputs``: the types to keep (None: all).  ``external``: those of ``inputs`` that
    no rule defines; a table without type column belongs to the only one.  ``after``: rows up to this tick are left out
    and counted as ``outside``.

    Raises InputProblem (``missing-column``, ``bad-time``, ``bad-value``) and UsageProblem.
    """
    options, declared = options or InputOptions(), dict(schemas or {})
    time_unit(options.time_unit)
    if options.bad_rows not in ("error", "skip"):
        raise UsageProblem.of("bad-option", f"invalid bad_rows: `{options.bad_rows}`", hint="use `error` or `skip`")
    sources = listed(tables)
    bad = BadRows(sources)
    problems: list[Problem] = []
    intakes = []
    for number, source in enumerate(sources):
        taken = take_in(source, number, declared, inputs, external, options, bad, problems)
        if taken is not None:
            intakes.append(taken)
    if problems:
        raise InputProblem(problems)
    kind = time_kind(intakes, options)
    start, until = clock_ends(options.start, options.until, kind)
    first = start if after is None else max(after + 1, -(2**63) if start is None else start)
    counts: Counter[str] = Counter(rows=sum(len(s.table) + len(s.torn) for s in sources), outside=0, empty=0)
    for one in intakes:
        bound(one, first, until, counts)
    parts: dict[str, list[TypeTable]] = {}
    for one in intakes:
        for name, table in by_type(one, declared, inputs, None, options, bad, until).items():
            parts.setdefault(name, []).append(table)
    seen, notices = schemas_of(intakes, declared, inputs, external, problems, options.end)
    if problems:
        raise InputProblem(problems)
    bad.judge(options.bad_rows)
    out = {}
    for name, found in parts.items():
        out[name] = _concat(name, found, problems)
    if problems:
        raise InputProblem(problems)
    for name in inputs or ():
        if name not in out and name in seen:
            out[name] = _empty(seen[name])
    times = times_of(intakes)
    clock, own = clock_of(intakes, times, start, until), clock_of(intakes, times, None, None)
    notices += [] if own is None else unlikely_times(kind, *own)
    for name, table in out.items():
        counts["empty"] += _count_empty(table)
        out[name] = _drop_empty(table)
    places = {name: table.column(PLACE).to_numpy() for name, table in out.items() if PLACE in table.column_names}
    for name in places:
        out[name] = TypeTable.of(out[name].table().drop_columns(PLACE))
    counted = {**counts, **bad.counts()}
    rows = TypeTables(out, len(intakes) == 1 and intakes[0].increasing)
    return History(rows, seen, kind, clock, counted, bad.table(), notices, places=places, times=times)


def listed(tables: Mapping[str | None, pa.Table] | Sequence[Source]) -> list[Source]:
    """Tables by type (None: all in one) as sources."""
    if isinstance(tables, Mapping):
        return [Source(table, name) for name, table in tables.items()]
    return list(tables)


def _concat(name: str, parts: list[TypeTable], problems: list[Problem]) -> TypeTable:
    """One table of the parts of several sources: int widens to float, a missing column is null."""
    if len(parts) == 1:
        return parts[0]
    try:
        return TypeTable.of(pa.concat_tables([decoded(p.table()) for p in parts], promote_options="permissive"))
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        text = f"the tables of `{name}` have columns with different types: {error}"
        problems.append(Problem("bad-value", text, hint=f"declare the types: event {name}(...)"))
        return parts[0]


def decoded(table: pa.Table) -> pa.Table:
    """A table without dictionaries."""
    for at, f in enumerate(table.schema):
        if pa.types.is_dictionary(f.type):
            table = table.set_column(at, f.name, clean(table.column(at)))
    return table


def _empty(schema: Schema) -> TypeTable:
    fields = [(n, schema.arrow_of(n, t)) for n, t in schema]
    head = [("time", pa.int64()), *([("end", pa.int64())] if schema.lasting else [])]
    return TypeTable.of(pa.schema([*head, *fields]).empty_table())


def _count_empty(table: TypeTable) -> int:
    if "end" not in table.column_names:
        return 0
    return pc.sum(pc.equal(table.column("end"), table.column("time"))).as_py() or 0


def _drop_empty(table: TypeTable) -> TypeTable:
    if not _count_empty(table):
        return table
    return TypeTable.of(
        table.table().filter(pc.fill_null(pc.not_equal(table.column("end"), table.column("time")), True))
    )
