"""Tables, variables and events of the engine of temporal triggers, as they change (temporal-logic.md 4.1).

Rows are tuples in the order of the declared columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from occurs.errors import InputProblem
from occurs.model.nesting import read_json
from occurs.operators.columns import Column
from occurs.operators.rows import Rows
from occurs.operators.temporal.values import Relation

Row: TypeAlias = tuple[Any, ...]
#: of a row that is deleted only the keys are known
ABSENT = object()
PUT, DELETE, TRUNCATE = "put", "delete", "truncate"
OPS: dict[str | None, str] = {None: PUT, "truncate": TRUNCATE}
OPS |= dict.fromkeys(("upsert", "insert", "update", "c", "u", "r", "I", "U"), PUT)
OPS |= dict.fromkeys(("delete", "d", "D"), DELETE)
_UPDATES = ("update", "u", "U")
INSERTS = ("insert", "c", "I")
_RANK = {TRUNCATE: 0, PUT: 1, DELETE: 2}


@dataclass(frozen=True)
class Shape:
    """A type of rows: its columns, and for a table the places of its keys."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[int, ...] = ()


class Written(NamedTuple):
    """One row of the input as it came: ``derived`` by a definition?"""

    row: Row
    sequence: int | None = None
    op: str | None = None
    old: str | None = None
    derived: bool = False


#: a row that was written: its type, and the rows that it is about (of a table as it was, as it is); None: all
Change: TypeAlias = "tuple[str, Sequence[Row] | None]"


def written(rows: Rows, shape: Shape) -> list[Written]:
    """The rows of a type, in their order."""
    columns = [values(rows.columns.get(c), len(rows)) for c in shape.columns]
    plain = list(zip(*columns, strict=True)) if columns else [()] * len(rows)
    special = [rows.columns.get(n) for n in ("sequence", "op", "old")]
    derived = np.zeros(len(rows), np.bool_) if rows.derived is None else rows.derived >= 0
    if all(c is None for c in special):
        if rows.derived is None:
            return list(map(Written, plain))
        return [Written(row, None, None, None, d) for row, d in zip(plain, derived.tolist(), strict=True)]
    own = [values(c, len(rows)) for c in special]
    return [Written(*one) for one in zip(plain, *own, derived.tolist(), strict=True)]


def values(column: Column | None, n: int) -> list[Any]:
    """The values of a column, None where there is none."""
    if column is None:
        return [None] * n
    if not column.numeric:
        return list(column.arrow.to_pylist())
    found: list[Any] = column.values.tolist()
    known = column.is_valid()
    if column.values.dtype == np.float64:
        known = known & ~np.isnan(column.values)
    if not known.all():
        for i in np.flatnonzero(~known).tolist():
            found[i] = None
    return found


def ascending(sequence: int | None) -> tuple[bool, int]:
    """Null least."""
    return (sequence is not None, sequence or 0)


#: entries of a log before it is looked through
MOST = 1000


