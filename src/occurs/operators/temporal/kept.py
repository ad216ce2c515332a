"""What the general operator keeps between calls: tables, variables, instances; and which of these read what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from occurs.operators.temporal.instances import Compiled, Instance
from occurs.operators.temporal.members import Members
from occurs.operators.temporal.records import Record
from occurs.operators.temporal.saved import database, dumps, loads, table_of
from occurs.operators.temporal.tables import Change, Row, Table
from occurs.operators.temporal.trails import Trails
from occurs.operators.temporal.values import equal

#: instances whose state is saved together
PIECE = 256


class Kept:
    """``instances`` by the values of the generic variables; ``dirty``: those that have changed since they were saved;
    ``touched``: tables that have; ``asked``: has the query of `for each` been asked once?"""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.rule = compiled, compiled.rule
        sources = self.rule.sources
        self.tables = {name: Table(shape) for name, shape in sources.tables.items()}
        states = [s for name, s in sources.states.items() if name not in self.rule.split]
        self.variables: dict[str, Any] = {c: None for s in states for c in s.columns}
        self.sql = database(sources)
        self.instances: dict[tuple[Any, ...], Instance] = {}
        self.dirty: set[Instance] = set()
        self.touched: set[str] = set()
        self.asked = False
        self.counts: Counter[str] = Counter()
        self.nulls = 0
        query = self.rule.query
        self.members = None if query is None or query.plain is None else Members(query, query.plain, self.sql)
        self._readers = Readers(compiled)
        self._saved: dict[str, pa.Table] = {}
        if not self.rule.generics:
            self.enter(())

    # --- instances ----------------------------------------------------------------------------------------------------

    def enter(self, key: tuple[Any, ...]) -> Instance:
        """A new instance."""
        instance = self._made(key)
        self.compiled.activate(instance)
        self.dirty.add(instance)
        return instance

    def _made(self, key: tuple[Any, ...]) -> Instance:
        rule = self.rule
        values = dict(zip((n for n, _ in rule.generics), key, strict=True))
        own = {c: None for name in rule.split for c in rule.sources.states[name].columns}
        instance = self.instances[key] = Instance(key, values, own)
        self._readers.enter(instance)
        return instance

    def leave(self, key: tuple[Any, ...]) -> None:
        """An instance is dropped."""
        instance = self.instances.pop(key)
        self._readers.leave(instance)
        self.dirty.discard(instance)
        self._saved.pop("instances", None)

    def touched_by(self, changes: Iterable[Change]) -> Iterator[Instance]:
        """The instances that read one of the rows that were written."""
        return self._readers.of(changes)

    # --- values -------------------------------------------------------------------------------------------------------

    def write(self, name: str, row: Row) -> None:
        """The variables of a state type."""
        self.variables.update(zip(self.rule.sources.states[name].columns, row))

    def count(self, what: str, n: int) -> None:
        """Something to be reported."""
        if n:
            self.counts[what] += n

    def without_key(self, n: int) -> None:
        """Rows of the query without a key, at this state."""
        self.count("rows without a key", max(0, n - self.nulls))
        self.nulls = n

    def counted(self) -> Mapping[str, int]:
        """What was counted since the last time."""
        found, self.counts = self.counts, Counter()
        for table in self.tables.values():
            found.update({what: n for what, n in table.counted() if n})
        return dict(found)

    # --- saving -------------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Rows, obligations and records."""
        return sum(len(t.rows) for t in self.tables.values()) + sum(i.size for i in self.instances.values())

    def copy(self) -> Kept:
        """The same."""
        return Kept.restored(self.compiled, self.saved())

    def saved(self) -> dict[str, pa.Table]:
        """As tables of Arrow; instances in pieces, of which those are made anew that have changed."""
        out = {"variables": self._text([dumps((self.asked, self.nulls, tuple(self.variables.values())))])}
        for name, table in self.tables.items():
            piece = f"table {name}"
            if piece not in self._saved or name in self.touched:
                out[piece] = self._text([dumps((n, row)) for n, row in table.entries()])
            else:
                out[piece] = self._saved[piece]
        everyone = list(self.instances.values())
        for number in range(0, len(everyone), PIECE):
            piece, part = f"instances {number // PIECE}", everyone[number : number + PIECE]
            if piece in self._saved and "instances" in self._saved and self.dirty.isdisjoint(part):
                out[piece] = self._saved[piece]
            else:
                out[piece] = self._text([self._of_instance(i) for i in part])
        # a mark that no instance has gone since
        out["instances"] = self._saved.get("instances") or self._text([])
        self.dirty.clear()
        self.touched.clear()
        before = self._saved.get("variables")
        if before is not None and before.equals(out["variables"]):
            out["variables"] = before
        self._saved = out
        return dict(out)

    @staticmethod
    def _text(lines: Sequence[str]) -> pa.Table:
        return pa.table({"kept": pa.array(lines, pa.string())})

    def _of_instance(self, i: Instance) -> str:
        records = tuple((rec.time, tuple(rec.values)) for rec in i.records)
        variables = tuple(i.variables.values())
        trails = None if i.trails is None else tuple(i.trails.of.items())
        own = (i.generics, variables, tuple(i.past), records, i.residual, i.since, i.last, i.over, i.next_tick, trails)
        return dumps(own)

    @classmethod
    def restored(cls, compiled: Compiled, tables: Mapping[str, pa.Table]) -> Kept:
        """From what :meth:`saved` gave."""
        kept, sources = cls(compiled), compiled.rule.sources

        def lines(name: str) -> list[Any]:
            return [loads(text, sources) for text in tables[name].column("kept").to_pylist()]

        ((kept.asked, kept.nulls, variables),) = lines("variables")
        kept.variables = dict(zip(kept.variables, variables, strict=True))
        for name in kept.tables:
            kept.tables[name] = table_of(sources, name, lines(f"table {name}"))
        if kept.members is not None:
            kept.members.know(kept.tables[kept.members.plain.table])
            kept.members.without = 0
        kept.instances.clear()
        kept._readers = Readers(compiled)
        number = 0
        while f"instances {number}" in tables:
            for one in lines(f"instances {number}"):
                kept._restore(*one)
            number += 1
        kept.dirty.clear()
        kept._saved = dict(tables)
        return kept

    def _restore(
        self, generics: Any, variables: Any, past: Any, records: Any, residual: Any, since: Any, last: Any, over: Any,
        next_tick: Any, trails: Any,
    ) -> None:  # fmt: skip
        i = self._made(generics)
        i.variables = dict(zip(i.variables, variables, strict=True))
        i.past, i.residual, i.since, i.last, i.over, i.next_tick = list(past), residual, since, last, over, next_tick
        i.trails = None if trails is None else Trails(dict(trails))
        for time, values in records:
            i.records.append(Record(time, list(values), i.records[-1] if i.records else None))


