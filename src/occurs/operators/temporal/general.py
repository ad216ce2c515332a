"""The general operator of temporal triggers: state by state, one monitor per instance (temporal-logic.md 4, 5.1).

Takes every trigger.  A state is made of the rows of one time; the instances that read one of them are evaluated.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import Problem
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.temporal.future import FALSE, MARKS, Ahead, Mark, Residual, Several, Unknown, leaves
from occurs.operators.temporal.past import OfPresent, Record, Term, Test
from occurs.operators.temporal.reasons import STATES, Trail, Trails, Witness
from occurs.operators.temporal.sql import Database
from occurs.operators.temporal.tables import (
    TRUNCATE,
    Change,
    Read,
    Row,
    State,
    Table,
    Written,
    changed,
    last_of,
    old_row,
    written,
)
from occurs.operators.temporal.tree import lowered
from occurs.operators.temporal.trigger import Firings, Plain, Query, Reason, Rule, Sources
from occurs.operators.temporal.values import Lost, Relation, equal, told

#: the rows of one time by type
Group = dict[str, list[Written]]


@dataclass(frozen=True)
class General:
    """An evaluator (:class:`.trigger.Evaluator`) for any trigger.  ``reasons``: it tells why."""

    rule: Rule
    reasons: bool = False

    @property
    def words(self) -> str:
        """For ``explain``."""
        return "state by state"

    @property
    def tells(self) -> bool:
        """Does it find instances that can fire no more?"""
        return not self.rule.past

    @cached_property
    def compiled(self) -> Compiled:
        """The closures; made where they are needed."""
        return Compiled.of(self.rule, self.reasons)

    def __getstate__(self) -> dict[str, Any]:
        return {"rule": self.rule, "reasons": self.reasons}

    def fresh(self) -> Kept:
        """Nothing has happened."""
        return Kept(self.compiled)

    def restored(self, tables: Mapping[str, pa.Table]) -> Kept:
        """From what :meth:`Kept.saved` gave."""
        return Kept.restored(self.compiled, tables)

    def advance(self, kept: Kept, call: Call) -> Firings:
        """The rows of a call, time by time."""
        run = _Run(self.compiled, kept, call, self.reasons)
        plain = self.rule.plain
        for time, group in _by_time(self.rule, call):
            if plain:
                run.plain(time, group)
            else:
                run.tick(time - 1)
                run.state(time, group)
        run.tick(call.frontier)
        return run.firings()


def _by_time(rule: Rule, call: Call) -> Iterator[tuple[int, Group]]:
    """(time, the rows of it by type), in order."""
    some = [(name, rows) for name, rows in call.rows.items() if len(rows)]
    if len(some) == 1:
        ((name, rows),) = some
        own, times = written(rows, rule.sources.shape(name)), rows.time
        # most states are one row
        begin = np.flatnonzero(np.concatenate(([True], times[1:] != times[:-1]))).tolist()
        if len(begin) == len(own):
            for time, one in zip(times.tolist(), own, strict=True):
                yield time, {name: [one]}
        else:
            for start, stop in pairwise([*begin, len(own)]):
                yield int(times[start]), {name: own[start:stop]}
        return
    found: dict[int, Group] = {}
    for name, rows in some:
        own = written(rows, rule.sources.shape(name))
        for time, one in zip(rows.time.tolist(), own, strict=True):
            group = found.setdefault(time, {})
            if name in group:
                group[name].append(one)
            else:
                group[name] = [one]
    for time in sorted(found):
        yield time, found[time]


class _Run:
    """One call."""

    def __init__(self, compiled: Compiled, kept: Kept, call: Call, reasons: bool) -> None:
        self.compiled, self.rule, self.kept, self.call = compiled, compiled.rule, kept, call
        self.reasons = reasons
        self.found: list[tuple[int, Instance, tuple[Any, ...], int, Sequence[Reason]]] = []
        self.over: list[tuple[int, tuple[Any, ...]]] = []
        #: rows of tables that are written at the time at hand, if reasons are asked for
        self.wrote: dict[str, list[Any]] = {}
        #: one for all, one after the other
        self.s = State(0, kept.variables, kept.tables, {}, kept.sql, compiled.reads)

    # --- a state ------------------------------------------------------------------------------------------------------

    def plain(self, time: int, group: Group) -> None:
        """The rows of one time, where there is one instance, which any row wakes."""
        kept, sources = self.kept, self.rule.sources
        events: dict[str, Sequence[Any]] = {}
        for name, rows in group.items():
            if name in sources.states:
                kept.write(name, rows[0].row if len(rows) == 1 else last_of(sources.states[name], rows, time))
            else:
                events[name] = [w.row for w in rows]
        for instance in kept.instances.values():
            if not instance.over:
                self.evaluate(instance, time, events)

    def state(self, time: int, group: Group) -> None:
        """The rows of one time."""
        kept, rule = self.kept, self.rule
        changes: list[Change] = []
        touched: dict[Instance, None] = {}
        events: dict[str, Sequence[Any]] = {}
        if self.reasons:
            self.wrote = {t: [w.row for w in rows] for t, rows in group.items() if t in kept.tables}
        of_input = not rule.asks_who or any(not w.derived for rows in group.values() for w in rows)
        for name, rows in group.items():
            if name in kept.tables:
                changes += changed(kept.tables[name], rows, time)
                kept.touched.add(name)
            elif name in rule.split:
                self.split(name, rows, time, touched)
            elif name in rule.sources.states:
                kept.write(name, last_of(rule.sources.states[name], rows, time))
                changes.append((name, [w.row for w in rows]))
            else:
                events[name] = [w.row for w in rows]
                changes.append((name, events[name]))
        entered: list[Instance] = []
        if rule.query is not None and of_input:
            entered = self.choose(time, group)
        for instance in kept.touched_by(changes):
            touched[instance] = None
        if rule.observes_all and of_input:
            touched |= dict.fromkeys(kept.instances.values())
        touched |= dict.fromkeys(entered)
        for instance in touched:
            if not instance.over:
                self.evaluate(instance, time, events)
        if rule.every is not None:
            self.tick(time)

    def split(self, name: str, rows: Sequence[Written], time: int, touched: dict[Instance, None]) -> None:
        """Rows of a state type, of which every instance has its own."""
        shape, places = self.rule.sources.states[name], self.rule.split[name]
        by_key: dict[tuple[Any, ...], list[Written]] = {}
        for w in rows:
            by_key.setdefault(tuple(w.row[i] for i in places), []).append(w)
        for key, own in by_key.items():
            if None in key:
                self.kept.count("rows without a key", len(own))
                continue
            instance = self.kept.instances.get(key) or self.kept.enter(key)
            if instance.over:
                continue
            instance.variables.update(zip(shape.columns, last_of(shape, own, time), strict=True))
            if name in self.rule.waking:
                touched[instance] = None

    def choose(self, time: int, group: Group) -> list[Instance]:
        """The instances that the query asks for now; returns those that enter."""
        kept, query = self.kept, self.rule.query
        assert query is not None
        if kept.members is not None:
            table = kept.members.plain.table
            if table not in group:
                return []
            come, go = kept.members.change(kept.tables[table], group[table], time)
            kept.count("rows without a key", kept.members.without)
            kept.members.without = 0
            for key in go:
                kept.leave(key)
            return [kept.enter(key) for key in come]
        if kept.asked and not query.clocked and not any(name in group for name in query.tables):
            return []
        kept.asked = True
        found = kept.sql.select(query.sql, {**query.constants, "time": time}, kept.tables)
        keys = dict.fromkeys(k for k in found.rows if None not in k)
        kept.without_key(len(set(found.rows)) - len(keys))
        for key in [k for k in kept.instances if k not in keys]:
            kept.leave(key)
        return [kept.enter(key) for key in keys if key not in kept.instances]

    def evaluate(self, instance: Instance, time: int, events: Mapping[str, Sequence[Any]]) -> None:
        """An instance at a state of its history."""
        kept, every = self.kept, self.rule.every
        kept.dirty.add(instance)
        s = self.s
        s.time, s.events, s.past, s.record = time, events, (), None
        s.wrote, s.generics = self.wrote, instance.values
        if self.rule.split:
            s.variables = {**kept.variables, **instance.variables}
        if every is not None:
            if instance.next_tick is None:
                instance.next_tick = (time // every + 1) * every
            if instance.next_tick == time:
                instance.next_tick += every
        since = time if instance.since is None else instance.since
        fired = self.compiled.advance(instance, s, self.reasons)
        if fired:
            reasons = self.compiled.reasons(instance, s) if self.reasons else ()
            self.found.append((time, instance, self.compiled.given(instance, s), since, reasons))
        if instance.over:
            self.over.append((time, instance.generics))

    def tick(self, until: int) -> None:
        """The states of `observing every` up to a time, of all instances."""
        if self.rule.every is None:
            return
        waiting = [(i.next_tick, n, i) for n, i in enumerate(self.kept.instances.values())
                   if i.next_tick is not None and i.next_tick <= until and not i.over]  # fmt: skip
        while waiting:
            for time, _, instance in sorted(waiting, key=lambda w: w[:2]):
                assert time is not None
                self.wrote = {}
                self.evaluate(instance, time, {})
            waiting = [(i.next_tick, n, i) for _, n, i in waiting
                       if i.next_tick is not None and i.next_tick <= until and not i.over]  # fmt: skip

    # --- what was found -----------------------------------------------------------------------------------------------

    def firings(self) -> Firings:
        """In the order of time and values."""
        rule = self.rule
        names = [n for n, _ in rule.outputs]
        order = [names.index(n) for n in sorted(names)]
        found = sorted(self.found, key=lambda f: (f[0], [_ascending(f[2][i]) for i in order]))
        over = sorted(self.over, key=lambda o: (o[0], [_ascending(v) for v in o[1]]))
        generics = [f[1].generics for f in found]
        return Firings(
            np.array([f[0] for f in found], np.int64),
            columns_of(rule.outputs, [f[2] for f in found]),
            columns_of(rule.generics, generics),
            np.array([f[3] for f in found], np.int64),
            np.array([t for t, _ in over], np.int64),
            columns_of(rule.generics, [g for _, g in over]),
            [f[4] for f in found] if self.reasons else None,
            self.kept.counted(),
        )


def _ascending(value: Any) -> tuple[Any, ...]:
    """Null least, booleans before numbers, numbers by value, text by code point."""
    if value is None:
        return ()
    return (0 if isinstance(value, bool) else 1 if isinstance(value, int | float) else 2, value)


def columns_of(types: Sequence[tuple[str, Type]], rows: Sequence[tuple[Any, ...]]) -> dict[str, Column]:
    """Values as columns of these types."""
    return {name: column_of(kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(types)}


def column_of(kind: Type, values: list[Any]) -> Column:
    """Values as a column."""
    if kind is Type.NULL:
        return Column.nulls(kind, len(values))
    if kind is Type.STRING:
        return Column(kind, None, None, pa.array([None if v is None else str(v) for v in values], pa.string()))
    empty = Column.nulls(kind, len(values))
    valid = np.array([v is not None for v in values], np.bool_)
    for i in np.flatnonzero(valid).tolist():
        empty.values[i] = values[i]
    return Column(kind, empty.values, None if valid.all() else valid)


# --- one instance -----------------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Instance:
    """``generics``: the values of the generic variables, ``values`` the same by name.  ``variables``: those of the
    states that it has for its own.  ``past``: what operators that look back keep.  ``records``: of states, the oldest
    first.  ``since``: the time at which the activation began (None: it has not yet), ``last``: of the last firing.
    ``over``: it can fire no more.  ``next_tick``: the next state of `observing every`."""

    generics: tuple[Any, ...]
    values: dict[str, Any]
    variables: dict[str, Any]
    past: list[Any] = field(default_factory=list)
    records: deque[Record] = field(default_factory=deque)
    residual: Residual = FALSE
    since: int | None = None
    last: int | None = None
    over: bool = False
    next_tick: int | None = None
    #: how its obligations have come about, if that is asked for
    trails: Trails | None = None

    @property
    def size(self) -> int:
        """How many obligations, records and values are kept."""
        kept = sum(len(k) if isinstance(k, tuple) else 1 for k in self.past)
        return 1 + kept + len(self.records) + sum(isinstance(leaf, tuple) for leaf in leaves(self.residual))


@dataclass(frozen=True)
class Compiled:
    """The closures of a trigger: ``test`` of a past one, ``ahead`` of a future one; ``terms`` of its events;
    ``witness``: why a past one fires, if that is asked for."""

    rule: Rule
    present: OfPresent
    test: Test | None
    ahead: Ahead | None
    terms: tuple[Term, ...] | None
    witness: Witness | None = None

    @classmethod
    def of(cls, rule: Rule, reasons: bool = False) -> Compiled:
        """Of a trigger; ``reasons``: it can be asked why it fires."""
        present = OfPresent(rule.sources, rule.kind)
        formula = lowered(rule.formula)
        test = present.test(formula) if rule.past else None
        first = not rule.continues and rule.gap is None
        ahead = None if rule.past else Ahead(formula, present, first)
        emit = rule.emit
        terms = None if emit is None else tuple(present.term(e) for _, e in emit)
        witness = Witness(present, formula) if reasons and rule.past else None
        return cls(rule, present, test, ahead, terms, witness)

    @cached_property
    def reads(self) -> dict[str, list[Read]]:
        """The rows that the formula reads, by their type."""
        found: dict[str, list[Read]] = {}
        for one in self.rule.readings:
            columns = self.rule.sources.shape(one.type).columns
            fixed = tuple((columns.index(c), v) for c, v in one.fixed)
            keyed = tuple((columns.index(c), n) for c, n in one.keyed)
            found.setdefault(one.type, []).append(Read(columns, fixed, keyed))
        return found

    def activate(self, instance: Instance) -> None:
        """Afresh: nothing before is seen again."""
        instance.past = [o.fresh() for o in self.present.operators]
        instance.records = deque()
        instance.since = None
        if self.ahead is not None:
            instance.residual = self.ahead.root.pending(True, instance.values)

    def advance(self, instance: Instance, s: State, reasons: bool = False) -> bool:
        """A new state: does the instance fire?  InputProblem if something that is not known decides.

        ``reasons``: keep how that has come about; then that of a firing is in ``instance.trails.hit``.
        """
        rule, r, present = self.rule, instance.values, self.present
        if instance.since is None:
            instance.since = s.time
        if present.steps or present.recording:
            self._look_back(instance, s)
        free = rule.gap is None or instance.last is None or s.time - instance.last >= rule.gap
        if self.ahead is None:
            assert self.test is not None
            hit = self.test(s, r)
        else:
            if reasons:
                instance.trails = Trails() if instance.trails is None else instance.trails
                instance.trails.hit = ()
            hit, instance.residual = self.ahead.step(instance.residual, r, s, instance.trails)
        if free and type(hit) is Lost:
            raise told(hit, rule.name, s.time)
        fired = free and hit is True
        if fired:
            instance.last = s.time
            if not rule.continues:
                hits = () if instance.trails is None else instance.trails.hit
                self.activate(instance)
                if instance.trails is not None:
                    instance.trails = Trails()
                    instance.trails.hit = hits
                return True
        if self.ahead is not None:
            residual = instance.residual
            if residual is FALSE:
                instance.over = True
            elif type(residual) is not tuple and (rule.continues or rule.gap is not None):
                instance.over = type(residual) is not Several or not residual.waits
            if instance.over:
                instance.past, instance.records = [], deque()
        return fired

    def _look_back(self, instance: Instance, s: State) -> None:
        """What goes on from state to state."""
        present = self.present
        s.past = [None] * len(present.operators)
        if present.recording:
            self._forget(instance, s.time)
            s.record = Record(s.time, [None] * present.slots, instance.records[-1] if instance.records else None)
        r = instance.values
        for goes_on, at, step in present.steps:
            if goes_on:
                instance.past[at], s.past[at] = step.advance(instance.past[at], s, r)
            else:
                s.record.values[at] = step(s, r)
        if present.recording:
            instance.records.append(s.record)

    def _forget(self, instance: Instance, time: int) -> None:
        """Records that nobody looks at any more."""
        far, records = self.present.reach, instance.records
        least, cut = 0 if self.witness is None else STATES, False
        least = max(least, far.states, far.on_ways(records, time) if far.ways else 0)
        while len(records) > least and time - records[far.states].time > far.ticks:
            records.popleft()
            cut = True
        if cut and records:
            records[0].before = None

    def reasons(self, instance: Instance, s: State) -> Trail:
        """The states and remembered values of one way in which a firing has come about."""
        if instance.trails is not None:
            return instance.trails.hit
        assert self.witness is not None
        return self.witness.of(s.record, instance.values)

    def given(self, instance: Instance, s: State) -> tuple[Any, ...]:
        """The attributes of the event of a firing.  InputProblem for what is not known."""
        if self.terms is None:
            found = instance.generics
        else:
            found = tuple(t(s, instance.values) for t in self.terms)
        return tuple(self._fit(v, kind, s.time) for v, (_, kind) in zip(found, self.rule.outputs, strict=True))

    def _fit(self, value: Any, kind: Type, time: int) -> Any:
        """A value as its column has it: an int where there are floats is a float, a duration is whole ticks."""
        if type(value) is Lost:
            raise told(value, self.rule.name, time)
        if type(value) is Fraction:
            value = round(value)
        if type(value) is int:
            return float(value) if kind is Type.FLOAT else bool(value) if kind is Type.BOOL else value
        return value


# --- what is kept between calls ---------------------------------------------------------------------------------------

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
                kept._restore(one)
            number += 1
        kept.dirty.clear()
        kept._saved = dict(tables)
        return kept

    def _restore(self, saved: tuple[Any, ...]) -> None:
        generics, variables, past, records, *others, trails = saved
        i = self._made(generics)
        i.variables, i.past = dict(zip(i.variables, variables, strict=True)), list(past)
        i.residual, i.since, i.last, i.over, i.next_tick = others
        i.trails = None if trails is None else Trails(dict(trails))
        for time, values in records:
            i.records.append(Record(time, list(values), i.records[-1] if i.records else None))


class Readers:
    """Which instances read a row: per type, and per reading of it, by the values of generic variables in the row."""

    def __init__(self, compiled: Compiled) -> None:
        split = compiled.rule.split
        self.readings = {t: [_Index(read) for read in reads] for t, reads in compiled.reads.items() if t not in split}

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
    """The instances that read rows of one kind, by the values of generic variables in such rows."""

    def __init__(self, read: Read) -> None:
        self.fixed, self.keyed = read.fixed, read.keyed
        self.all = not self.fixed and not self.keyed
        self.instances: dict[tuple[Any, ...], dict[Instance, None]] = {}

    def key(self, instance: Instance) -> tuple[Any, ...]:
        return tuple(instance.values[n] for _, n in self.keyed)

    def of(self, row: Row) -> Iterable[Instance]:
        for i, value in self.fixed:
            if equal(row[i], value) is not True:
                return ()
        return self.instances.get(tuple(row[i] for i, _ in self.keyed), ())


# --- the instances that a query asks for ------------------------------------------------------------------------------

#: the values of the generic variables
Key = tuple[Any, ...]


class Members:
    """Which values the rows of the table give: ``of`` by the key of the row, ``count`` how many rows give them."""

    def __init__(self, query: Query, plain: Plain, sql: Database) -> None:
        self.query, self.plain = query, plain
        self.of: dict[Any, Key] = {}
        self.count: Counter[Key] = Counter()
        self.without = 0
        #: the same table with one row
        self._one = Database({plain.table: sql.types[plain.table]}, {}) if plain.filtered else None
        self._single: Table | None = None
        self._known = False

    def change(self, table: Table, rows: Sequence[Written], time: int) -> tuple[list[Key], list[Key]]:
        """What comes in and what goes with the rows of one time, after these were written; all at the first time."""
        if not self._known or any(w.op == TRUNCATE for w in rows):
            self._known = True
            keys = {**dict.fromkeys(self.of), **dict.fromkeys(table.rows)}
        else:
            keys = dict.fromkeys(table.key(w.row) for w in rows)
            keys |= {table.key(old_row(table.shape, w.old, time)): None for w in rows if w.old is not None}
        touched: dict[Key, bool] = {}
        for key in keys:
            found = table.rows.get(key)
            now = None if found is None else self._given(table, found[1])
            was = self.of.get(key)
            if now == was:
                continue
            for one, by in ((was, -1), (now, 1)):
                if one is not None:
                    touched.setdefault(one, self.count[one] > 0)
                    self.count[one] += by
            if now is None:
                self.of.pop(key, None)
            else:
                self.of[key] = now
        for one in touched:
            if not self.count[one]:
                del self.count[one]
        come = [one for one, there in touched.items() if not there and one in self.count]
        go = [one for one, there in touched.items() if there and one not in self.count]
        return come, go

    def know(self, table: Table) -> None:
        """The table as it is, after it was read from saved state."""
        self.change(table, (), 0)

    def _given(self, table: Table, row: Row) -> Key | None:
        """The values that a row gives, None if it gives none."""
        if self._one is not None and not self._passes(table, row):
            return None
        key = tuple(row[i] for i in self.plain.columns)
        if None in key:
            self.without += 1
            return None
        return tuple(int(v) if type(v) is bool else v for v in key)

    def _passes(self, table: Table, row: Row) -> bool:
        assert self._one is not None
        if self._single is None:
            self._single = Table(table.shape)
        self._single.clear()
        self._single.put(table.key(row), row)
        return bool(self._one.select(self.query.sql, self.query.constants, {self.plain.table: self._single}).rows)


# --- saved state, as JSON ---------------------------------------------------------------------------------------------


def dumps(value: Any) -> str:
    """As text."""
    return json.dumps(_plain(value), separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Tuples are lists; what JSON does not have is an object with one key."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case (dict() as tables, Database()):
            return {"tables": {n: [[k, list(map(_plain, row))] for k, row in t.entries()] for n, t in tables.items()}}
        case tuple():
            return [_plain(v) for v in value]
        case dict():
            # the rows of one table by key
            return {"rows": [[k, list(map(_plain, row))] for k, row in value.values()], "keys": [
                _plain(key) for key in value]}  # fmt: skip
        case Fraction():
            return {"fraction": [value.numerator, value.denominator]}
        case Relation():
            return {"relation": [list(value.columns), _plain(value.rows)]}
        case Lost():
            return {"lost": [value.problem.kind, value.problem.message]}
        case Mark():
            return {"mark": value.name}
        case Unknown():
            return {"unknown": [_plain(value.lost), value.new]}
        case Several():
            return {"and" if value.conjunction else "or": [_plain(p) for p in value.parts]}
    raise TypeError(f"this value cannot be saved: {type(value).__name__}")


def loads(text: str, sources: Sources) -> Any:
    """What :func:`dumps` has made a text."""
    return _value(json.loads(text), sources)


def _value(value: Any, sources: Sources) -> Any:
    if isinstance(value, list):
        return tuple(_value(v, sources) for v in value)
    if not isinstance(value, dict):
        return value
    tag, inner = next(iter(value.items())) if len(value) == 1 else ("rows", value)
    match tag:
        case "tables":
            tables = {n: table_of(sources, n, rows) for n, rows in inner.items()}
            return tables, database(sources)
        case "rows":
            keys = [_value(k, sources) for k in inner["keys"]]
            return {k: (n, tuple(row)) for k, (n, row) in zip(keys, inner["rows"], strict=True)}
        case "fraction":
            return Fraction(*inner)
        case "relation":
            return Relation(tuple(inner[0]), _value(inner[1], sources))
        case "lost":
            return Lost(Problem(inner[0], inner[1]))
        case "mark":
            return MARKS[str(inner)]
        case "unknown":
            return Unknown(_value(inner[0], sources), inner[1])
    return Several(tag == "and", tuple(_value(v, sources) for v in inner))


def table_of(sources: Sources, name: str, rows: list[Any]) -> Table:
    """A table with rows: (number, row) each."""
    table = Table(sources.tables[name])
    for number, row in rows:
        row = tuple(row)
        key = table.key(row) if table.shape.keys else number
        table.rows[key] = (number, row)
        table.next = max(table.next, number + 1)
    return table


def database(sources: Sources) -> Database:
    """SQL over the tables of a program."""
    return Database(sources.types, {n: v.sql for n, v in sources.views.items() if not v.parameters})
