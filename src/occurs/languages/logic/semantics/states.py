"""The states of a history in the reference semantics of temporal triggers (temporal-logic.md 4.1, 8).

Readings where the specification is silent:

* A table without key columns is a bag of rows, as a table of SQL is: upsert and insert add a row, delete takes away one
  that is equal in all columns, update needs ``old``.  ``T.column`` needs it to have one row at most.
* Two rows contradict each other if they have the same time and the same sequence (or none) and write different values,
  or one of them truncates.  Variables of a state type contradict each other only for a trigger that reads them.
* ``old`` of an update is the old row (a mapping, or JSON); of it the keys are needed.
* If no ``state`` is declared, rows of the type ``state`` are states, whatever else is declared.
* A change of a table is about the row as it was and as it is: a trigger that reads only the rows with one value reads
  it if either has it.  Truncating is about all rows.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.reference import clean
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.values import Relation
from occurs.model.nesting import read_json
from occurs.model.occurrence import Occurrence
from occurs.model.sqltext import quoted
from occurs.model.types import Schema, Type

#: the type of rows that are states without declaration
STATE = "state"
_PUT, _DELETE, _TRUNCATE = "put", "delete", "truncate"
_OPS: dict[str | None, str] = {None: _PUT, "truncate": _TRUNCATE}
_OPS |= dict.fromkeys(("upsert", "insert", "update", "c", "u", "r", "I", "U"), _PUT)
_OPS |= dict.fromkeys(("delete", "d", "D"), _DELETE)

Row = Mapping[str, Any]


class Catalogue:
    """What the definitions of a program name, by name.

    ``variables``: database variables, with the state type whose rows give them.  ``made``: types that triggers give.
    """

    def __init__(self, definitions: Sequence[syntax.Definition], inputs: Mapping[str, Schema]) -> None:
        self.tables = {d.name.text: d for d in definitions if isinstance(d, syntax.Table)}
        self.views = {d.name.text: d for d in definitions if isinstance(d, syntax.View)}
        self.constants = {d.name.text: d.value.value for d in definitions if isinstance(d, syntax.Constant)}
        self.triggers = [d for d in definitions if isinstance(d, syntax.Trigger)]
        states = {d.name.text: _types(d.columns) for d in definitions if isinstance(d, syntax.State)}
        self.states = states or {STATE: dict(inputs[STATE]) if STATE in inputs else {}}
        self.variables = {column: name for name, columns in self.states.items() for column in columns}
        self.made = {output_type(t) for t in self.triggers}
        events = {d.name.text: _types(d.columns) for d in definitions if isinstance(d, syntax.Event)}
        others = {n: dict(s) for n, s in inputs.items() if n not in self.tables and n not in self.states}
        self.events: dict[str, dict[str, Type]] = {**{n: {} for n in self.made}, **others, **events}

    def columns(self, type_: str) -> dict[str, Type]:
        """The declared columns of a type of rows; none if nothing is known."""
        if type_ in self.tables:
            return _types(self.tables[type_].columns)
        return self.states.get(type_) or self.events.get(type_) or {}


def _types(columns: Iterable[syntax.Column]) -> dict[str, Type]:
    return {c.name.text: c.type for c in columns}


def output_type(trigger: syntax.Trigger) -> str:
    """The type of event that a trigger gives."""
    return trigger.name.text if trigger.emit is None else trigger.emit.type.text


@dataclass(frozen=True)
class Change:
    """A row was written: its type, and the rows it is about (of a table: as it was, as it is); None: all rows."""

    type: str
    rows: tuple[Row, ...] | None


@dataclass(frozen=True, eq=False)
class State:
    """The values at a time.

    ``variables``: database variables.  ``tables``: rows by table.  ``events``: of exactly this time, by type, in the
    total order.  ``changes``: the rows written at this time.  ``of_input``: was one of them a row of the input?
    """

    time: int
    catalogue: Catalogue
    variables: Mapping[str, Any]
    tables: Mapping[str, tuple[Row, ...]]
    events: Mapping[str, tuple[Occurrence, ...]] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    of_input: bool = True

    @cached_property
    def sql(self) -> Tables:
        """The tables as SQL sees them."""
        return Tables(list(self.catalogue.tables.values()), self.tables, self.catalogue.views.values())

    def later(self, time: int) -> State:
        """The same values at a later time, without events."""
        return State(time, self.catalogue, self.variables, self.tables)


# --- rows -------------------------------------------------------------------------------------------------------------


def ascending(value: Any) -> tuple[Any, ...]:
    """Null least, booleans before numbers, numbers by value, text by code point."""
    if value is None:
        return ()
    kind = 0 if isinstance(value, bool) else 1 if isinstance(value, int | float) else 2
    return (kind, value)


def in_order(rows: Iterable[Occurrence]) -> list[Occurrence]:
    """Rows of the input in the total order (common.md, section 2)."""

    def place(row: Occurrence) -> tuple[Any, ...]:
        names = sorted(n for n in row.attributes if not isinstance(row.attributes[n], Mapping))
        values = [ascending(row.attributes[n]) for n in names]
        return (row.time, ascending(row.sequence), row.type, values)

    return sorted(rows, key=place)


def as_declared(row: Occurrence, catalogue: Catalogue) -> Occurrence:
    """A row with the values of its declared columns: missing ones null, NaN null, whole numbers cast."""
    columns = catalogue.columns(row.type)
    values = {n: clean(v) for n, v in row.attributes.items()}
    if columns:
        special = ("op", "old") if row.type in catalogue.tables else ()
        values = {n: v for n, v in values.items() if n in special} | {
            n: _cast(row, n, values.get(n), t) for n, t in columns.items()
        }
    return Occurrence(row.type, row.time, values, row.sequence)


def _cast(row: Occurrence, name: str, value: Any, type_: Type) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = value is None or {
        Type.INT: number and float(value).is_integer(),
        Type.FLOAT: number,
        Type.STRING: isinstance(value, str),
        Type.BOOL: isinstance(value, bool),
        Type.TIMESTAMP: number and isinstance(value, int),
    }.get(type_, True)
    if not fits:
        raise InputProblem.of(
            "bad-value", f"{row.type}.{name} at {row.time}: {value!r} is not a valid {type_}", value=value
        )
    if value is not None and type_ in (Type.INT, Type.FLOAT):
        return int(value) if type_ is Type.INT else float(value)
    return value


# --- states -----------------------------------------------------------------------------------------------------------


def replay(
    catalogue: Catalogue,
    rows: Iterable[Occurrence],
    derived: Iterable[Occurrence] = (),
    *,
    reads: Callable[[str], bool] = lambda _: True,
    times: Iterable[int] = (),
) -> list[State]:
    """The states at all times of rows, and at ``times`` of input rows that are left out.

    ``rows`` of the input are in the total order and as declared; ``derived`` events come after them, in their order.
    ``reads``: is a state type read?  InputProblem (``conflicting-values``, ``bad-value``).
    """
    values = _Values(catalogue, reads)
    by_time: dict[int, tuple[list[Occurrence], list[Occurrence]]] = {t: ([], []) for t in times}
    rows = list(rows)
    of_input = {*by_time, *(r.time for r in rows)}
    for at, group in ((0, rows), (1, derived)):
        for row in group:
            by_time.setdefault(row.time, ([], []))[at].append(row)
    states = []
    for time, (own, made) in sorted(by_time.items()):
        changes = values.apply(own)
        events: dict[str, tuple[Occurrence, ...]] = {}
        for row in [*own, *made]:
            if row.type not in catalogue.tables and row.type not in catalogue.states:
                events[row.type] = (*events.get(row.type, ()), row)
                changes.append(Change(row.type, (row.attributes,)))
        tables = {name: tuple(row for some in found.values() for row in some) for name, found in values.tables.items()}
        states.append(State(time, catalogue, dict(values.variables), tables, events, tuple(changes), time in of_input))
    return states


class _Values:
    """Variables and tables as they change."""

    def __init__(self, catalogue: Catalogue, reads: Callable[[str], bool]) -> None:
        self.catalogue, self.reads = catalogue, reads
        self.variables: dict[str, Any] = dict.fromkeys(catalogue.variables)
        #: per table and key the row; of a table without keys all rows are under the empty key
        self.tables: dict[str, dict[tuple[Any, ...], list[Row]]] = {name: {} for name in catalogue.tables}

    def apply(self, rows: Sequence[Occurrence]) -> list[Change]:
        """The rows of one time."""
        changes: list[Change] = []
        written: dict[tuple[Any, ...], tuple[Occurrence, Any]] = {}
        states = [r for r in rows if r.type in self.catalogue.states]
        for row in states:
            if self.reads(row.type):
                _agree(written, (row.type, row.sequence), row, dict(row.attributes))
            self.variables.update({n: v for n, v in row.attributes.items() if self.catalogue.variables[n] == row.type})
            changes.append(Change(row.type, (row.attributes,)))
        tables = [r for r in rows if r.type in self.catalogue.tables]
        rank = (_TRUNCATE, _PUT, _DELETE)
        for row in sorted(tables, key=lambda r: (ascending(r.sequence), rank.index(_op(r)))):
            changes.append(self.change(row, written))
        return changes

    def change(self, row: Occurrence, written: dict[tuple[Any, ...], tuple[Occurrence, Any]]) -> Change:
        """One change of a table."""
        table, op = self.catalogue.tables[row.type], _op(row)
        found = self.tables[row.type]
        where = (row.type, row.sequence)
        if op == _TRUNCATE:
            _agree(written, where, row, op)
            found.clear()
            return Change(row.type, None)
        if where in written:
            _agree(written, where, row, op)
        names = [c.name.text for c in table.columns]
        new = {n: row.attributes.get(n) for n in names}
        key = self.key(table, new)
        old = _old(row)
        before: list[Row] = []
        if not table.keys:
            before += self.without(row, found, new if op == _DELETE else old)
        else:
            _agree(written, (*where, key), row, new if op == _PUT else op)
            gone = key if old is None else self.key(table, old)
            if gone != key:
                _agree(written, (*where, gone), row, _DELETE)
            before += [*found.pop(gone, []), *found.pop(key, [])]
        if op == _PUT:
            found.setdefault(key, []).append(new)
            return Change(row.type, (*before, new))
        keys = {c.name.text for c in table.keys}
        return Change(row.type, (*before, {n: v for n, v in new.items() if n in keys}))

    def key(self, table: syntax.Table, row: Row) -> tuple[Any, ...]:
        return tuple(row.get(c.name.text) for c in table.keys)

    def without(self, row: Occurrence, found: dict[tuple[Any, ...], list[Row]], gone: Row | None) -> list[Row]:
        """Takes a row out of a table without keys; what it was."""
        if gone is None:
            if row.attributes.get("op") in ("update", "u", "U"):
                raise InputProblem.of("bad-value", f"{row.type} at {row.time}: an update without keys needs `old`")
            return []
        rows = found.get((), [])
        for i, one in enumerate(rows):
            if all(one[n] == gone.get(n) for n in one):
                return [rows.pop(i)]
        return []


def _agree(
    written: dict[tuple[Any, ...], tuple[Occurrence, Any]], key: tuple[Any, ...], row: Occurrence, to: Any
) -> None:
    """Nothing else was written there at this time; InputProblem (``conflicting-values``)."""
    other, value = written.setdefault(key, (row, to))
    if value != to:
        both = f"{dict(other.attributes)} and {dict(row.attributes)}"
        raise InputProblem.of(
            "conflicting-values", f"{row.type} at {row.time}: conflicting rows without a `sequence`: {both}"
        )


def _op(row: Occurrence) -> str:
    op = row.attributes.get("op")
    if op not in _OPS:
        raise InputProblem.of("bad-value", f"{row.type} at {row.time}: {op!r} is not a valid op", value=op)
    return _OPS[op]


def _old(row: Occurrence) -> Row | None:
    old = row.attributes.get("old")
    if not isinstance(old, str):
        return old
    try:
        found = read_json(old)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputProblem.of("bad-value", f"{row.type} at {row.time}: `old` is not a JSON object", value=old)
    return found


# --- SQL on the tables of one state -----------------------------------------------------------------------------------


_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_AFFINITY = {Type.FLOAT: "real", Type.STRING: "text"}


def plain(value: Any) -> Any:
    """A value as SQLite has it: booleans are ints."""
    return int(value) if isinstance(value, int) else value


class Tables:
    """The tables of a state in a database of their own.

    ``rows``: per table its rows, values by column.  ``views``: those of the program.
    """

    def __init__(
        self,
        tables: Sequence[syntax.Table],
        rows: Mapping[str, Iterable[Mapping[str, Any]]],
        views: Iterable[syntax.View],
    ) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.views = {v.name.text: v for v in views if not v.parameters}
        for table in tables:
            columns = [(c.name.text, _AFFINITY.get(c.type, "integer")) for c in table.columns]
            self._create(table.name.text, columns, [[r.get(n) for n, _ in columns] for r in rows[table.name.text]])

    def _create(self, name: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> None:
        text = ", ".join(f"{quoted(n)} {affinity}" for n, affinity in columns)
        self.connection.execute(f"create table {quoted(name)} ({text})")
        marks = ", ".join("?" for _ in columns)
        self.connection.executemany(f"insert into {quoted(name)} values ({marks})", [[*map(plain, r)] for r in rows])

    def select(self, sql: str, values: Mapping[str, Any]) -> Relation:
        """What a SELECT gives.  ``values`` of all names that may stand behind a colon; those that are relations are
        tables.  DefinitionProblem (``bad-sql``) if SQLite rejects it."""
        relations = {n: v for n, v in values.items() if isinstance(v, Relation)}
        for name, relation in relations.items():
            self._create(name, [(c, "") for c in relation.columns], relation.rows)
        views = self._needed(sql)
        head = ", ".join(f"{quoted(n)} as ({v.sql.text}\n)" for n, v in views.items())
        text = f"select * from ({sql}\n)"
        self.connection.set_authorizer(_reading)
        try:
            cursor = self.connection.execute(f"with {head} {text}" if head else text, _bound(values))
            rows = tuple(tuple(r) for r in cursor.fetchall())
            return Relation(tuple(d[0] for d in cursor.description), rows)
        except sqlite3.Error as problem:
            raise DefinitionProblem.of("bad-sql", f"SQLite rejects `{sql.strip()}`: {problem}") from problem
        finally:
            self.connection.set_authorizer(None)
            for name in relations:
                self.connection.execute(f"drop table {quoted(name)}")

    def _needed(self, sql: str) -> dict[str, syntax.View]:
        """The views a SELECT may mean, and those that they may mean."""
        found: dict[str, syntax.View] = {}
        texts = [sql]
        while texts:
            words = {w.lower() for w in re.findall(r"\w+", texts.pop())}
            new = {n: v for n, v in self.views.items() if n.lower() in words and n not in found}
            found |= new
            texts += [v.sql.text for v in new.values()]
        return found


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: plain(v) for n, v in values.items() if not isinstance(v, Relation)}


def _reading(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