class Readers:
    """Which instances read a row: per type, and per reading of it, by the values of generic variables in the row."""

    def __init__(self, compiled: Compiled) -> None:
        rule = compiled.rule
        names = [n for n, _ in rule.generics]
        self.readings: dict[str, list[_Index]] = {}
        for reading in rule.readings:
            if reading.type in rule.split:
                continue
            columns = rule.sources.shape(reading.type).columns
            fixed = tuple((columns.index(c), v) for c, v in reading.fixed)
            keyed = tuple((columns.index(c), names.index(n)) for c, n in reading.keyed)
            self.readings.setdefault(reading.type, []).append(_Index(fixed, keyed))

    def enter(self, instance: Instance) -> None:
        for indexes in self.readings.values():
            for index in indexes:
                index.instances.setdefault(index.key(instance), {})[instance] = None

    def leave(self, instance: Instance) -> None:
        for indexes in self.readings.values():
            for index in indexes:
                key = index.key(instance)
                index.instances[key].pop(instance)
                if not index.instances[key]:
                    del index.instances[key]

    def of(self, changes: Iterable[Change]) -> Iterator[Instance]:
        """The instances that read one of the rows that were written."""
        for type_, rows in changes:
            for index in self.readings.get(type_, ()):
                if index.all:
                    yield from index.instances.get((), ())
                    continue
                if rows is None:
                    for found in index.instances.values():
                        yield from found
                    continue
                for row in rows:
                    yield from index.of(row)


class _Index:
    """``fixed``: (column, value) that rows must have; ``keyed``: (column, generic variable) that must be equal."""

    def __init__(self, fixed: tuple[tuple[int, Any], ...], keyed: tuple[tuple[int, int], ...]) -> None:
        self.fixed, self.keyed = fixed, keyed
        self.all = not fixed and not keyed
        self.instances: dict[tuple[Any, ...], dict[Instance, None]] = {}

    def key(self, instance: Instance) -> tuple[Any, ...]:
        return tuple(instance.generics[i] for _, i in self.keyed)

    def of(self, row: Row) -> Iterable[Instance]:
        for i, value in self.fixed:
            if equal(row[i], value) is not True:
                return ()
        return self.instances.get(tuple(row[i] for i, _ in self.keyed), ())