class Table:
    """The rows of a table.  ``log``: (row number, row or None if it is gone) since SQL has looked last, if it looks."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        #: key to (number, row); of a table without keys the number is the key
        self.rows: dict[Any, tuple[int, Row]] = {}
        self.next = 0
        self.absent = self.present = 0
        self.log: list[tuple[int, Row | None]] | None = None
        self._most = MOST
        self._whole: Relation | None = None
        self._frozen: Table | None = None
        self.key: Callable[[Row], Any] = _key(shape.keys)

    def relation(self) -> Relation:
        """All rows; booleans as SQL has them."""
        if self._whole is None:
            rows = tuple(tuple(int(v) if type(v) is bool else v for v in row) for _, row in self.rows.values())
            self._whole = Relation(self.shape.columns, rows)
        return self._whole

    def frozen(self) -> Table:
        """The rows as they are now, for good."""
        if self._frozen is None:
            self._frozen = Table(self.shape)
            self._frozen.rows, self._frozen.next = dict(self.rows), self.next
        return self._frozen

    def put(self, key: Any, row: Row) -> None:
        """A row, behind all others."""
        self._whole = self._frozen = None
        self.rows[key] = (self.next, row)
        if self.log is not None:
            self._note(self.log, self.next, row)
        self.next += 1

    def drop(self, key: Any) -> Row | None:
        """Take a row away; what it was."""
        gone = self.rows.pop(key, None)
        if gone is None:
            return None
        self._whole = self._frozen = None
        if self.log is not None:
            self._note(self.log, gone[0], None)
        return gone[1]

    def _note(self, log: list[tuple[int, Row | None]], number: int, row: Row | None) -> None:
        """Something that SQL has not seen; of rows that have come and gone since it has looked nothing is kept."""
        log.append((number, row))
        if len(log) < self._most:
            return
        new: dict[int, Row | None] = {}
        gone = []
        for n, one in log:
            if one is not None:
                new[n] = one
            elif new.pop(n, None) is None:
                gone.append((n, one))
        self.log = [*gone, *new.items()]
        self._most = max(MOST, 2 * len(self.log))

    def clear(self) -> None:
        """Take all rows away."""
        for key in list(self.rows):
            self.drop(key)

    def entries(self) -> Iterator[tuple[int, Row]]:
        """All rows with their numbers."""
        yield from self.rows.values()

    def counted(self) -> Iterator[tuple[str, int]]:
        """What was accepted though it did not go with the rows that were there, since the last time."""
        yield from without_effect(self.shape, self.absent, self.present)
        self.absent = self.present = 0

    def change(self, one: Written, seen: dict[Any, tuple[Written, Any]] | None, time: int) -> Change:
        """One row of the input.  ``seen``: what was written at this time, None if this is the only row."""
        shape, op = self.shape, OPS.get(one.op)
        if op is None:
            raise InputProblem.of("bad-value", f"{shape.name} at {time}: {one.op!r} is not a valid op", value=one.op)
        if op == TRUNCATE:
            self._agree(seen, (one.sequence,), one, op, time)
            self.clear()
            return shape.name, None
        if seen is not None and (one.sequence,) in seen:
            self._agree(seen, (one.sequence,), one, op, time)
        old = None if one.old is None else old_row(self.shape, one.old, time)
        if not shape.keys:
            return shape.name, self._in_bag(one, op, old, time)
        key = self.key(one.row)
        self._agree(seen, (one.sequence, key), one, one.row if op == PUT else op, time)
        before: list[Row] = []
        gone = key if old is None else self.key(old)
        if gone != key:
            self._agree(seen, (one.sequence, gone), one, DELETE, time)
            was = self.drop(gone)
            before += [] if was is None else [was]
        was = self.drop(key)
        before += [] if was is None else [was]
        self.absent += op == DELETE and was is None
        self.present += one.op in INSERTS and was is not None
        if op == PUT:
            self.put(key, one.row)
            return shape.name, [*before, one.row]
        known = tuple(v if i in shape.keys else ABSENT for i, v in enumerate(one.row))
        return shape.name, [*before, known]

    def _in_bag(self, one: Written, op: str, old: Row | None, time: int) -> list[Row]:
        """A row of a table without keys."""
        gone = one.row if op == DELETE else old
        if gone is None and one.op in _UPDATES:
            text = f"{self.shape.name} at {time}: an update of a table without keys needs `old`"
            raise InputProblem.of("bad-value", text)
        before: list[Row] = []
        if gone is not None:
            at = next((k for k, (_, row) in self.rows.items() if row == gone), None)
            was = None if at is None else self.drop(at)
            before += [] if was is None else [was]
        if op == PUT:
            self.put(self.next, one.row)
            return [*before, one.row]
        return [*before, (ABSENT,) * len(one.row)]

    def _agree(self, seen: dict[Any, tuple[Written, Any]] | None, place: Any, one: Written, to: Any, time: int) -> None:
        if seen is None:
            return
        other, value = seen.setdefault(place, (one, to))
        if value != to:
            raise conflict(self.shape, other, one, time)


def without_effect(shape: Shape, absent: int, present: int) -> tuple[tuple[str, int], ...]:
    """What is reported of deletes of rows that were ``absent`` and inserts of rows that were ``present``."""
    return (f"deletes of absent rows: {shape.name}", absent), (f"inserts of present rows: {shape.name}", present)


def old_row(shape: Shape, text: str, time: int) -> Row:
    """The old row, given as JSON."""
    try:
        found = read_json(text)
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise InputProblem.of("bad-value", f"{shape.name} at {time}: `old` is not a JSON object", value=text)
    return tuple(found.get(c) for c in shape.columns)


def conflict(shape: Shape, one: Written, other: Written, time: int) -> InputProblem:
    """Two rows that write different values at one time."""
    both = " and ".join(str(dict(zip(shape.columns, w.row))) for w in (one, other))
    return InputProblem.of(
        "conflicting-values",
        f"{shape.name} at {time}: conflicting rows without a `sequence`: {both}",
        hint="add a column `sequence` that decides which of them is later",
    )


def _key(places: tuple[int, ...]) -> Callable[[Row], Any]:
    if len(places) == 1:
        (only,) = places
        return lambda row: row[only]
    return lambda row: tuple(row[i] for i in places)


def changed(table: Table, rows: Sequence[Written], time: int) -> list[Change]:
    """The rows of one time."""
    if len(rows) == 1:
        return [table.change(rows[0], None, time)]
    seen: dict[Any, tuple[Written, Any]] = {}
    order = sorted(rows, key=lambda w: (ascending(w.sequence), _RANK.get(OPS.get(w.op, PUT), 0)))
    return [table.change(w, seen, time) for w in order]


def last_of(shape: Shape, rows: Sequence[Written], time: int) -> Row:
    """The values that rows of a state type of one time leave behind; InputProblem if two of them conflict."""
    if len(rows) > 1:
        seen: dict[int | None, Written] = {}
        for w in rows:
            other = seen.setdefault(w.sequence, w)
            if other.row != w.row:
                raise conflict(shape, other, w, time)
    return rows[-1].row


@dataclass(frozen=True)
class Read:
    """Rows of a type that a formula reads: with these values, and with those of generic variables, at these places."""

    columns: tuple[str, ...]
    fixed: tuple[tuple[int, Any], ...]
    keyed: tuple[tuple[int, str], ...]

    def takes(self, row: Row, generics: Mapping[str, Any]) -> bool:
        """Is it such a row?"""
        return all(row[i] == v for i, v in self.fixed) and all(row[i] == generics[n] for i, n in self.keyed)


@dataclass(slots=True)
class State:
    """What the terms of an instance see: ``variables`` by name, ``tables``, ``events`` of exactly this ``time`` by
    type, in order; ``sql``: of the tables; ``reads``: which rows of which types the formula reads.

    ``past``: values of the past operators and aggregates that know no global variable; ``record``: the latest record.
    """

    time: int
    variables: dict[str, Any]
    tables: Mapping[str, Table]
    events: Mapping[str, Sequence[Row]]
    sql: Any
    reads: Mapping[str, Sequence[Read]] = field(default_factory=dict)
    past: Sequence[Any] = ()
    record: Any = None
    #: rows of tables that were written in this state, by type; known if reasons are asked for
    wrote: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    #: the values of the instance's generic variables, by name
    generics: Mapping[str, Any] = field(default_factory=dict)

    def seen(self) -> dict[str, Any]:
        """The variables that have values, and per type the events and the rows of tables that were written in this
        state, if the formula reads them for this instance."""
        found: dict[str, Any] = {n: v for n, v in self.variables.items() if v is not None}
        for t, rows in (*self.wrote.items(), *self.events.items()):
            reads = self.reads.get(t, ())
            mine = [row for row in rows if any(read.takes(row, self.generics) for read in reads)]
            if mine:
                pairs = [zip(reads[0].columns, row) for row in mine]
                found[t] = [{n: v for n, v in row if v is not None and v is not ABSENT} for row in pairs]
        return found
